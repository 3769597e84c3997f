//! The requests of a world.

use serde_json::{Map, Value, json};

use super::choices::Choices;
use super::values::{Values, near};
use crate::support::Request;
use crate::support::pools::{ACTIONS, DOMAINS, Group, NOWS, SUBJECTS, claims_only};

/// The percentage of requests with every attribute, each of the type that policies expect.
const COMPLETE: usize = 60;

/// Generates a check of `resource`.
pub(crate) fn request(choices: &mut impl Choices, values: &Values, resource: &str) -> Request {
    let complete = choices.chance(COMPLETE);
    let (mut attributes, mut claims) = (json!({"user": {}, "resource": {}}), Map::new());
    for group in Group::ALL {
        for path in group.paths() {
            let (kind, name) = path.split_once('.').expect("every path has a kind");
            if kind == "request" {
                continue;
            }
            let Some(value) = value(choices, values, group, complete, kind == "token") else {
                continue;
            };
            match kind {
                "token" => claim(&mut claims, name, value, choices.chance(50)),
                _ => attributes[kind][name] = value,
            }
        }
    }
    let subject = name(choices, values, &SUBJECTS);
    let own = choices.chance(50);
    let token = if own { subject.clone() } else { name(choices, values, &SUBJECTS) };
    claims.insert("sub".to_owned(), token.into());
    let mut body = json!({
        "subject": subject,
        "resource": resource,
        "action": name(choices, values, &ACTIONS),
        "attributes": attributes,
    });
    if choices.chance(50) {
        body["domain"] = name(choices, values, &DOMAINS).into();
    }
    Request {
        failed: Vec::new(),
        body,
        claims: (complete || choices.chance(80)).then_some(claims.into()),
        caller_domain: choices.pick(&DOMAINS).to_string(),
        now: choices.pick(&NOWS).to_string(),
    }
}

/// Generates a value: mostly of the group; else absent, `null`, of another type, or a near miss.
fn value(
    choices: &mut impl Choices,
    values: &Values,
    group: Group,
    complete: bool,
    is_claim: bool,
) -> Option<Value> {
    let expected = values.of(choices, group);
    match choices.below(20) {
        0..=2 => Some(near(choices, &expected)),
        3..=6 if !complete => None,
        7..=8 if !complete => Some(values.any(choices)),
        9 if !complete && is_claim => Some(choices.pick(&claims_only())),
        9 if !complete => Some(Value::Null),
        _ => Some(expected),
    }
}

/// Inserts a claim under its whole name, or as a path of objects.
fn claim(claims: &mut Map<String, Value>, name: &str, value: Value, literal: bool) {
    match name.split_once('.') {
        Some((parent, child)) if !literal => {
            let parent = claims.entry(parent).or_insert_with(|| json!({}));
            parent[child] = value;
        }
        // The semantics does not define a literal claim that is `null` beside a path of the same name.
        _ if value.is_null() && name.contains('.') => {}
        _ => _ = claims.insert(name.to_owned(), value),
    }
}

/// Generates mostly a name that rules contain; else a text of the world, which its conditions compare.
fn name(choices: &mut impl Choices, values: &Values, known: &[&str]) -> String {
    let text = values.text(choices);
    if text.is_empty() || choices.chance(50) { choices.pick(known).to_string() } else { text }
}
