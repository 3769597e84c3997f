//! SpiceDB in memory, through its HTTP gateway, with its caches, and with answers that are at least as fresh as the facts: by
//! default they may be older. Policies are caveats; the roles of each question are those of a person of its own.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use crate::facts::{Facts, Tuple, VERBS};
use crate::server::{Answer, Questions, Server, free_port, program};

/// Relationships of a write, the most that it takes.
const WRITE: usize = 1_000;

const ATTRIBUTES: &str = "caveat matches(department string, clearance int, region string, tags list<string>, d string, c int, rs list<string>, t string) {
  department == d && clearance >= c && region in rs && t in tags
}
definition user {}
definition policy {
  relation applies: user:* with matches
}
definition res {
  relation policy: policy
  permission read = policy->applies
}";
const RELATIONS: &str = "definition user {}
definition group {
  relation member: user | group#member
}
definition folder {
  relation parent: folder
  relation viewer: user | group#member
  permission view = viewer + parent->view
}
definition document {
  relation parent: folder
  relation viewer: user | group#member
  permission view = viewer + parent->view
}";

pub fn start(folder: &Path, facts: &Facts) -> Result<Option<(Server, Questions)>> {
    let Some(binary) = program("spicedb") else { return Ok(None) };
    let (port, grpc) = (free_port()?, free_port()?);
    let mut command = Command::new(binary);
    command.args(["serve", "--datastore-engine", "memory", "--grpc-preshared-key", "peers"]);
    command.args(["--grpc-addr", &format!("127.0.0.1:{grpc}"), "--http-enabled"]);
    command.args(["--http-addr", &format!("127.0.0.1:{port}"), "--metrics-enabled=false"]);
    command.args(["--telemetry-endpoint", "", "--log-level", "error", "--skip-release-check"]);
    let mut server = Server::start(&mut command, folder, port, "/healthz")?;
    server.headers.push(("Authorization".to_owned(), "Bearer peers".to_owned()));
    server.post("/v1/schema/write", &json!({"schema": schema(facts)}))?;
    let mut written = json!({});
    for relationships in relationships(facts).chunks(WRITE) {
        let update = |it| json!({"operation": "OPERATION_CREATE", "relationship": it});
        let updates: Vec<Value> = relationships.iter().map(update).collect();
        written = server.post("/v1/relationships/write", &json!({"updates": updates}))?;
    }
    let questions = questions(facts, &json!({"atLeastAsFresh": written["writtenAt"]}));
    Ok(Some((server, questions)))
}

fn schema(facts: &Facts) -> String {
    match facts {
        Facts::Roles(_) => {
            // A relation and a permission have names of their own.
            let verb = |verb| {
                format!("  relation {verb}er: role#member\n  permission {verb} = {verb}er\n")
            };
            let verbs: String = VERBS.into_iter().map(verb).collect();
            format!(
                "definition user {{}}\ndefinition role {{\n  relation member: user\n}}\ndefinition res {{\n{verbs}}}"
            )
        }
        Facts::Attributes(_) => ATTRIBUTES.to_owned(),
        Facts::Relations(_) | Facts::Lists(_) => RELATIONS.to_owned(),
    }
}

/// Returns a reference to an object, sent as `group:a`.
fn object(name: &str) -> Value {
    let (kind, id) = name.split_once(':').unwrap_or((name, ""));
    json!({"objectType": kind, "objectId": id})
}

fn relationship(resource: &str, relation: &str, subject: &str) -> Value {
    let (subject, of) = subject.split_once('#').unwrap_or((subject, ""));
    let subject = json!({"object": object(subject), "optionalRelation": of});
    json!({"resource": object(resource), "relation": relation, "subject": subject})
}

fn relationships(facts: &Facts) -> Vec<Value> {
    match facts {
        Facts::Roles(roles) => {
            let grants = roles.grants.iter().map(|(role, name, verb)| {
                relationship(
                    &format!("res:{name}"),
                    &format!("{verb}er"),
                    &format!("role:{role}#member"),
                )
            });
            let members = roles.memberships().map(|(role, person)| {
                relationship(&format!("role:{role}"), "member", &format!("user:{person}"))
            });
            grants.chain(members).collect()
        }
        Facts::Attributes(attributes) => {
            let policies = attributes.policies.iter().enumerate().flat_map(|(number, it)| {
                let policy = format!("policy:p{number}");
                let mut applies = relationship(&policy, "applies", "user:*");
                applies["optionalCaveat"] =
                    json!({"caveatName": "matches", "context": it.context()});
                [relationship("res:r", "policy", &policy), applies]
            });
            policies.collect()
        }
        Facts::Relations(_) | Facts::Lists(_) => {
            let of =
                |it: &Tuple| relationship(&it.object, it.relation, &it.subject_with_relation());
            facts.tuples().iter().map(of).collect()
        }
    }
}

fn questions(facts: &Facts, consistency: &Value) -> Questions {
    let check = |user: &str, permission: &str, resource: &str| json!({"resource": object(resource), "permission": permission, "subject": {"object": object(user)}});
    let mut bodies: Vec<Value> = match facts {
        Facts::Roles(roles) => {
            let asked = roles.asked.iter().enumerate();
            asked
                .map(|(number, (it, _))| {
                    check(&format!("user:q{number}"), it.verb, &format!("res:{}", it.object))
                })
                .collect()
        }
        Facts::Attributes(attributes) => {
            let body = |it: &crate::facts::AttributeQuestion| {
                let mut body = check("user:u", "read", "res:r");
                body["context"] = it.context();
                body
            };
            attributes.asked.iter().map(|(it, _)| body(it)).collect()
        }
        Facts::Relations(relations) => {
            let asked = relations.asked.iter();
            asked.map(|((user, document), _)| check(user, "view", document)).collect()
        }
        Facts::Lists(lists) => {
            let body = |user: &String| json!({"resourceObjectType": "document", "permission": "view", "subject": {"object": object(user)}});
            lists.asked.iter().map(|(user, _)| body(user)).collect()
        }
    };
    bodies.iter_mut().for_each(|body| body["consistency"] = consistency.clone());
    let (route, read): (_, fn(&str) -> Option<Answer>) = match facts {
        Facts::Lists(_) => ("resources", read_list),
        _ => ("check", read_decision),
    };
    Questions {
        path: format!("/v1/permissions/{route}"),
        bodies: bodies.iter().map(Value::to_string).collect(),
        read,
    }
}

fn read_decision(text: &str) -> Option<Answer> {
    let answer: Value = serde_json::from_str(text).ok()?;
    Some(Answer::Decision(answer["permissionship"] == "PERMISSIONSHIP_HAS_PERMISSION"))
}

/// Reads a stream of lines, one for each object.
fn read_list(text: &str) -> Option<Answer> {
    let id = |line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        Some(line["result"]["resourceObjectId"].as_str()?.to_owned())
    };
    let mut ids = text.lines().map(id).collect::<Option<Vec<String>>>()?;
    ids.sort_unstable();
    Some(Answer::Ids(ids))
}
