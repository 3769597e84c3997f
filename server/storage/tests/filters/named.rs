//! Trees with names in place of some of their parts.

use fastrand::Rng;
use portcullis_engine::Condition;
use portcullis_engine::condition::NamedConditions;
use serde_json::{Value, json};

use super::condition;

/// Returns the condition of a tree, with about half of its parts behind names. A part that tests an item stays with its list.
pub(crate) fn random(rng: &mut Rng, tree: &Value) -> Condition {
    let mut parts = Vec::new();
    let written = with_names(rng, tree, false, &mut parts);
    let read = |tree: &Value| condition(tree).expect("a condition");
    let names = NamedConditions::new((0..).zip(&parts).map(|(at, part)| (name(at), read(part))));
    names.resolve(read(&written)).expect("known names")
}

fn name(number: usize) -> Box<str> {
    format!("part_{number}").into()
}

fn with_names(rng: &mut Rng, node: &Value, is_of_item: bool, parts: &mut Vec<Value>) -> Value {
    let mut node = node.clone();
    let is_list = node["type"] == "ANY" || node["type"] == "ALL";
    for child in node.get_mut("children").and_then(Value::as_array_mut).into_iter().flatten() {
        *child = with_names(rng, child, is_of_item, parts);
    }
    if let Some(child) = node.get_mut("child") {
        *child = with_names(rng, child, is_of_item || is_list, parts);
    }
    // A test of an item means nothing away from its list.
    let is_fixed = is_of_item && node.to_string().contains("\"item\"");
    if is_fixed || rng.bool() {
        return node;
    }
    parts.push(node);
    json!({"type": "NAMED", "name": name(parts.len() - 1)})
}
