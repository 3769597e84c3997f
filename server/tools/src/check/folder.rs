//! Decides a check with the files of a tenant folder.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use portcullis_bundle::{Bundle, FolderFacts, FolderQuestion, SampleUser, explained, look_up};
use portcullis_engine::resource::object_of;
use portcullis_engine::{
    Check, CheckBody, Decision, Effect, Explanation, Invalid, Json, Judged, Plan, ResourcePattern,
    TenantFacts,
};
use portcullis_model::hint::Hint;
use portcullis_model::resource::doubt_about_resource;
use portcullis_model::types::{NewType, declared_types};
use portcullis_operations::directory::ExplainedRelation;
use portcullis_operations::explained_checks::{ExplainedCheck, ExplainedRelations};
use portcullis_operations::hints::{HintFacts, hints, inputs_of_relations, unnamed_resource};
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
    let terms = bundle.settings.checks;
    // The terms of checks are a setting, which the facts of the rulebook do not have.
    let facts = TenantFacts { terms, ..(**bundle.rulebook.facts()).clone() };
    let plan = bundle.rulebook.plan(body.resource).with_facts(Arc::new(facts));
    let sent = Check::new(body, domain, caller.map(SampleUser::caller), now);
    if let Some(expected) = terms.actions.fault_of_check(sent.action, sent.resource) {
        return Err(Invalid::expected("/action", expected).into());
    }
    // No case adds tuples, so only those of the folder count.
    let facts = FolderFacts { rulebook: &bundle.rulebook, tuples: Some(&[]) };
    let mut question = FolderQuestion::combined(&plan, &facts, sent);
    let decision = match question.judge()? {
        Judged::Decided(decision) => decision,
        // No resolver is called.
        Judged::NeedsRelations(_) | Judged::NeedsAnswers(_) => question.settle(),
    };
    let mut reason = decision.reason();
    if explain && decision.rule_id().is_none() {
        reason += &doubt_about(bundle, sent.resource);
    }
    let mut answer = json!({
        "decision": decision.effect().to_string(),
        "matched_rule": bundle.rulebook.name(decision.rule_id()),
        "reason": reason,
    });
    if explain {
        answer["explanation"] = explanation(bundle, &mut question, &decision)?;
    } else {
        let hints = explained(&mut question, decision.rule_id(), |explanation| {
            hints_of(bundle, &plan, &sent, &explanation)
        });
        answer["hints"] = serde_json::to_value(hints?).context("the hints")?;
    }
    Ok(answer)
}

/// Returns the explanation of a decision as the service shows it, with the paths of relations.
fn explanation(
    bundle: &Bundle,
    question: &mut FolderQuestion<'_>,
    decision: &Decision<'_>,
) -> anyhow::Result<Value> {
    let names: Vec<Box<str>> = question.plan.relations().map(Box::from).collect();
    // The decision may have needed only some of the relations, but the explanation shows all.
    look_up(question, &names)?;
    let (check, answers) = (question.completed(), question.answers());
    let mut relations = ExplainedRelations::new();
    let names = names.iter().map(|name| &**name);
    let rulebook = question.facts.rulebook;
    rulebook.explain_relations(&question.sent, names, answers, |name, explanation| {
        relations.insert(name.to_owned(), ExplainedRelation::new(explanation));
    });
    // The search for changes is costly, and an allow needs none.
    let is_denied = decision.effect() == Effect::Deny;
    let changes = is_denied.then(|| question.plan.would_allow(&check, answers));
    let explanation = question.plan.explain(&check, answers, decision.rule_id());
    let hints = hints_of(bundle, question.plan, &question.sent, &explanation);
    let check = ExplainedCheck::new(explanation, &relations, changes).with_hints(hints);
    serde_json::to_value(check).context("the explanation")
}

/// Returns the hints about a check, as a service has them.
fn hints_of(
    bundle: &Bundle,
    plan: &Plan,
    sent: &Check<'_>,
    explanation: &Explanation<'_>,
) -> Vec<Hint> {
    let types = declared_types(bundle.types.iter().flatten().map(NewType::declared));
    let pattern = ResourcePattern::Name(object_of(sent.resource).to_owned());
    let registered: Vec<String> = bundle.resources.iter().map(|one| one.name.clone()).collect();
    let facts = HintFacts {
        entities: bundle.entities.as_ref().map(|_| bundle.rulebook.entities()),
        types: &types,
        inputs: &inputs(bundle, sent.resource_type()),
        is_named: is_named(bundle, sent.resource) || patterns(bundle).any(|one| *one == pattern),
        registered: &registered,
    };
    hints(&facts, plan, sent, explanation)
}

/// Returns the attributes that resolvers read, and those of an object of the type `kind` that stand for tuples.
fn inputs(bundle: &Bundle, kind: &str) -> BTreeSet<String> {
    let own = bundle.types.iter().flatten().filter(|one| one.kind == kind);
    let of_relations = inputs_of_relations(own.map(|one| &one.relations));
    let of_resolvers = bundle.resolvers.iter().flat_map(|one| one.inputs.clone());
    of_relations.into_iter().chain(of_resolvers).collect()
}

/// Returns the hint about a resource that is not registered and that no rule and no policy matches, as a check has it.
pub(crate) fn hint_about_resource(bundle: &Bundle, resource: &str) -> Option<String> {
    let is_known = is_named(bundle, resource) || patterns(bundle).any(|one| one.matches(resource));
    let registered: Vec<String> = bundle.resources.iter().map(|one| one.name.clone()).collect();
    (!is_known).then(|| unnamed_resource(resource, &registered))
}

/// Returns the resources of rules and policies.
fn patterns(bundle: &Bundle) -> impl Iterator<Item = &ResourcePattern> {
    let rules = bundle.rules.iter().map(|rule| &rule.tuple.obj);
    rules.chain(bundle.policies.iter().map(|policy| &policy.resource))
}

/// Returns whether a resource is registered, or a rule or policy names it.
fn is_named(bundle: &Bundle, resource: &str) -> bool {
    let exact = ResourcePattern::Exact(resource.to_owned());
    patterns(bundle).any(|pattern| *pattern == exact)
        || bundle.resources.iter().any(|registered| registered.name == resource)
}

/// Returns the end of the reason of a denial by default, as a service has it (`docs/semantics.md`, section 2.8).
fn doubt_about(bundle: &Bundle, resource: &str) -> String {
    let names = bundle.resources.iter().map(|registered| &*registered.name);
    doubt_about_resource(resource, is_named(bundle, resource), names)
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
