//! One form for each item of a tenant's files: members in a fixed order, and none that says what its absence says.

use portcullis_directory::{AbsentClaim, Line};
use portcullis_engine::json::Member;
use portcullis_engine::{Condition, Json, expression};

/// Returns the members of `object` with these names, in this order. A `null` counts as absent.
fn members_in_order<'j>(object: &[Member<'j>], names: &[&str]) -> Vec<Member<'j>> {
    let find = |name: &&str| {
        let member = object.iter().find(|(own, value)| own == name && *value != Json::Null);
        member.cloned()
    };
    names.iter().filter_map(find).collect()
}

/// Returns an object with the members of `json` in this order, without those that have a value of `defaults`.
pub(super) fn ordered<'j>(
    json: &Json<'j>,
    names: &[&str],
    defaults: &[(&str, Json<'static>)],
) -> Vec<Member<'j>> {
    let mut members = members_in_order(json.as_object().unwrap_or_default(), names);
    members.retain(|(name, value)| {
        !defaults.iter().any(|(own, default)| own == name && default == value)
    });
    members
}

/// The part of an owner's objects that one apply may delete by default, in percent (`docs/semantics.md`, section 10.6).
const DEFAULT_MAX_DELETES: u64 = 20;

const EMPTY_LIST: Json<'static> = Json::Array(Vec::new());
const EMPTY_OBJECT: Json<'static> = Json::Object(Vec::new());

pub(super) fn resource<'j>(json: &Json<'j>) -> Json<'j> {
    let names = ["name", "displayName", "serviceName", "defaultRoles"];
    Json::Object(ordered(json, &names, &[("defaultRoles", EMPTY_LIST)]))
}

pub(super) fn rule<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(ordered(json, &["sub", "dom", "obj", "act", "effect"], &[]))
}

pub(super) fn declared_type<'j>(json: &Json<'j>) -> Json<'j> {
    let defaults = [("properties", EMPTY_OBJECT), ("relations", EMPTY_OBJECT)];
    let mut members = ordered(json, &["type", "about", "properties", "relations"], &defaults);
    for (name, value) in &mut members {
        let Json::Object(declared) = value else { continue };
        for (_, one) in declared {
            *one = match &**name {
                "relations" => relation(one),
                _ => Json::Object(ordered(one, &["type", "about", "from"], &[])),
            };
        }
    }
    Json::Object(members)
}

/// Returns a relation as its line, if that says all.
fn relation<'j>(json: &Json<'j>) -> Json<'j> {
    let line = |json: &Json<'j>| {
        let line = json.as_str().and_then(|text| Line::parse(text).ok());
        line.map_or_else(|| json.clone(), |line| Json::String(line.to_string().into()))
    };
    let mut members = ordered(json, &["from", "claim", "request", "renamed_from"], &[]);
    for (name, value) in &mut members {
        match &**name {
            "from" => *value = line(value),
            "claim" => *value = claim(value),
            _ => {}
        }
    }
    match &mut members[..] {
        [] => line(json),
        [(name, from)] if name == "from" => from.clone(),
        _ => Json::Object(members),
    }
}

/// Returns a claim as its name, if that says all.
fn claim<'j>(json: &Json<'j>) -> Json<'j> {
    let [undetermined, _] = AbsentClaim::NAMES;
    let default = ("absent", Json::String(undetermined.into()));
    match &ordered(json, &["name", "absent"], &[default])[..] {
        [] => json.clone(),
        [(name, value)] if name == "name" => value.clone(),
        members => Json::Object(members.to_vec()),
    }
}

pub(super) fn role<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(ordered(json, &["name", "includes"], &[]))
}

pub(super) fn policy<'j>(json: &Json<'j>) -> Json<'j> {
    let names = ["name", "description", "resource", "effect", "priority", "enabled"];
    let mut members = ordered(json, &names, &[("enabled", Json::Bool(true))]);
    match when(json) {
        Some(when) => members.push(("when".into(), when)),
        None => {
            let names = ["format", "rule_data"];
            members.extend(ordered(json, &names, &[("format", Json::String("json".into()))]));
        }
    }
    Json::Object(members)
}

/// Returns the expression of a policy's condition; `None` if only its matcher says it.
fn when<'j>(policy: &Json<'j>) -> Option<Json<'j>> {
    if let Some(when) = policy.get("when") {
        return Some(when.clone());
    }
    let rule_data = policy.get("rule_data")?;
    match policy.get("format").and_then(Json::as_str) {
        Some("expression") => rule_data.get("expression").cloned(),
        None | Some("json") => {
            let condition = Condition::parse(rule_data).ok()?;
            let text = expression::print(&condition);
            let is_same = expression::parse(&text).is_ok_and(|read| read == condition);
            is_same.then(|| Json::String(text.into()))
        }
        Some(_) => None,
    }
}

pub(super) fn case<'j>(json: &Json<'j>) -> Json<'j> {
    let names = ["name", "as", "now", "check", "resolved", "responses", "undetermined", "expect"];
    Json::Object(ordered(json, &names, &[]))
}

pub(super) fn user<'j>(json: &Json<'j>) -> Json<'j> {
    let names = ["sub", "roles", "description", "claims"];
    Json::Object(ordered(json, &names, &[("claims", EMPTY_OBJECT)]))
}

/// Returns a webhook without its secret, which the service keeps.
pub(super) fn webhook<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(ordered(json, &["url", "events"], &[]))
}

/// Returns the settings without those that have their default, apart from `directory_wins`.
pub(super) fn settings<'j>(settings: &[Member<'j>]) -> Vec<Member<'j>> {
    let names =
        ["gates", "max_deletes", "owners", "directory_wins", "audit_values", "decision_log"];
    let mut members = members_in_order(settings, &names);
    members.retain(|(name, value)| match (&**name, value) {
        ("gates", Json::Object(gates)) => gates.iter().any(|(_, gate)| *gate != Json::Bool(false)),
        ("max_deletes", value) => *value != Json::Number(DEFAULT_MAX_DELETES.into()),
        ("owners" | "decision_log", value) => *value != EMPTY_OBJECT,
        ("directory_wins", _) => true,
        (_, value) => *value != Json::Bool(false),
    });
    members
}
