//! Prints the answer to a check for people.

use std::io::{self, Write};

use serde_json::Value;

/// Writes the decision, what decided, and the reason; and the explanation, if there is one.
pub(super) fn answer(answer: &Value, out: &mut dyn Write) -> io::Result<()> {
    let decider = answer.get("matched_rule").or_else(|| answer.get("matched_rule_id"));
    writeln!(out, "decision  {}", text(answer.get("decision")))?;
    writeln!(out, "rule      {}", text(decider))?;
    writeln!(out, "reason    {}", text(answer.get("reason")))?;
    if let Some(revision) = answer.get("revision") {
        writeln!(out, "revision  {revision}")?;
    }
    // A folder has the hints of an answer without an explanation beside it.
    let explanation = answer.get("explanation");
    for hint in items(explanation.unwrap_or(answer), "hints") {
        writeln!(out, "hint      {}", text(hint.get("message")))?;
    }
    match explanation {
        Some(explanation) => explain(explanation, out),
        None => Ok(()),
    }
}

fn explain(explanation: &Value, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\npolicies, in the order in which they decide:")?;
    for policy in items(explanation, "policies") {
        let [name, effect, priority, outcome] =
            ["name", "effect", "priority", "outcome"].map(|field| text(policy.get(field)));
        let applies = if is(policy, "applies") { "applies" } else { "does not apply" };
        let decides = decides(policy);
        writeln!(out, "  {effect} `{name}`, priority {priority}: {outcome}, {applies}{decides}")?;
        let Some(condition) = policy.get("condition").filter(|condition| condition.is_object())
        else {
            continue;
        };
        // A single test shows its expression itself.
        if let Some(expression) = condition.get("expression").filter(|_| !is_test(condition)) {
            writeln!(out, "    when {}", text(Some(expression)))?;
        }
        node(condition, 2, out)?;
    }
    writeln!(out, "\nrules that match:")?;
    for rule in items(explanation, "rules") {
        let [effect, sub, dom, obj, act] =
            ["effect", "sub", "dom", "obj", "act"].map(|field| text(rule.get(field)));
        writeln!(out, "  {effect} `{sub}, {dom}, {obj}, {act}`{}", decides(rule))?;
    }
    writeln!(out, "\nattributes:")?;
    for attribute in items(explanation, "attributes") {
        let name = text(attribute.get("attribute"));
        let source = source(attribute);
        let value = attribute.get("value").map_or("absent".to_owned(), Value::to_string);
        let words = attribute.get("words").map(|words| format!(": {}", text(Some(words))));
        let words = words.unwrap_or_default();
        writeln!(out, "  {name} = {value} ({source}){}{words}", because(attribute))?;
    }
    would_allow(explanation, out)
}

/// Returns where an attribute comes from, whether that overrides what was sent, and the entities that led there.
fn source(attribute: &Value) -> String {
    let mut source = text(attribute.get("source"));
    if is(attribute, "overridden") {
        source.push_str(", overrides what was sent");
    }
    for step in items(attribute, "via") {
        source.push_str(", by ");
        source.push_str(&text(step.get("entity")));
    }
    source
}

/// Writes the changes by which a denied check would be allowed.
fn would_allow(explanation: &Value, out: &mut dyn Write) -> io::Result<()> {
    let Some(sets) = explanation.get("would_allow").and_then(Value::as_array) else {
        return Ok(());
    };
    let is_complete = is(explanation, "would_allow_complete");
    writeln!(out, "\nit would be allowed with:")?;
    for set in sets {
        let changes: Vec<_> = items(set, "changes").iter().map(change).collect();
        writeln!(out, "  {}", changes.join(", and "))?;
    }
    match (sets.is_empty(), is_complete) {
        (true, true) => writeln!(out, "  no change of at most three attributes"),
        (true, false) => writeln!(out, "  no change that was found; not all were tried"),
        (false, true) => Ok(()),
        (false, false) => writeln!(out, "  there may be others; not all were tried"),
    }
}

/// Returns the change of one attribute in words.
fn change(change: &Value) -> String {
    let [from, to] = ["from", "to"].map(|field| match change.get(field) {
        None | Some(Value::Null) => "absent".to_owned(),
        Some(value) => value.to_string(),
    });
    format!("{} = {to} in place of {from}", text(change.get("attribute")))
}

/// Writes a node of a condition and those below it. The nesting of conditions is limited.
fn node(node: &Value, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    let [kind, outcome] = ["type", "outcome"].map(|field| text(node.get(field)));
    if is_test(node) {
        let (test, because) = (test(node), because(node));
        let actual = node.get("actual").map_or("absent".to_owned(), Value::to_string);
        return writeln!(out, "{indent}{outcome}: {test} (it is {actual}){because}");
    }
    // A name says which condition is below, and an item what its condition is about.
    let name = node.get("name").map(|name| format!(" {}", text(Some(name)))).unwrap_or_default();
    let item = node.get("item").map(|item| format!(", by the item {item}")).unwrap_or_default();
    let because = because(node);
    writeln!(out, "{indent}{outcome}: {kind}{name}{item}{because}")?;
    for child in items(node, "children").iter().chain(node.get("child")) {
        self::node(child, depth + 1, out)?;
    }
    Ok(())
}

/// Returns whether a node has no part with an outcome of its own. A condition on items has one if an item decides.
fn is_test(node: &Value) -> bool {
    match node.get("type").and_then(Value::as_str) {
        Some("CONDITION" | "LENGTH") => true,
        Some("ANY" | "ALL") => node.get("item").is_none(),
        _ => false,
    }
}

/// Returns a test as an expression. No expression stands for a search, and one that is very long is left out.
fn test(node: &Value) -> String {
    if let Some(expression) = node.get("expression") {
        return text(Some(expression));
    }
    let [attribute, operator] = ["attribute", "operator"].map(|field| text(node.get(field)));
    let value = node.get("value").map(|value| format!(" {value}")).unwrap_or_default();
    format!("{attribute} {operator}{value}")
}

fn items<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or_default()
}

fn decides(value: &Value) -> &'static str {
    if is(value, "decides") { "; it decides" } else { "" }
}

fn because(value: &Value) -> String {
    value.get("because").map(|cause| format!(", because {}", text(Some(cause)))).unwrap_or_default()
}

/// Returns a string without its quotes, and any other value as JSON.
fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}
