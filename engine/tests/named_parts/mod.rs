//! Policies whose trees have names in place of some of their parts. Named or not, they decide alike.

use portcullis_engine::Policy;
use portcullis_engine::condition::NamedConditions;
use serde_json::Value;

use crate::support::AbacPolicy;
use crate::support::route::{engine_condition, engine_policy};

/// Returns the policies with about half of the parts of their trees as named conditions.
pub(crate) fn named_policies(policies: &[AbacPolicy]) -> Vec<Policy> {
    let mut parts = Vec::new();
    let trees: Vec<Option<Value>> = policies
        .iter()
        .map(|policy| policy.tree.as_ref().map(|tree| with_names(tree, false, &mut parts)))
        .collect();
    let written = (0..).zip(&parts).map(|(number, part)| (name(number), engine_condition(part)));
    let names = NamedConditions::new(written);
    let resolved = |tree: &Value| names.resolve(engine_condition(tree)).expect("known names");
    let both = policies.iter().zip(&trees);
    both.map(|(policy, tree)| engine_policy(policy, tree.as_ref().map(resolved))).collect()
}

fn name(number: usize) -> Box<str> {
    format!("part_{number}").into()
}

/// Replaces parts of a tree by names, and adds what these stand for to `parts`. A part that tests the item of a list
/// around it stays.
fn with_names(node: &Value, is_of_item: bool, parts: &mut Vec<Value>) -> Value {
    let mut node = node.clone();
    let is_list = node["type"] == "ANY" || node["type"] == "ALL";
    let children = node.get_mut("children").and_then(Value::as_array_mut);
    for child in children.into_iter().flatten() {
        *child = with_names(child, is_of_item, parts);
    }
    if let Some(child) = node.get_mut("child") {
        *child = with_names(child, is_of_item || is_list, parts);
    }
    let text = node.to_string();
    if text.len().is_multiple_of(2) || is_of_item && text.contains("\"item\"") {
        return node;
    }
    let known = parts.iter().position(|part| *part == node).unwrap_or_else(|| {
        parts.push(node);
        parts.len() - 1
    });
    serde_json::json!({"type": "NAMED", "name": name(known)})
}
