//! The cost of what is behind references: of each step of a check, and of a search among a million comments by their tickets.

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use chrono::DateTime;
use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_engine::json::{self, Member};
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::{
    Check, CheckBody, DirectoryNeeds, Effect, Facts, Json, KnownEntities, KnownProperty,
    OpenQuestion, Plan, Policy, Precedence, Related, ResourcePattern, TenantFacts, expression,
};
use portcullis_workloads::DOMAIN;
use portcullis_workloads::measure::{Samples, Variant, compare};
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

const RESOURCE: &str = "comment:read";
/// The comments whose checks are timed.
const ASKED: usize = 1_000;
/// The comments that are searched, of a ticket, and of a team, which have tickets of their own.
const COMMENTS: usize = 1_000_000;
const OF_A_TICKET: usize = 10;
const OF_A_TEAM: usize = 100;

/// A property of the comment, of its ticket, and of the owner of that; the most nanoseconds above the first.
const STEPS: [(&str, &str, Option<f64>); 3] = [
    ("of the comment", "resource.team", None),
    ("one step", "resource.ticket.team", Some(60.0)),
    ("two steps", "resource.ticket.owner.team", Some(120.0)),
];

/// The references: type, property, and the type that it refers to.
const REFERENCES: [(&str, &str, &str); 2] =
    [("comment", "ticket", "ticket"), ("ticket", "owner", "user")];

/// The live directory.
struct Live(EntityTable);

impl Facts for Live {
    type Work = ();
    type Fault = Infallible;

    fn entities(&self) -> Option<&EntityTable> {
        Some(&self.0)
    }

