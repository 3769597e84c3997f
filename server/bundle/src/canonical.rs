//! The objects of a tenant as its files have them: in their forms, and in the shortest way of saying them.

use portcullis_directory::Line;
use portcullis_engine::json::Member;
use portcullis_engine::{Condition, Json, expression};

use crate::form::Form;

pub(super) fn resource<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(Form::RESOURCE.of(json))
}

pub(super) fn rule<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(Form::RULE.of(json))
}

pub(super) fn declared_type<'j>(json: &Json<'j>) -> Json<'j> {
    let mut members = Form::TYPE.of(json);
    for (name, value) in &mut members {
        let Json::Object(declared) = value else { continue };
        for (_, one) in declared {
            *one = match &**name {
                "relations" => relation(one),
                _ => Json::Object(Form::PROPERTY.of(one)),
            };
        }
    }
    Json::Object(members)
}

/// Returns a relation as its line, if that says all.
fn relation<'j>(json: &Json<'j>) -> Json<'j> {
    let mut members = Form::RELATION.of(json);
    for (name, value) in &mut members {
        match &**name {
            "from" => *value = canonical_line(value),
            "claim" => *value = claim(value),
            _ => {}
        }
    }
    match &mut members[..] {
        // A text has no members.
        [] => canonical_line(json),
        [(name, from)] if name == "from" => from.clone(),
        _ => Json::Object(members),
    }
}

/// Returns the line of a relation in its canonical form; a text that is not a line stays as it is.
fn canonical_line<'j>(json: &Json<'j>) -> Json<'j> {
    let line = json.as_str().and_then(|text| Line::parse(text).ok());
    line.map_or_else(|| json.clone(), |line| Json::String(line.to_string().into()))
}

/// Returns a claim as its name, if that says all.
fn claim<'j>(json: &Json<'j>) -> Json<'j> {
    match &Form::CLAIM.of(json)[..] {
        [] => json.clone(),
        [(name, value)] if name == "name" => value.clone(),
        members => Json::Object(members.to_vec()),
    }
}

pub(super) fn role<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(Form::ROLE.of(json))
}

/// Returns a named condition, as an expression if one stands for it.
pub(super) fn condition<'j>(json: &Json<'j>) -> Json<'j> {
    let mut members = Form::CONDITION.of(json);
    for (name, value) in &mut members {
        if name == "when" && value.as_object().is_some() {
            *value = expression_of(value).unwrap_or_else(|| value.clone());
        }
    }
    Json::Object(members)
}

pub(super) fn policy<'j>(json: &Json<'j>) -> Json<'j> {
    let mut members = Form::POLICY.of(json);
    if let Some(when) = when(json) {
        members.retain(|(name, _)| !matches!(&**name, "format" | "rule_data"));
        members.push(("when".into(), when));
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
        None | Some("json") => expression_of(rule_data),
        Some(_) => None,
    }
}

/// Returns the expression of a condition tree; `None` if none within the limits stands for it.
fn expression_of<'j>(tree: &Json<'j>) -> Option<Json<'j>> {
    let condition = Condition::parse(tree).ok()?;
    let text = expression::print(&condition);
    let is_same = expression::parse(&text).is_ok_and(|read| read == condition);
    is_same.then(|| Json::String(text.into()))
}

pub(super) fn case<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(Form::CASE.of(json))
}

pub(super) fn user<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(Form::USER.of(json))
}

pub(super) fn webhook<'j>(json: &Json<'j>) -> Json<'j> {
    Json::Object(Form::WEBHOOK.of(json))
}

/// Returns the members of the manifest of a resolver. The names of its secrets come last.
pub(super) fn manifest<'j>(json: &Json<'j>) -> Vec<Member<'j>> {
    let mut members = Form::RESOLVER.of(json);
    members.retain(|(name, _)| !matches!(&**name, "secrets" | "sha256" | "enabled"));
    members
}

/// Returns the settings without those that have their default, apart from `directory_wins`.
pub(super) fn settings<'j>(settings: &Json<'j>) -> Vec<Member<'j>> {
    let mut members = Form::SETTINGS.of(settings);
    members.retain(|(name, value)| match (&**name, value) {
        ("gates", Json::Object(gates)) => gates.iter().any(|(_, gate)| *gate != Json::Bool(false)),
        _ => true,
    });
    members
}
