//! Decides a check with the files of a tenant folder.

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use portcullis_bundle::{Bundle, FolderFacts, FolderQuestion, SampleUser, look_up};
use portcullis_engine::{Check, CheckBody, Decision, Effect, Json, Judged, ResourcePattern};
use portcullis_model::resource::doubt_about_resource;
use portcullis_operations::directory::ExplainedRelation;
use portcullis_operations::explained_checks::{ExplainedCheck, ExplainedRelations};
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
        answer["explanation"] = explanation(&mut question, &decision)?;
    }
    Ok(answer)
}

/// Returns the explanation of a decision as the service shows it, with the paths of relations.
fn explanation(
    question: &mut FolderQuestion<'_>,
    decision: &Decision<'_>,
) -> anyhow::Result<Value> {
    let names: Vec<Box<str>> = question.plan.relations().map(Box::from).collect();
    look_up(question, &names)?;
    let (check, answers) = (question.completed(), question.answers());
    let mut relations = ExplainedRelations::new();
    let names = names.iter().map(|name| &**name);
    let rulebook = question.facts.rulebook;
    rulebook.explain_relations(&question.sent, names, answers, |name, explanation| {
        relations.insert(name.to_owned(), ExplainedRelation::new(explanation));
    });
    let is_denied = decision.effect() == Effect::Deny;
    let changes = is_denied.then(|| question.plan.would_allow(&check, answers));
    let explanation = question.plan.explain(&check, answers, decision.rule_id());
    let explained = ExplainedCheck::new(explanation, &relations, changes);
    serde_json::to_value(explained).context("the explanation")
}

/// Returns the end of the reason of a denial by default, as a service has it (`docs/semantics.md`, section 2.8).
fn doubt_about(bundle: &Bundle, resource: &str) -> String {
    let rules = bundle.rules.iter().map(|rule| &rule.tuple.obj);
    let mut named = rules.chain(bundle.policies.iter().map(|policy| &policy.resource));
    let is_named = named.any(|pattern| *pattern == ResourcePattern::Exact(resource.to_owned()));
    let names = || bundle.resources.iter().map(|registered| &*registered.name);
    doubt_about_resource(resource, is_named || names().any(|name| name == resource), names())
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
