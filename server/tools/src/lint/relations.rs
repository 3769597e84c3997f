//! Relations that nobody can have, denies that an absent claim switches on, and subjects that look like subjects of tuples.

use portcullis_bundle::{Bundle, ItemKind};
use portcullis_engine::condition::AttributePath;
use portcullis_engine::entities::USER;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::relation::{RELATION, relation_of_subject};
use portcullis_engine::{Condition, Effect, Json, ResourcePattern};

use super::code::LintCode;
use super::finding::{Doubt, LintSubject};

/// Returns the findings about relations of types, and about subjects of rules and cases, if there are types.
pub(super) fn doubts(bundle: &Bundle) -> Vec<Doubt> {
    let types = bundle.types.as_deref().unwrap_or_default();
    if types.is_empty() {
        return Vec::new();
    }
    let mut doubts = Vec::new();
    for (name, relation) in bundle.rulebook.relations_of_nobody() {
        // A finding stands at an item of the file, and the relation is known by its type alone.
        let Some(index) = types.iter().position(|one| one.kind == name) else { continue };
        doubts.push(Doubt {
            code: LintCode::NobodyHas,
            subject: LintSubject::Item(ItemKind::Type, index, "/relations"),
            message: format!("nobody can have `{relation}` of `{name}`, whatever is stored"),
            advice: "say in `[…]` who can be stored, such as `[user]`, or delete the relation"
                .to_owned(),
        });
    }
    let rules = bundle.rules.iter().enumerate();
    doubts.extend(rules.filter_map(|(index, rule)| {
        let what = format!("the rule `{}`", rule.tuple);
        let subject = LintSubject::Item(ItemKind::Rule, index, "/sub");
        mistaken(bundle, subject, &what, &rule.tuple.sub)
    }));
    doubts.extend(denies(bundle).filter_map(|deny| deny.doubt(bundle)));
    let cases = bundle.cases.iter().enumerate();
    doubts.extend(cases.filter_map(|(index, case)| {
        let sub = case.check.get("subject").and_then(Json::as_str)?;
        let what = format!("the case {}", quoted(&case.name));
        let subject = LintSubject::Item(ItemKind::Case, index, "/check/subject");
        mistaken(bundle, subject, &what, sub)
    }));
    doubts
}

/// A rule or an enabled policy that denies, with the relations that it reads.
struct Deny<'b> {
    subject: LintSubject,
    what: String,
    resource: &'b ResourcePattern,
    /// Without the namespace.
    relations: Vec<&'b str>,
}

/// Returns everything that denies by relations.
fn denies(bundle: &Bundle) -> impl Iterator<Item = Deny<'_>> {
    let rules = bundle.rules.iter().enumerate();
    let rules = rules.filter(|(_, rule)| rule.effect == Effect::Deny).map(|(index, rule)| Deny {
        subject: LintSubject::Item(ItemKind::Rule, index, "/sub"),
        what: format!("rule `{}`", rule.tuple),
        resource: &rule.tuple.obj,
        relations: relation_of_subject(&rule.tuple.sub).into_iter().collect(),
    });
    let policies = bundle.policies.iter().enumerate();
    let policies = policies.filter(|(_, it)| it.enabled && it.effect == Effect::Deny);
    rules.chain(policies.map(|(index, policy)| Deny {
        subject: LintSubject::Item(ItemKind::Policy, index, ""),
        what: format!("policy {}", quoted(&policy.name)),
        resource: &policy.resource,
        relations: relations_of(&policy.rule_data.condition),
    }))
}

/// Returns the relations that a condition reads.
fn relations_of(condition: &Condition) -> Vec<&str> {
    let names = condition.attributes().filter_map(|path| match path {
        AttributePath::Resolver(one) if *one.namespace == *RELATION => Some(&*one.name),
        _ => None,
    });
    names.collect()
}

impl Deny<'_> {
    /// Returns the finding if an absent claim leaves a relation undetermined.
    fn doubt(self, bundle: &Bundle) -> Option<Doubt> {
        let Self { subject, what, resource, relations } = self;
        let rulebook = &bundle.rulebook;
        let claims = relations.iter();
        let mut claims = claims.flat_map(|name| rulebook.claims_that_may_be_absent(name, resource));
        // One claim is enough for a finding, and the message names only this one.
        let claim = claims.next()?;
        Some(Doubt {
            code: LintCode::ClaimMayBeAbsent,
            subject,
            message: format!(
                "{what} may deny whoever has a token without the claim {}, and whoever is not the caller",
                quoted(claim)
            ),
            advice: format!(
                "write `claim: {{name: {claim}, absent: nobody}}` if such a subject has the relation by tuples alone, or silence this"
            ),
        })
    }
}

/// Returns the finding about a subject that is written as a tuple names a user, unless there is a user of this name.
fn mistaken(bundle: &Bundle, subject: LintSubject, what: &str, sub: &str) -> Option<Doubt> {
    // Other types are written before the id in checks too, so only a user can be a mistake.
    let (_, id) = sub.split_once(':').filter(|(kind, _)| *kind == USER)?;
    if bundle.user(sub).is_some() {
        return None;
    }
    Some(Doubt {
        code: LintCode::MistakenSubject,
        subject,
        message: format!(
            "{what} names {}, who is not {}: only tuples write the type of a user",
            quoted(sub),
            quoted(id)
        ),
        advice: format!("write {}", quoted(id)),
    })
}
