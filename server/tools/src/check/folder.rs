//! Decides a check with the files of a tenant folder.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use portcullis_bundle::{Bundle, SampleUser};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Counterfactuals, Effect, ExplainedAttribute, Explanation,
    Json, ResourcePattern, Verdict,
};
use portcullis_model::resource::unregistered;
use portcullis_operations::directory::{AttributeWithRelation, ExplainedRelation};
use serde_json::{Value, json};

/// Returns the answer as the service would give it, with the name of what decided in place of its id.
///
/// # Errors
/// The folder has no such user.
pub(super) fn decide(
    bundle: &Bundle,
    user: Option<&str>,
    body: &Json<'_>,
    explain: bool,
    now: DateTime<Utc>,
) -> anyhow::Result<Value> {
    let body = CheckBody::parse(body)?;
    let caller = caller(bundle, user, body.subject)?;
    let domain = body.domain.unwrap_or(&bundle.tenant);
    let plan = bundle.rulebook.plan(body.resource);
    let sent = Check::new(body, domain, caller.map(SampleUser::caller), now);
    let supply = bundle.rulebook.supply(&plan, &sent);
    let check = supply.as_ref().map_or(sent, |supply| supply.complete(sent));
    let mut answers = AttributeAnswers::default();
    if let Verdict::NeedsAttributes(requests) = plan.decide(&check, &answers) {
        for request in requests.iter().filter(|request| bundle.rulebook.asks_relations(request)) {
            answers.extend(bundle.rulebook.relation_answers(&sent, &[], &request.attributes)?);
        }
    }
    let decision = plan.evaluate_with(&check, &answers);
    let mut reason = decision.reason();
    if explain && decision.rule_id().is_none() {
        reason += &doubt_about(bundle, check.resource);
    }
    let mut answer = json!({
        "decision": decision.effect().to_string(),
        "matched_rule": bundle.rulebook.name(decision.rule_id()),
        "reason": reason,
    });
    if explain {
        let answers = bundle.rulebook.with_all_relations(&plan, &sent, &[], answers)?;
        let explanation = plan.explain(&check, &answers, decision.rule_id());
        answer["explanation"] = shown(bundle, (&sent, &answers), explanation)?;
        if decision.effect() == Effect::Deny {
            let Counterfactuals { sets, is_complete } = plan.would_allow(&check, &answers);
            answer["explanation"]["would_allow"] = json!(sets);
            answer["explanation"]["would_allow_complete"] = json!(is_complete);
        }
    }
    Ok(answer)
}

/// Returns an explanation as the service shows it, with the paths of relations.
fn shown(
    bundle: &Bundle,
    (sent, answers): (&Check<'_>, &AttributeAnswers),
    explanation: Explanation<'_>,
) -> anyhow::Result<Value> {
    let Explanation { policies, rules, attributes } = explanation;
    let mut relations = BTreeMap::new();
    let names: Vec<&str> = attributes.iter().filter_map(|one| one.relation).collect();
    bundle.rulebook.explain_relations(sent, names.into_iter(), answers, |name, explanation| {
        relations.insert(name, ExplainedRelation::new(explanation));
    });
    let with_relation = |attribute: ExplainedAttribute<'_>| {
        let relation = attribute.relation.and_then(|name| relations.remove(name));
        serde_json::to_value(AttributeWithRelation { attribute, relation })
    };
    let attributes: Result<Vec<Value>, _> = attributes.into_iter().map(with_relation).collect();
    let attributes = attributes.context("the explanation")?;
    Ok(json!({"policies": policies, "rules": rules, "attributes": attributes}))
}

/// Returns the end of the reason of a denial by default, as a service has it (`docs/semantics.md`, section 2.8).
fn doubt_about(bundle: &Bundle, resource: &str) -> String {
    let names = || bundle.resources.iter().map(|resource| &*resource.name);
    let rules = bundle.rules.iter().map(|rule| &rule.tuple.obj);
    let mut named = rules.chain(bundle.policies.iter().map(|policy| &policy.resource));
    let is_it = |pattern: &ResourcePattern| matches!(pattern, ResourcePattern::Exact(name) if name == resource);
    if names().next().is_none() || names().any(|name| name == resource) || named.any(is_it) {
        return String::new();
    }
    unregistered(resource, names())
}

/// Returns whether roles of the request do not count: the subject is the caller, and has the roles of its token
/// (`docs/semantics.md`, section 2.3).
pub(super) fn has_own_roles(bundle: &Bundle, user: Option<&str>, subject: &str) -> bool {
    user.is_none_or(|user| user == subject) && bundle.user(subject).is_some()
}

/// Returns the user whose token the check comes with: the named one, or the subject if it is one.
fn caller<'b>(
    bundle: &'b Bundle,
    user: Option<&str>,
    subject: &str,
) -> anyhow::Result<Option<&'b SampleUser>> {
    let Some(name) = user else { return Ok(bundle.user(subject)) };
    let found = bundle.user(name);
    if found.is_none() {
        let known: Vec<&str> = bundle.users.iter().map(|user| &*user.sub).collect();
        bail!(
            "--user: there is no user `{name}`; the users of tenant.yaml are {}",
            known.join(", ")
        );
    }
    Ok(found)
}
