//! Portcullis on SQLite, as it comes: a service key, and roles with the request.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use base64::Engine;
use serde_json::{Value, json};

use crate::facts::{Facts, Tuple};
use crate::server::{Answer, Questions, Server, free_port, program};

const PERMISSIONS: &str = "policies:read,policies:write,resources:read,resources:write,access:evaluate,access:search,\
    entities:write,relations:read,relations:write";

pub fn start(folder: &Path, facts: &Facts) -> Result<Option<(Server, Questions)>> {
    let Some(binary) = program("portcullis") else { return Ok(None) };
    let port = free_port()?;
    let key: [u8; 32] = std::array::from_fn(|_| fastrand::u8(..));
    let command = |arguments: &[&str]| {
        let mut command = Command::new(&binary);
        command.args(arguments).env("OIDC_ENABLED", "false").env("RUST_LOG", "warn");
        command.env("DATABASE_URL", format!("sqlite://{}", folder.join("p.db").display()));
        command.env("LISTEN_ADDR", format!("127.0.0.1:{port}"));
        command.env("ENCRYPTION_KEY", base64::prelude::BASE64_STANDARD.encode(key));
        command
    };
    let create = ["keys", "create", "--tenant", "acme", "--create-tenant", "--name", "k"];
    let made = command(&create).args(["--permissions", PERMISSIONS]).output()?;
    let words = String::from_utf8(made.stdout)?;
    let Some(service_key) = words.split_whitespace().last() else {
        anyhow::bail!("no key: {}", String::from_utf8_lossy(&made.stderr));
    };
    let mut server = Server::start(&mut command(&["serve"]), folder, port, "/healthz/ready")?;
    server.headers.push(("X-Service-Api-Key".to_owned(), service_key.to_owned()));
    write_folder(&folder.join("tenant"), facts)?;
    let url = format!("http://127.0.0.1:{port}");
    let applied = command(&["apply", "tenant", "--url", &url, "--owner", "peers"])
        .current_dir(folder)
        .env("SERVICE_API_KEY", service_key)
        .output()?;
    ensure!(applied.status.success(), "apply: {}", String::from_utf8_lossy(&applied.stderr));
    for tuples in facts.tuples().chunks(1_000) {
        let write: Vec<Value> = tuples.iter().map(tuple).collect();
        server.post("/api/v1/relations", &json!({"write": write}))?;
    }
    Ok(Some((server, questions(facts))))
}

fn tuple(tuple: &Tuple) -> Value {
    let Tuple { object, relation, subject, subject_relation } = tuple;
    match subject_relation {
        Some(of) => {
            json!({"object": object, "relation": relation, "subject": subject, "subject_relation": of})
        }
        None => json!({"object": object, "relation": relation, "subject": subject}),
    }
}

/// Writes the tenant as files.
fn write_folder(folder: &Path, facts: &Facts) -> Result<()> {
    let (mut rules, mut policies, mut types) = (Vec::new(), Vec::new(), None);
    match facts {
        Facts::Roles(roles) => {
            let rule = |(role, object, verb): &(String, String, &str)| json!({"sub": role, "dom": "*", "obj": format!("{object}:{verb}"), "act": verb, "effect": "allow"});
            rules.extend(roles.grants.iter().map(rule));
        }
        Facts::Attributes(attributes) => {
            for (number, it) in attributes.policies.iter().enumerate() {
                let when = format!(
                    "user.department == {} && user.clearance >= {} && resource.region in {} && user.tags contains {}",
                    json!(it.department),
                    it.clearance,
                    json!(it.regions),
                    json!(it.tag)
                );
                policies.push(json!({"name": format!("p{number}"), "resource": "res:read", "effect": "allow", "priority": 0, "when": when}));
            }
        }
        Facts::Relations(_) | Facts::Lists(_) => {
            let relations =
                json!({"parent": "[folder]", "viewer": "[user, group#member] || parent.viewer"});
            types = Some(json!([
                {"type": "group", "relations": {"member": "[user, group#member]"}},
                {"type": "folder", "relations": relations},
                {"type": "document", "relations": relations},
            ]));
            rules.push(json!({"sub": "viewer@resource", "dom": "*", "obj": "document:view", "act": "view", "effect": "allow"}));
        }
    }
    fs::create_dir_all(folder)?;
    let put = |name: &str, value: &Value| {
        // JSON is YAML.
        fs::write(folder.join(format!("{name}.yaml")), format!("{value:#}\n"))
    };
    put("tenant", &json!({"tenant": "acme", "users": []}))?;
    put("resources", &json!([]))?;
    put("cases", &json!([]))?;
    put("rules", &rules.into())?;
    put("policies", &policies.into())?;
    types.iter().try_for_each(|types| put("types", types))?;
    Ok(())
}

fn questions(facts: &Facts) -> Questions {
    let check = "/api/v1/check";
    let (path, bodies): (&str, Vec<Value>) = match facts {
        Facts::Roles(roles) => {
            let body = |it: &crate::facts::RoleQuestion| json!({"subject": it.user, "resource": format!("{}:{}", it.object, it.verb), "action": it.verb, "attributes": {"user": {"roles": it.roles}}});
            (check, roles.asked.iter().map(|(it, _)| body(it)).collect())
        }
        Facts::Attributes(attributes) => {
            let body = |it: &crate::facts::AttributeQuestion| json!({"subject": "u", "resource": "res:read", "action": "read", "attributes": {"user": {"department": it.department, "clearance": it.clearance, "tags": it.tags}, "resource": {"region": it.region}}});
            (check, attributes.asked.iter().map(|(it, _)| body(it)).collect())
        }
        Facts::Relations(relations) => {
            let body = |(user, document): &(String, String)| json!({"subject": user["user:".len()..], "resource": "document:view", "action": "view", "attributes": {"resource": {"id": document["document:".len()..]}}});
            (check, relations.asked.iter().map(|(it, _)| body(it)).collect())
        }
        Facts::Lists(lists) => {
            // The others answer ids alone, too.
            let body = |user: &String| json!({"subject": user["user:".len()..], "resource": "document:view", "action": "view", "fields": ["id"]});
            ("/api/v1/search/resources", lists.asked.iter().map(|(it, _)| body(it)).collect())
        }
    };
    let bodies = bodies.iter().map(Value::to_string).collect();
    Questions { path: path.to_owned(), bodies, read }
}

fn read(text: &str) -> Option<Answer> {
    let answer: Value = serde_json::from_str(text).ok()?;
    let Some(results) = answer.get("results") else {
        return Some(Answer::Decision(answer["decision"] == "allow"));
    };
    // An answer of several pages is not complete.
    let is_complete = answer["complete"] == true;
    let id = |one: &Value| one["id"].as_str().map(str::to_owned);
    let mut ids: Vec<String> = results.as_array()?.iter().filter_map(id).collect();
    ids.sort_unstable();
    is_complete.then_some(Answer::Ids(ids))
}
