//! OpenFGA on SQLite, with its defaults. Policies are conditions of tuples; the roles of each question are those of a person of
//! its own.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::facts::{Facts, Tuple, VERBS};
use crate::server::{Answer, Questions, Server, free_port, program};

/// Tuples of a write, the most that it takes.
const WRITE: usize = 100;

pub fn start(folder: &Path, facts: &Facts) -> Result<Option<(Server, Questions)>> {
    let Some(binary) = program("openfga") else { return Ok(None) };
    let (port, grpc) = (free_port()?, free_port()?);
    let command = |name: &str| {
        let mut command = Command::new(&binary);
        command.arg(name).env("OPENFGA_DATASTORE_ENGINE", "sqlite");
        command.env("OPENFGA_DATASTORE_URI", format!("file:{}", folder.join("fga.db").display()));
        command.env("OPENFGA_HTTP_ADDR", format!("127.0.0.1:{port}"));
        command.env("OPENFGA_GRPC_ADDR", format!("127.0.0.1:{grpc}"));
        command.env("OPENFGA_LOG_LEVEL", "none").env("OPENFGA_METRICS_ENABLED", "false");
        command.env("OPENFGA_PLAYGROUND_ENABLED", "false");
        command
    };
    let migrated = command("migrate").output()?;
    ensure!(migrated.status.success(), "migrate: {}", String::from_utf8_lossy(&migrated.stderr));
    let server = Server::start(&mut command("run"), folder, port, "/healthz")?;
    let created = server.post("/stores", &json!({"name": "peers"}))?;
    let store = format!("/stores/{}", created["id"].as_str().context("a store has an id")?);
    let written = server.post(&format!("{store}/authorization-models"), &model(facts))?;
    let model = written["authorization_model_id"].as_str().context("a model has an id")?;
    for tuples in tuples(facts).chunks(WRITE) {
        let write = json!({"writes": {"tuple_keys": tuples}, "authorization_model_id": model});
        server.post(&format!("{store}/write"), &write)?;
    }
    let questions = questions(facts, &store, model);
    Ok(Some((server, questions)))
}

/// Returns a type with relations to subjects of these types, each as `user` or `group#member`.
fn object_type(name: &str, relations: &[(&str, &[&str])]) -> Value {
    let (mut rewrites, mut subjects) = (json!({}), json!({}));
    for (relation, from) in relations {
        rewrites[relation] = json!({"this": {}});
        subjects[relation]["directly_related_user_types"] =
            from.iter().map(|it| subject_type(it)).collect();
    }
    json!({"type": name, "relations": rewrites, "metadata": {"relations": subjects}})
}

fn subject_type(name: &str) -> Value {
    match name.split_once('#') {
        Some((kind, relation)) => json!({"type": kind, "relation": relation}),
        None => json!({"type": name}),
    }
}

/// Returns a rewrite: what the objects of `from` have as `relation`.
fn inherited(relation: &str, from: &str) -> Value {
    json!({"tupleToUserset": {"tupleset": {"relation": from}, "computedUserset": {"relation": relation}}})
}

fn model(facts: &Facts) -> Value {
    let user = json!({"type": "user"});
    let mut conditions = json!({});
    let types = match facts {
        Facts::Roles(_) => {
            let verbs = VERBS.map(|verb| (verb, ["role#member"].as_slice()));
            vec![user, object_type("role", &[("member", &["user"])]), object_type("res", &verbs)]
        }
        Facts::Attributes(_) => {
            let (text, list) = (
                json!({"type_name": "TYPE_NAME_STRING"}),
                json!({
                    "type_name": "TYPE_NAME_LIST", "generic_types": [{"type_name": "TYPE_NAME_STRING"}]
                }),
            );
            let number = json!({"type_name": "TYPE_NAME_INT"});
            conditions["matches"] = json!({
                "name": "matches",
                "expression": "department == d && clearance >= c && region in rs && t in tags",
                "parameters": {"department": text, "clearance": number, "region": text, "tags": list,
                    "d": text, "c": number, "rs": list, "t": text},
            });
            let mut policy = object_type("policy", &[("applies", &["user"])]);
            policy["metadata"]["relations"]["applies"]["directly_related_user_types"] =
                json!([{"type": "user", "wildcard": {}, "condition": "matches"}]);
            let mut resource = object_type("res", &[("policy", &["policy"])]);
            resource["relations"]["read"] = inherited("applies", "policy");
            vec![user, policy, resource]
        }
        Facts::Relations(_) | Facts::Lists(_) => {
            let shared = |name| {
                let viewers: &[&str] = &["user", "group#member"];
                let mut shared = object_type(name, &[("parent", &["folder"]), ("viewer", viewers)]);
                let children = json!([{"this": {}}, inherited("viewer", "parent")]);
                shared["relations"]["viewer"] = json!({"union": {"child": children}});
                shared
            };
            let group = object_type("group", &[("member", &["user", "group#member"])]);
            vec![user, group, shared("folder"), shared("document")]
        }
    };
    json!({"schema_version": "1.1", "type_definitions": types, "conditions": conditions})
}

