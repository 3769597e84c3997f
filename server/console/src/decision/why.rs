//! The reasons of a decision: the conditions of its policies, its rules, what would allow it, and the ladder of what comes
//! first.

use askama::Template;
use portcullis_model::decision::DecisionRecord;
use portcullis_operations::decisions::{self, Reproduction};
use serde_json::Value;

use super::known::{shown, text_of};
use crate::visit::Visit;
use portcullis_http::error::ApiError;

/// The rule of a decision that no rule made.
const DEFAULT: &str = "default-deny";
/// The deepest part of a condition that is shown. The rest is in the expression of the node above.
const MAX_DEPTH: usize = 6;
/// Most nodes of a policy on the page.
const MAX_NODES: usize = 500;

#[derive(Template, Default)]
#[template(path = "decision_why.html")]
pub(crate) struct Why {
    /// The reason why nothing can be explained.
    failure: Option<String>,
    /// A sentence about the rules of the revision, unless they decide so again.
    reproduction: Option<String>,
    policies: Vec<ShownPolicy>,
    rules: Vec<Step>,
    /// The changes that would allow a denial.
    changes: Option<Vec<Vec<Change>>>,
    complete: bool,
    ladder: Vec<Step>,
    attributes: Vec<Value>,
}

struct ShownPolicy {
    name: String,
    effect: String,
    priority: i64,
    outcome: String,
    mark: &'static str,
    decides: bool,
    nodes: Vec<Node>,
}

struct Node {
    depth: usize,
    outcome: String,
    mark: &'static str,
    text: String,
    actual: String,
    because: String,
}

struct Change {
    attribute: String,
    from: String,
    to: String,
}

/// A step of the ladder, or a rule.
#[derive(Clone)]
struct Step {
    name: String,
    text: String,
    about: String,
    outcome: String,
    mark: &'static str,
    decides: bool,
}

impl Why {
    /// Decides the record again by the rules of its revision.
    pub(super) async fn read(visit: &Visit, record: &DecisionRecord) -> Self {
        let decided = decisions::find_decided(&visit.app, &visit.caller, record.id).await;
        let explained = decided.and_then(|decided| {
            decided.explained(|_, explanation, reproduction| {
                (serde_json::to_value(explanation).unwrap_or_default(), reproduction)
            })
        });
        match explained {
            Ok((explanation, reproduction)) => {
                let said = word(reproduction);
                Self { reproduction: said, ..Self::of(&explanation, record.rule == DEFAULT) }
            }
            Err(error) => {
                Self { failure: Some(ApiError::from(error).message()), ..Self::default() }
            }
        }
    }

    /// Returns the attributes that the rules read.
    pub(crate) fn attributes(&self) -> &[Value] {
        &self.attributes
    }

    /// Returns the reasons of an explanation, as the API shows it. `is_default` says whether nothing decided.
    pub(crate) fn of(explanation: &Value, is_default: bool) -> Self {
        let policies: Vec<_> = list_of(explanation, "policies").iter().map(policy).collect();
        let rules: Vec<_> = list_of(explanation, "rules").iter().map(rule).collect();
        let ladder = ladder(&policies, &rules, is_default);
        let changes = explanation.get("would_allow").and_then(Value::as_array);
        let changes = changes.map(|sets| sets.iter().map(change_set).collect());
        let is_complete = explanation["would_allow_complete"].as_bool().unwrap_or(true);
        Self {
            failure: None,
            reproduction: None,
            policies,
            rules,
            changes,
            complete: is_complete,
            ladder,
            attributes: list_of(explanation, "attributes"),
        }
    }
}

fn word(reproduction: Reproduction) -> Option<String> {
    match reproduction {
        Reproduction::Reproduced(true) => None,
        Reproduction::Reproduced(false) => Some(
            "The rules of this revision decide otherwise now: what follows is how they decide."
                .to_owned(),
        ),
        Reproduction::NotReplayable(attributes) => Some(format!(
            "The record lacks {}, which the rules read: what follows is without it.",
            attributes.join(", ")
        )),
    }
}

fn list_of(value: &Value, name: &str) -> Vec<Value> {
    value[name].as_array().cloned().unwrap_or_default()
}

