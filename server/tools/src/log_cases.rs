//! `portcullis cases from-log`: cases from recorded decisions.

mod relations;

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_bundle::{ExportedContent, Rulebook, folder_files};
use portcullis_config::Variables;
use portcullis_engine::{DEFAULT_DENY, json};
use portcullis_model::clock::Clock;
use serde_json::{Map, Value, json};

use crate::moments::Moment;
use crate::service::{Service, ServiceArguments};

/// The arguments of `portcullis cases from-log`.
#[derive(Debug, clap::Args)]
pub struct FromLogArguments {
    /// Only as many as exercise each rule and policy: one that it decides, of each resource.
    #[arg(long, required = true)]
    cover: bool,
    /// Only decisions from then on: a time ago such as `7d`, or an instant such as `2026-05-16T09:30:00Z`.
    #[arg(long, value_name = "WHEN")]
    since: Option<Moment>,
    #[command(flatten)]
    service: ServiceArguments,
}

/// Prints the cases as a file of a tenant folder. Says on `err` how many decisions no case can show.
///
/// # Errors
/// The service gives no answer or refuses the call, or the output cannot be written.
pub async fn run(
    arguments: &FromLogArguments,
    variables: &Variables,
    clock: &Clock,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let service = Service::new(&arguments.service, variables)?;
    let from = arguments.since.map(|since| since.at(clock.now().into()).to_string());
    let query: Vec<_> = from.into_iter().map(|from| ("from", from)).collect();
    let records = service.list_of("decisions", &query).await?;
    let names = names(&service).await?;
    let types = relations::relations_of(service.list("types").await?).context("the types")?;
    let (cases, left_out) = covering(&records, &names, &types);
    let kinds = json!({"cases": cases}).to_string();
    let kinds = json::parse(kinds.as_bytes()).context("the cases")?;
    let content = ExportedContent { tenant: "", kinds: &kinds, descriptors: &[] };
    let file = folder_files(&content)?.into_iter().find(|file| file.name == "cases.yaml");
    out.write_all(file.map(|file| file.text).unwrap_or_default().as_bytes())?;
    if left_out > 0 {
        writeln!(
            err,
            "note: {left_out} rules and policies have no case: they are gone, or read claims, attributes that are not recorded, or relations that no tuples of the subject give"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the names of rules and policies by id.
async fn names(service: &Service) -> anyhow::Result<HashMap<String, String>> {
    let mut names = HashMap::from([(DEFAULT_DENY.to_owned(), DEFAULT_DENY.to_owned())]);
    for policy in service.list("abac/policies").await? {
        names.insert(text(&policy, "id").to_owned(), text(&policy, "name").to_owned());
    }
    for rule in service.list("resources/policies").await? {
        let tuple = ["sub", "dom", "obj", "act"].map(|name| text(&rule, name)).join(", ");
        names.insert(text(&rule, "id").to_owned(), tuple);
    }
    Ok(names)
}

/// Returns a case for each resource and what decided about it, and the number of those without one. What decides one of
/// them is what does not apply in the others.
fn covering(
    records: &[Value],
    names: &HashMap<String, String>,
    types: &Rulebook,
) -> (Vec<Value>, usize) {
    let mut found: BTreeMap<(&str, &str), Option<Value>> = BTreeMap::new();
    for record in records {
        let (resource, rule) = (text(record, "resource"), text(record, "rule"));
        let case = found.entry((resource, rule)).or_default();
        // A decision that no case can show leaves the place to a later one.
        if case.is_none() {
            *case = names.get(rule).and_then(|name| case_of(record, name, types));
        }
    }
    let left_out = found.values().filter(|case| case.is_none()).count();
    (found.into_values().flatten().collect(), left_out)
}

/// Returns the case that shows a recorded decision by a rule of this name, with tuples of the relations of `types`; `None` if
/// none can.
fn case_of(record: &Value, name: &str, types: &Rulebook) -> Option<Value> {
    let is_whole = ["token", "dropped"].iter().all(|name| record.get(name).is_none());
    let mut attributes = record["attributes"].as_object()?.clone();
    if !is_whole {
        return None;
    }
    // What the directory supplied is sent by the case, whose folder may have other entities.
    for namespace in ["user", "resource"] {
        for (name, value) in record["directory"][namespace].as_object().into_iter().flatten() {
            let members = attributes.entry(namespace).or_insert_with(|| json!({}));
            members[name] = value.clone();
        }
    }
    if let Some(roles) = record["directory"]["roles"].as_array() {
        let own = record["directory"]["own_roles"].as_u64().and_then(|own| own.try_into().ok());
        let own: Vec<&Value> = roles.iter().take(own.unwrap_or(roles.len())).collect();
        if !own.is_empty() {
            attributes.entry("user").or_insert_with(|| json!({}))["roles"] = json!(own);
        }
    }
    if attributes.values().any(has_hash) {
        return None;
    }
    attributes.retain(|_, members| members.as_object().is_some_and(|members| !members.is_empty()));
    let mut check = Map::new();
    // An action that was not sent is recorded decoded, and is left out again.
    let left_out = attributes.remove("request").is_some();
    let members = ["subject", "resource", "action", "domain"];
    for member in members.into_iter().filter(|member| !left_out || *member != "action") {
        check.insert(member.to_owned(), record[member].clone());
    }
    if !attributes.is_empty() {
        check.insert("attributes".to_owned(), attributes.into());
    }
    let decision = record["decision"].as_str()?;
    let mut case = json!({
        "name": format!("{}: {decision} by {name} ({})", record["resource"].as_str()?, record["id"].as_str()?),
        "now": record["time"],
        "check": check,
        "expect": {"decision": decision, "rule": name},
    });
    if record.get("relations").is_some() {
        case["relations"] = relations::tuples(types, record, &case["check"])?;
    }
    if let Some(resolved) = record["resolved"].as_object() {
        let values = resolved.iter().map(|(of, answer)| (of.clone(), answer["values"].clone()));
        case["resolved"] = Value::Object(values.collect());
    }
    if record["undetermined"].as_array().is_some_and(|paths| !paths.is_empty()) {
        case["undetermined"] = json!("allowed");
    }
    Some(case)
}

/// Returns whether some attribute of a namespace is hashed, or is not a value that a check may have.
fn has_hash(members: &Value) -> bool {
    let Some(members) = members.as_object() else { return false };
    members.values().any(|value| match value {
        Value::Array(items) => items.iter().any(Value::is_object),
        value => value.is_object(),
    })
}

fn text<'r>(record: &'r Value, name: &str) -> &'r str {
    record[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decider_of_a_resource_has_one_case() {
        let record = |id: &str, rule: &str, more: Value| {
            let mut record = json!({
                "id": id, "time": "2026-05-16T09:30:00.000Z", "subject": "ann", "domain": "acme", "resource": "chart:read",
                "action": "read", "attributes": {"user": {}, "context": {"ip": "x"}}, "decision": "allow", "rule": rule,
                "undetermined": [],
            });
            for (name, value) in more.as_object().into_iter().flatten() {
                record[name] = value.clone();
            }
            record
        };
        let directory = json!({"directory": {"user": {"level": 3}, "roles": ["head", "nurse"], "own_roles": 1}});
        let records = [
            record("1", "a", json!({"token": {"mfa": true}})),
            record("2", "a", directory),
            record("3", "a", json!({})),
            record("4", "default-deny", json!({"decision": "deny", "undetermined": ["user.x"]})),
            record("5", "b", json!({"attributes": {"user": {"pin": {"hmac": "00"}}}})),
            record("6", "gone", json!({})),
            record("7", "c", json!({"directory": {"roles": [{"hmac": "00"}]}})),
        ];
        let types = relations::relations_of(Vec::new()).expect("no types");
        let names = [("a", "own"), ("b", "pin"), ("c", "roles"), ("default-deny", "default-deny")];
        let names = names.map(|(id, name)| (id.to_owned(), name.to_owned())).into_iter().collect();
        let (cases, left_out) = covering(&records, &names, &types);
        let expected = json!([
            {
                "name": "chart:read: allow by own (2)", "now": "2026-05-16T09:30:00.000Z",
                "check": {
                    "subject": "ann", "resource": "chart:read", "action": "read", "domain": "acme",
                    "attributes": {"user": {"level": 3, "roles": ["head"]}, "context": {"ip": "x"}},
                },
                "expect": {"decision": "allow", "rule": "own"},
            },
            {
                "name": "chart:read: deny by default-deny (4)", "now": "2026-05-16T09:30:00.000Z",
                "check": {
                    "subject": "ann", "resource": "chart:read", "action": "read", "domain": "acme",
                    "attributes": {"context": {"ip": "x"}},
                },
                "expect": {"decision": "deny", "rule": "default-deny"},
                "undetermined": "allowed",
            },
        ]);
        assert_eq!((json!(cases), left_out), (expected, 3));
    }
}