    fn known(&self, sent: &Check<'_>, needs: DirectoryNeeds) -> KnownEntities<'_> {
        KnownEntities::find(&self.0, sent, needs)
    }

    fn related(
        &self,
        _: &TenantFacts,
        _: &Check<'_>,
        _: &[Box<str>],
        (): &mut (),
    ) -> Result<Related, Infallible> {
        Ok(Related::Unasked)
    }
}

impl Live {
    /// Makes a directory of comments with their tickets, teams and owners.
    fn new(comments: usize) -> Result<Self> {
        let mut builder = EntityTable::builder();
        let mut push = |entity_type: &str, id: String, properties: &[(&str, String)]| {
            let properties: Vec<Member<'_>> = properties
                .iter()
                .map(|(name, value)| ((*name).into(), Json::String(value.into())))
                .collect();
            let (roles, domain_roles) = (&[][..], &[][..]);
            builder.push(&EntityInput {
                entity_type,
                id: &id,
                roles,
                domain_roles,
                properties: &properties,
            })
        };
        let team = |comment: usize| ("team", format!("team-{}", comment / OF_A_TEAM));
        for ticket in 0..comments.div_ceil(OF_A_TICKET) {
            let team = team(ticket * OF_A_TICKET);
            push("user", format!("u-{ticket}"), std::slice::from_ref(&team))?;
            push("ticket", format!("t-{ticket}"), &[team, ("owner", format!("u-{ticket}"))])?;
        }
        for comment in 0..comments {
            let ticket = ("ticket", format!("t-{}", comment / OF_A_TICKET));
            push("comment", format!("c-{comment}"), &[team(comment), ticket])?;
        }
        Ok(Self(builder.finish()?))
    }
}

/// Makes a plan whose one policy allows the first team's comments.
fn plan(attribute: &str) -> Result<Plan> {
    let condition = expression::parse(&format!(r#"{attribute} == "team-0""#));
    let policy = Policy {
        id: Uuid::from_u128(1),
        name: attribute.to_owned(),
        resource: ResourcePattern::Exact(RESOURCE.to_owned()),
        effect: Effect::Allow,
        priority: 0,
        condition: Ok(condition.map_err(|fault| anyhow!("{fault}"))?),
    };
    let references = REFERENCES.map(|(of, name, to)| {
        let known = KnownProperty { from: None, to: Some(to.into()) };
        (of.to_owned(), vec![(name.to_owned(), known)])
    });
    let facts = TenantFacts {
        directory: Some(Precedence::Request),
        sources: references.into_iter().collect(),
        ..TenantFacts::default()
    };
    Ok(Plan::compile(RESOURCE, 1, &[], [policy]).with_facts(Arc::new(facts)))
}

/// Returns the body of a check, about a comment if there is one.
fn body(comment: Option<usize>) -> Result<Json<'static>> {
    let object = comment.map(|comment| format!(r#""id": "c-{comment}""#)).unwrap_or_default();
    let body = format!(
        r#"{{"subject": "ann", "resource": "{RESOURCE}", "action": "read", "attributes": {{"resource": {{{object}}}}}}}"#
    );
    Ok(json::parse(body.as_bytes())?.into_owned())
}

fn check(body: CheckBody<'_>) -> Check<'_> {
    Check::new(body, DOMAIN, None, DateTime::UNIX_EPOCH)
}

pub(crate) fn references(group: &mut Group<'_>) -> Result<()> {
    steps(group)?;
    search(group)
}

/// Bars 13: each step to a related object.
fn steps(group: &mut Group<'_>) -> Result<()> {
    let directory = Live::new(ASKED)?;
    let bodies: Vec<Json<'static>> = (0..ASKED).map(|id| body(Some(id))).collect::<Result<_>>()?;
    let checks = bodies.iter().map(|body| Ok(check(CheckBody::parse(body)?)));
    let checks: Vec<Check<'_>> = checks.collect::<Result<_>>()?;
    let plans = STEPS.map(|(_, attribute, _)| plan(attribute));
    let allows = |plan: &Plan, n: usize| {
        let question = OpenQuestion::combined(plan, &directory, checks[n]);
        Ok(question.settle().effect() == Effect::Allow)
    };
    let right = || (0..ASKED).map(|comment| comment < OF_A_TEAM);
    let mut variants = Vec::new();
    for ((name, ..), plan) in STEPS.iter().zip(&plans) {
        let plan = plan.as_ref().map_err(|fault| anyhow!("{fault}"))?;
        variants.push(Variant::checked(*name, right(), move |n| allows(plan, n))?);
    }
    let samples = compare(variants);
    group.times("a check", &samples);
    let own = samples.first().map_or(0.0, Samples::ns);
    for ((name, _, most), sample) in STEPS.iter().zip(&samples) {
        let Some(most) = most else { continue };
        let what = format!("{name}, above a property of the object");
        group.measurement(what, sample.ns() - own, " ns", Bar::AtMost(*most));
    }
    Ok(())
}

/// Returns the number of comments that a search finds.
fn found(plan: &Plan, check: &Check<'_>, table: &EntityTable) -> usize {
    let entities = Some(table);
    let input = SearchInput { check, searched: Searched::Resource, entities, is_given: false };
    let search = EntitySearch::new(plan, input);
    let found = search.entities(table, "comment", None, &[]).filter(|entity| {
        let candidate = SearchCandidate::for_resource(entity.id(), entity.properties());
        matches!(search.decide(&candidate), SearchOutcome::Allowed(_))
    });
    found.count()
}

/// Bar 13: a search through a reference.
fn search(group: &mut Group<'_>) -> Result<()> {
    let Live(table) = Live::new(COMMENTS)?;
    let body = body(None)?;
    let check = check(CheckBody::parse(&body)?);
    let (own, behind) = (plan(STEPS[0].1)?, plan(STEPS[1].1)?);
    for plan in [&own, &behind] {
        // The first search makes the indexes.
        let found = found(plan, &check, &table);
        ensure!(found == OF_A_TEAM, "{found} comments");
    }
    let samples = compare(vec![
        Variant::new("of the comment", 1, |_| found(&own, &check, &table)),
        Variant::new("of its ticket", 1, |_| found(&behind, &check, &table)),
    ]);
    let what = format!("{OF_A_TEAM} of {COMMENTS} comments");
    group.times(&what, &samples);
    let ratio = samples[1].ratio(&samples[0]);
    group.measurement(format!("{what}: ticket / comment"), ratio, "", Bar::AtMost(2.0));
    Ok(())
}