fn tuples(facts: &Facts) -> Vec<Value> {
    let tuple = |object: String, relation: &str, user: String| json!({"object": object, "relation": relation, "user": user});
    match facts {
        Facts::Roles(roles) => {
            let grants = roles.grants.iter().map(|(role, object, verb)| {
                tuple(format!("res:{object}"), verb, format!("role:{role}#member"))
            });
            let members = roles.memberships().map(|(role, person)| {
                tuple(format!("role:{role}"), "member", format!("user:{person}"))
            });
            grants.chain(members).collect()
        }
        Facts::Attributes(attributes) => {
            let policies = attributes.policies.iter().enumerate().flat_map(|(number, it)| {
                let policy = format!("policy:p{number}");
                let mut applies = tuple(policy.clone(), "applies", "user:*".to_owned());
                applies["condition"] = json!({"name": "matches", "context": it.context()});
                [tuple("res:r".to_owned(), "policy", policy), applies]
            });
            policies.collect()
        }
        Facts::Relations(_) | Facts::Lists(_) => {
            let of = |it: &Tuple| tuple(it.object.clone(), it.relation, it.subject_with_relation());
            facts.tuples().iter().map(of).collect()
        }
    }
}

fn questions(facts: &Facts, store: &str, model: &str) -> Questions {
    let check = |user: String, relation: &str, object: String| json!({"tuple_key": {"user": user, "relation": relation, "object": object}});
    let mut bodies: Vec<Value> = match facts {
        Facts::Roles(roles) => {
            let asked = roles.asked.iter().enumerate();
            asked
                .map(|(number, (it, _))| {
                    check(format!("user:q{number}"), it.verb, format!("res:{}", it.object))
                })
                .collect()
        }
        Facts::Attributes(attributes) => {
            let body = |it: &crate::facts::AttributeQuestion| {
                let mut body = check("user:u".to_owned(), "read", "res:r".to_owned());
                body["context"] = it.context();
                body
            };
            attributes.asked.iter().map(|(it, _)| body(it)).collect()
        }
        Facts::Relations(relations) => {
            let asked = relations.asked.iter();
            asked
                .map(|((user, document), _)| check(user.clone(), "viewer", document.clone()))
                .collect()
        }
        Facts::Lists(lists) => {
            let body =
                |user: &String| json!({"user": user, "relation": "viewer", "type": "document"});
            lists.asked.iter().map(|(user, _)| body(user)).collect()
        }
    };
    bodies.iter_mut().for_each(|body| body["authorization_model_id"] = json!(model));
    let route = if matches!(facts, Facts::Lists(_)) { "list-objects" } else { "check" };
    Questions {
        path: format!("{store}/{route}"),
        bodies: bodies.iter().map(Value::to_string).collect(),
        read,
    }
}

fn read(text: &str) -> Option<Answer> {
    let answer: Value = serde_json::from_str(text).ok()?;
    let Some(objects) = answer["objects"].as_array() else {
        return Some(Answer::Decision(answer["allowed"] == true));
    };
    let id = |object: &Value| Some(object.as_str()?.strip_prefix("document:")?.to_owned());
    let mut ids = objects.iter().map(id).collect::<Option<Vec<String>>>()?;
    ids.sort_unstable();
    Some(Answer::Ids(ids))
}