/// Returns the sign of an outcome or an effect.
fn mark(outcome: &str) -> &'static str {
    match outcome {
        "true" => "✓ true",
        "false" => "✕ false",
        "undetermined" => "? open",
        "allow" => "Allow",
        "deny" => "Deny",
        _ => "–",
    }
}

fn policy(policy: &Value) -> ShownPolicy {
    let outcome = text_of(policy, "outcome");
    let mut nodes = Vec::new();
    add_nodes(&policy["condition"], 0, &mut nodes);
    ShownPolicy {
        name: text_of(policy, "name"),
        effect: text_of(policy, "effect"),
        priority: policy["priority"].as_i64().unwrap_or_default(),
        mark: mark(&outcome),
        outcome,
        decides: policy["decides"].as_bool().unwrap_or_default(),
        nodes,
    }
}

/// Adds a condition and its parts, in the order in which they are read.
fn add_nodes(node: &Value, depth: usize, nodes: &mut Vec<Node>) {
    if !node.is_object() || nodes.len() >= MAX_NODES {
        return;
    }
    let kind = text_of(node, "type");
    let children = match node.get("children").and_then(Value::as_array) {
        Some(children) => children.iter().collect(),
        None => node.get("child").into_iter().collect::<Vec<_>>(),
    };
    // A node that is too deep stands for its parts.
    let is_whole = children.is_empty() || depth >= MAX_DEPTH;
    let expression = node["expression"].as_str();
    let text = match (expression, &*kind) {
        (Some(expression), _) if is_whole => expression.to_owned(),
        (_, "AND") => "all of".to_owned(),
        (_, "OR") => "one of".to_owned(),
        (_, "NOT") => "not".to_owned(),
        (_, "ANY") => format!("some item of {}", text_of(node, "attribute")),
        (_, "ALL") => format!("every item of {}", text_of(node, "attribute")),
        (Some(expression), _) => expression.to_owned(),
        (None, _) => format!("{} {}", text_of(node, "attribute"), text_of(node, "operator")),
    };
    let outcome = text_of(node, "outcome");
    nodes.push(Node {
        depth,
        mark: mark(&outcome),
        outcome,
        text,
        actual: node.get("actual").or(node.get("item")).map(shown).unwrap_or_default(),
        because: node.get("because").map(shown).unwrap_or_default(),
    });
    if !is_whole {
        for child in children {
            add_nodes(child, depth + 1, nodes);
        }
    }
}

fn rule(rule: &Value) -> Step {
    let [sub, dom, obj, act, effect] =
        ["sub", "dom", "obj", "act", "effect"].map(|name| text_of(rule, name));
    Step {
        text: format!("{sub} in {dom}: {effect} {act} on {obj}"),
        name: format!("rule {sub}"),
        about: format!("{act} on {obj}"),
        mark: mark(&effect),
        outcome: effect,
        decides: rule["decides"].as_bool().unwrap_or_default(),
    }
}

fn change_set(set: &Value) -> Vec<Change> {
    let changes = list_of(set, "changes");
    let changes = changes.iter().map(|change| Change {
        attribute: text_of(change, "attribute"),
        from: shown_or_dash(&change["from"]),
        to: shown_or_dash(&change["to"]),
    });
    changes.collect()
}

fn shown_or_dash(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        value => shown(value),
    }
}

/// Returns the steps in the order in which they decide: rules that deny, policies by priority, rules that allow, and the deny
/// that is left.
fn ladder(policies: &[ShownPolicy], rules: &[Step], is_default: bool) -> Vec<Step> {
    let denying = rules.iter().filter(|rule| rule.outcome == "deny").cloned();
    let allowing = rules.iter().filter(|rule| rule.outcome != "deny").cloned();
    let default = Step {
        name: "default deny".to_owned(),
        text: String::new(),
        about: String::new(),
        outcome: "deny".to_owned(),
        mark: mark("deny"),
        decides: is_default,
    };
    let policies = policies.iter().map(|policy| Step {
        name: policy.name.clone(),
        text: String::new(),
        about: format!("{}, priority {}", policy.effect, policy.priority),
        outcome: policy.outcome.clone(),
        mark: policy.mark,
        decides: policy.decides,
    });
    denying.chain(policies).chain(allowing).chain([default]).collect()
}
