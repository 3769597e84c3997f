//! Actions that are not the verb of the resource.

use std::collections::HashSet;

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::action::{is_verb, verb_of};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::{Json, ResourcePattern};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// Returns the findings about rules, policies and cases that are about one resource.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for (index, rule) in bundle.rules.iter().enumerate() {
        let at = LintSubject::Item(ItemKind::Rule, index, "/act");
        if rule.tuple.act != WILDCARD {
            doubts.extend(doubt("rule", &rule.tuple.obj, &rule.tuple.act, at));
        }
    }
    for (index, policy) in bundle.policies.iter().enumerate() {
        // Once each, however many tests name it.
        let actions: HashSet<&str> = policy.rule_data.condition.named_actions().collect();
        let mut actions: Vec<&str> = actions.into_iter().collect();
        actions.sort_unstable();
        doubts.extend(actions.into_iter().filter_map(|action| {
            let at = LintSubject::Item(ItemKind::Policy, index, "/when");
            doubt("policy", &policy.resource, action, at)
        }));
    }
    for (index, case) in bundle.cases.iter().enumerate() {
        let [resource, action] =
            ["resource", "action"].map(|name| case.check.get(name).and_then(Json::as_str));
        if let (Some(resource), Some(action)) = (resource, action) {
            let at = LintSubject::Item(ItemKind::Case, index, "/check/action");
            doubts.extend(doubt("case", &ResourcePattern::Exact(resource.to_owned()), action, at));
        }
    }
    doubts
}

/// Returns the finding about an item on `pattern` that names `action`.
fn doubt(
    item: &str,
    pattern: &ResourcePattern,
    action: &str,
    subject: LintSubject,
) -> Option<Doubt> {
    let ResourcePattern::Exact(resource) = pattern else { return None };
    (!is_verb(action, resource)).then(|| Doubt {
        code: LintCode::ActionNotVerb,
        subject,
        message: format!(
            "this {item} is about {}, and names the action {}",
            quoted(resource),
            quoted(action)
        ),
        advice: format!("write the action {}, or name another resource", quoted(verb_of(resource))),
    })
}
