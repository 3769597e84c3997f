//! Cerbos, with a policy for each resource kind on disk. It has no relations and no lists.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use crate::facts::Facts;
use crate::server::{Answer, Questions, Server, free_port, program};

pub fn start(folder: &Path, facts: &Facts) -> Result<Option<(Server, Questions)>> {
    let binary = program("cerbos").or_else(|| program("cerbos-linux-x64"));
    let (Some(binary), Some(bodies)) = (binary, bodies(facts)) else { return Ok(None) };
    let policies = folder.join("policies");
    fs::create_dir_all(&policies)?;
    for (kind, rules) in rules(facts) {
        let policy = json!({
            "apiVersion": "api.cerbos.dev/v1",
            "resourcePolicy": {"resource": kind, "version": "default", "rules": rules},
        });
        fs::write(policies.join(format!("{kind}.json")), policy.to_string())?;
    }
    let (http, grpc) = (free_port()?, free_port()?);
    let mut command = Command::new(binary);
    command.args(["server", "--log-level=error"]);
    for setting in [
        format!("server.httpListenAddr=127.0.0.1:{http}"),
        format!("server.grpcListenAddr=127.0.0.1:{grpc}"),
        "telemetry.disabled=true".to_owned(),
        "storage.driver=disk".to_owned(),
        format!("storage.disk.directory={}", policies.display()),
        "compile.cacheSize=4096".to_owned(),
    ] {
        command.arg(format!("--set={setting}"));
    }
    let server = Server::start(&mut command, folder, http, "/_cerbos/health")?;
    let path = "/api/check/resources".to_owned();
    Ok(Some((server, Questions { path, bodies, read })))
}

fn rules(facts: &Facts) -> BTreeMap<&str, Vec<Value>> {
    let mut rules: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    match facts {
        Facts::Roles(roles) => {
            for (role, object, verb) in &roles.grants {
                let rule = json!({"actions": [verb], "effect": "EFFECT_ALLOW", "roles": [role]});
                rules.entry(object).or_default().push(rule);
            }
        }
        Facts::Attributes(attributes) => {
            for it in &attributes.policies {
                let when = format!(
                    "P.attr.department == {} && P.attr.clearance >= {} && R.attr.region in {} && {} in P.attr.tags",
                    json!(it.department),
                    it.clearance,
                    json!(it.regions),
                    json!(it.tag)
                );
                rules.entry("res").or_default().push(json!({
                    "actions": ["read"], "effect": "EFFECT_ALLOW", "roles": ["user"],
                    "condition": {"match": {"expr": when}},
                }));
            }
        }
        Facts::Relations(_) | Facts::Lists(_) => {}
    }
    rules
}

/// Returns the bodies of the questions; `None` if it cannot be asked.
fn bodies(facts: &Facts) -> Option<Vec<String>> {
    let body = |principal: Value, kind: &str, attributes: Value, action: &str| {
        let resource = json!({"kind": kind, "id": "1", "attr": attributes});
        let resources = json!([{"resource": resource, "actions": [action]}]);
        json!({"principal": principal, "resources": resources}).to_string()
    };
    match facts {
        Facts::Roles(roles) => {
            let asked = roles.asked.iter().map(|(it, _)| {
                let principal = json!({"id": it.user, "roles": it.roles, "attr": {}});
                body(principal, &it.object, json!({}), it.verb)
            });
            Some(asked.collect())
        }
        Facts::Attributes(attributes) => {
            let asked = attributes.asked.iter().map(|(it, _)| {
                let own = json!({"department": it.department, "clearance": it.clearance, "tags": it.tags});
                let principal = json!({"id": "u", "roles": ["user"], "attr": own});
                body(principal, "res", json!({"region": it.region}), "read")
            });
            Some(asked.collect())
        }
        Facts::Relations(_) | Facts::Lists(_) => None,
    }
}

fn read(text: &str) -> Option<Answer> {
    let answer: Value = serde_json::from_str(text).ok()?;
    let actions = answer["results"][0]["actions"].as_object()?;
    Some(Answer::Decision(actions.values().next()? == "EFFECT_ALLOW"))
}
