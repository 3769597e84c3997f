//! OPA. Facts are data, indexed by hand as its documentation advises; each attribute policy is a rule, which it indexes. Its
//! decision log is off.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use crate::facts::{Facts, Tuple};
use crate::server::{Answer, Questions, Server, free_port, program};

const ROLES: &str = "default allow := false
allow if { some r in input.roles; data.grants[input.obj][input.act][r] }
";
const RELATIONS: &str = "default allow := false
allow if {
  some s in graph.reachable(data.up, {input.user})
  some o in graph.reachable(data.parents, {input.doc})
  data.view[o][s]
}
";
const LISTS: &str = "docs contains d if {
  some s in graph.reachable(data.up, {input.user})
  some o, _ in data.views[s]
  some d in graph.reachable(data.down, {o})
  startswith(d, \"document:\")
}
";

pub fn start(folder: &Path, facts: &Facts) -> Result<Option<(Server, Questions)>> {
    let Some(binary) = program("opa") else { return Ok(None) };
    let port = free_port()?;
    let (rules, data) = match facts {
        Facts::Roles(roles) => {
            let mut grants: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, bool>>> = BTreeMap::new();
            for (role, object, verb) in &roles.grants {
                grants.entry(object).or_default().entry(verb).or_default().insert(role, true);
            }
            (ROLES.to_owned(), json!({"grants": grants}))
        }
        Facts::Attributes(attributes) => {
            let rules = attributes.policies.iter().map(|it| {
                let regions = json!(it.regions).to_string();
                format!(
                    "allow if {{ input.user.department == {}; input.user.clearance >= {}; \
                     input.resource.region in {{{}}}; {} in input.user.tags }}\n",
                    json!(it.department),
                    it.clearance,
                    regions.trim_matches(['[', ']']),
                    json!(it.tag)
                )
            });
            (format!("default allow := false\n{}", rules.collect::<String>()), json!({}))
        }
        Facts::Relations(relations) => (RELATIONS.to_owned(), graph(&relations.tuples)),
        Facts::Lists(lists) => (LISTS.to_owned(), graph(&lists.tuples)),
    };
    fs::write(folder.join("peers.rego"), format!("package peers\n{rules}"))?;
    fs::write(folder.join("data.json"), data.to_string())?;
    let mut command = Command::new(binary);
    command.args(["run", "--server", "--addr", &format!("127.0.0.1:{port}")]);
    command.args(["--log-level", "error", "--disable-telemetry", "peers.rego", "data.json"]);
    let server = Server::start(&mut command, folder, port, "/health")?;
    Ok(Some((server, questions(facts))))
}

/// Returns the edges of a graph in both directions: an object without an edge is a key, too.
fn graph(tuples: &[Tuple]) -> Value {
    type Edges<'t> = BTreeMap<&'t str, Vec<&'t str>>;
    type Views<'t> = BTreeMap<&'t str, BTreeMap<&'t str, bool>>;
    let (mut up, mut parents, mut down) = (Edges::new(), Edges::new(), Edges::new());
    let (mut view, mut views) = (Views::new(), Views::new());
    for Tuple { object, relation, subject, .. } in tuples {
        match *relation {
            "parent" => {
                parents.entry(object).or_default().push(subject);
                parents.entry(subject).or_default();
                down.entry(subject).or_default().push(object);
                down.entry(object).or_default();
            }
            "member" => {
                up.entry(subject).or_default().push(object);
                up.entry(object).or_default();
            }
            _ => {
                view.entry(object).or_default().insert(subject, true);
                views.entry(subject).or_default().insert(object, true);
                up.entry(subject).or_default();
            }
        }
    }
    json!({"up": up, "parents": parents, "down": down, "view": view, "views": views})
}

fn questions(facts: &Facts) -> Questions {
    let inputs: Vec<Value> = match facts {
        Facts::Roles(roles) => {
            let asked = roles.asked.iter().map(|(it, _)| it);
            asked.map(|it| json!({"roles": it.roles, "obj": it.object, "act": it.verb})).collect()
        }
        Facts::Attributes(attributes) => {
            let asked = attributes.asked.iter().map(|(it, _)| it);
            asked.map(|it| json!({"user": {"department": it.department, "clearance": it.clearance, "tags": it.tags}, "resource": {"region": it.region}})).collect()
        }
        Facts::Relations(relations) => {
            let asked = relations.asked.iter().map(|(it, _)| it);
            asked.map(|(user, document)| json!({"user": user, "doc": document})).collect()
        }
        Facts::Lists(lists) => lists.asked.iter().map(|(user, _)| json!({"user": user})).collect(),
    };
    let rule = if matches!(facts, Facts::Lists(_)) { "docs" } else { "allow" };
    let bodies = inputs.into_iter().map(|input| json!({"input": input}).to_string()).collect();
    Questions { path: format!("/v1/data/peers/{rule}"), bodies, read }
}

fn read(text: &str) -> Option<Answer> {
    let answer: Value = serde_json::from_str(text).ok()?;
    let result = answer.get("result")?;
    let Some(names) = result.as_array() else { return result.as_bool().map(Answer::Decision) };
    let id = |name: &Value| Some(name.as_str()?.strip_prefix("document:")?.to_owned());
    let mut ids = names.iter().map(id).collect::<Option<Vec<String>>>()?;
    ids.sort_unstable();
    Some(Answer::Ids(ids))
}
