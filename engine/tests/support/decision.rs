//! The oracle for decisions: principals, RBAC, ABAC and their combination, directly from `docs/semantics.md`,
//! sections 2.3 to 2.6.

use serde_json::Value;
use uuid::Uuid;

use super::conditions::{Truth, truth};
use super::{ALLOW, AbacPolicy, DENY, EffectName, ROLES_CLAIM, RbacRule, Request};

/// The answer to a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) effect: EffectName,
    pub(crate) matched_rule_id: String,
    pub(crate) decided_by: DecidedBy,
}

/// The rule or policy that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DecidedBy {
    /// A policy whose condition is true.
    Policy,
    /// A policy that denies because its condition is undetermined.
    UndeterminedPolicy,
    Rule,
    Default,
}

/// Returns the answer of `POST /api/v1/check`.
pub(crate) fn check(rules: &[RbacRule], policies: &[AbacPolicy], request: &Request) -> Answer {
    let candidates = policies
        .iter()
        .filter(|policy| pattern_matches(&policy.resource, request.resource()))
        .map(|policy| (policy, policy_truth(policy, request)));
    combined(abac(candidates), rbac(rules, request))
}

/// Combines the answers of both engines.
pub(crate) fn combined(abac: Option<Answer>, rbac: Option<Answer>) -> Answer {
    match (abac, rbac) {
        (Some(abac), _) if abac.effect == DENY => abac,
        (_, Some(rbac)) if rbac.effect == DENY => rbac,
        // "When both engines allow, the ABAC policy is reported."
        (Some(abac), _) => abac,
        (None, Some(rbac)) => rbac,
        (None, None) => default_deny(),
    }
}

/// Returns the answer of the legacy check: "RBAC alone".
pub(crate) fn legacy_check(rules: &[RbacRule], request: &Request) -> Answer {
    combined(None, rbac(rules, request))
}

fn default_deny() -> Answer {
    Answer {
        effect: DENY,
        matched_rule_id: "default-deny".to_owned(),
        decided_by: DecidedBy::Default,
    }
}

/// "Any matching deny → deny; else any matching allow → allow; else none." Of several rules of the
/// deciding effect the smallest id is reported.
pub(crate) fn rbac(rules: &[RbacRule], request: &Request) -> Option<Answer> {
    let matching: Vec<&RbacRule> =
        rules.iter().filter(|rule| rule_matches(rule, request)).collect();
    let ids = |effect| -> Vec<Uuid> {
        matching.iter().filter(|rule| rule.effect == effect).map(|rule| rule.id).collect()
    };
    let denies = ids(DENY);
    let (effect, ids) = if denies.is_empty() { (ALLOW, ids(ALLOW)) } else { (DENY, denies) };
    let smallest = ids.iter().min()?;
    Some(Answer { effect, matched_rule_id: smallest.to_string(), decided_by: DecidedBy::Rule })
}

pub(crate) fn rule_matches(rule: &RbacRule, request: &Request) -> bool {
    let mut principals = roles(request);
    principals.extend(request.body["subject"].as_str().map(str::to_owned));
    (rule.sub == "*" || principals.contains(&rule.sub))
        && (rule.dom == "*" || rule.dom == request.domain())
        && pattern_matches(&rule.obj, request.resource())
        && (rule.act == "*" || request.body["action"] == rule.act.as_str())
}

/// Returns whether the pattern is the resource itself, `<name>:*`, or `*`. The name ends before the last colon.
pub(crate) fn pattern_matches(pattern: &str, resource: &str) -> bool {
    let name = resource.rsplit_once(':').map(|(name, _)| name);
    let every_verb = name.map(|name| format!("{name}:*"));
    pattern == "*" || pattern == resource || Some(pattern) == every_verb.as_deref()
}

/// "When `subject` equals the token's `sub`, roles are the token's roles claim. For any other subject
/// […] the strings of `attributes.user.roles` (a list, or one string)."
fn roles(request: &Request) -> Vec<String> {
    let own = request.claims.as_ref().filter(|claims| claims["sub"] == request.body["subject"]);
    let given = match own {
        // "A claim of the wrong type, or an empty one, is missing."
        Some(claims) => claim(claims, ROLES_CLAIM).filter(|roles| roles.as_str() != Some("")),
        None => request.body["attributes"]["user"].get("roles"),
    };
    match given {
        Some(Value::String(role)) => vec![role.clone()],
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// "First as one literal claim name, then as a path"; a claim that is `null` counts as absent.
fn claim<'c>(claims: &'c Value, path: &str) -> Option<&'c Value> {
    let mut found = claims.get(path);
    if found.is_none() {
        found = Some(claims);
        for segment in path.split('.') {
            found = found.and_then(|node| node.get(segment));
        }
    }
    found.filter(|value| !value.is_null())
}

/// Returns the value of the attribute `path`, if it is present.
pub(crate) fn attribute(path: &str, request: &Request) -> Option<Value> {
    let (kind, name) = path.split_once('.').expect("every generated path has a kind");
    match kind {
        "user" | "resource" | "action" | "context" => {
            request.body["attributes"][kind].get(name).filter(|value| !value.is_null()).cloned()
        }
        "token" => claim(request.claims.as_ref()?, name).cloned(),
        _ => Some(match name {
            "subject" | "resource" | "action" => request.body[name].clone(),
            // The resource without its last part.
            "object" => request.resource().rsplit_once(':').map(|(object, _)| object).into(),
            "domain" => request.domain().into(),
            "time" => request.now.as_str().into(),
            _ => roles(request).into(),
        }),
    }
}

/// Returns the candidate that decides, by the truths of the conditions, and the reason why it applies.
pub(crate) fn abac<'p>(
    candidates: impl Iterator<Item = (&'p AbacPolicy, Truth)>,
) -> Option<Answer> {
    let applying: Vec<(&AbacPolicy, Truth)> =
        candidates.filter(|(policy, truth)| applies(policy.effect, *truth)).collect();
    let highest = applying.iter().map(|(policy, _)| policy.priority).max()?;
    let at_top: Vec<_> = applying.iter().filter(|(policy, _)| policy.priority == highest).collect();
    let denied = at_top.iter().any(|(policy, _)| policy.effect == DENY);
    let effect = if denied { DENY } else { ALLOW };
    let deciding = at_top.iter().filter(|(policy, _)| policy.effect == effect);
    let (policy, truth) = deciding.min_by_key(|(policy, _)| policy.id)?;
    let decided_by = match truth {
        Truth::Undetermined => DecidedBy::UndeterminedPolicy,
        _ => DecidedBy::Policy,
    };
    Some(Answer { effect, matched_rule_id: policy.id.to_string(), decided_by })
}

/// Returns the truth of a policy. A stored tree that does not compile is undetermined.
fn policy_truth(policy: &AbacPolicy, request: &Request) -> Truth {
    policy.tree.as_ref().map_or(Truth::Undetermined, |tree| truth(tree, request))
}

/// "A candidate applies when true; an undetermined deny also applies; an undetermined allow does not."
pub(crate) fn applies(effect: EffectName, truth: Truth) -> bool {
    match truth {
        Truth::True => true,
        Truth::False => false,
        Truth::Undetermined => effect == DENY,
    }
}
