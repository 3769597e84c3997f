//! Bar 10: searches among 100,000 and 1,000,000 entities, of which indexes of the entities serve at most half of the
//! policies.

use std::hint::black_box;

use anyhow::{Result, anyhow, ensure};
use chrono::DateTime;
use portcullis_engine::Number;
use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_engine::json::{self, Member};
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Effect, Json, Plan, Policy, ResourcePattern, Verdict,
    expression,
};
use portcullis_workloads::DOMAIN;
use portcullis_workloads::measure::load_time;
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

const RESOURCE: &str = "chart:read";
const TYPE: &str = "chart";
/// A quarter of the policies each: of the entity by equality, of the entity by comparison with the user, of both, and of
/// the user alone.
const POLICIES: usize = 200;
const WARDS: usize = 1_000;
/// The results of a first page.
const PAGE: usize = 100;
/// The entities whose outcomes are compared with checks.
const COMPARED: usize = 2_000;

fn plan() -> Result<Plan> {
    let policies: Result<Vec<Policy>> = (0..POLICIES).map(policy).collect();
    Ok(Plan::compile(RESOURCE, 1, &[], policies?))
}

fn policy(number: usize) -> Result<Policy> {
    let (ward, level) = (number * 7 % WARDS, number % 9);
    let text = match number % 4 {
        0 => format!(r#"resource.ward == "ward-{ward}" && user.level >= {level}"#),
        1 => format!(
            "resource.level <= user.level && resource.region != user.region && resource.age < {}",
            number / 20
        ),
        2 => format!(
            "(resource.owner == request.subject || resource.age > {}) && user.level >= {level}",
            95 + level
        ),
        _ => format!(r#"user.department == "department-{number}" && user.level >= {level}"#),
    };
    Ok(Policy {
        id: Uuid::from_u128(number as u128),
        name: format!("policy {number}"),
        resource: ResourcePattern::Exact(RESOURCE.to_owned()),
        effect: if number.is_multiple_of(10) { Effect::Deny } else { Effect::Allow },
        priority: i32::from(number.is_multiple_of(10)),
        condition: Ok(expression::parse(&text).map_err(|fault| anyhow!("{fault}"))?),
    })
}

fn properties(number: usize) -> Vec<Member<'static>> {
    let text = |text: String| Json::String(text.into());
    let small = |number: usize| Json::Number(Number::from(number as u64));
    vec![
        ("ward".into(), text(format!("ward-{}", number % WARDS))),
        ("owner".into(), text(format!("user-{}", number / 7))),
        ("region".into(), text(format!("region-{}", number % 5))),
        ("level".into(), small(number % 10)),
        ("age".into(), small(number % 101)),
    ]
}

fn table(count: usize) -> Result<EntityTable> {
    let mut builder = EntityTable::builder();
    for number in 0..count {
        let (id, properties) = (format!("c-{number:08}"), properties(number));
        builder.push(&EntityInput {
            entity_type: TYPE,
            id: &id,
            roles: &[],
            domain_roles: &[],
            properties: &properties,
        })?;
    }
    Ok(builder.finish()?)
}

/// The body of the known part: with a subject that may read most charts, or only a few.
fn body(level: usize) -> String {
    format!(
        r#"{{"subject": "user-17", "resource": "{RESOURCE}", "action": "read", "attributes": {{
            "user": {{"level": {level}, "region": "region-2", "department": "department-3"}}}}}}"#
    )
}

/// Returns the number of results, of at most `most`.
fn count(plan: &Plan, check: &Check<'_>, table: &EntityTable, most: usize) -> usize {
    let input =
        SearchInput { check, searched: Searched::Resource, entities: None, is_given: false };
    let search = EntitySearch::new(plan, input);
    let found = search.entities(table, TYPE, None, &[]).filter(|entity| {
        let candidate = SearchCandidate::for_resource(entity.id(), entity.properties());
        matches!(search.decide(&candidate), SearchOutcome::Allowed(_))
    });
    black_box(found.take(most).count())
}

/// Asserts that the first entities have the outcomes of checks.
fn compare(plan: &Plan, level: usize, table: &EntityTable) -> Result<()> {
    let text = body(level);
    let known = json::parse(text.as_bytes())?;
    let check = Check::new(CheckBody::parse(&known)?, DOMAIN, None, DateTime::UNIX_EPOCH);
    let input = SearchInput {
        check: &check,
        searched: Searched::Resource,
        entities: None,
        is_given: false,
    };
    let search = EntitySearch::new(plan, input);
    for entity in table.for_type(TYPE, None).take(COMPARED) {
        let candidate = SearchCandidate::for_resource(entity.id(), entity.properties());
        let found = matches!(search.decide(&candidate), SearchOutcome::Allowed(_));
        let mut whole = check;
        whole.attributes.resource =
            portcullis_engine::request::AttributeMap::from_entity(entity.properties());
        let Verdict::Decided(decision) = plan.decide(&whole, &AttributeAnswers::default()) else {
            continue;
        };
        ensure!(found == (decision.effect() == Effect::Allow), "{} differs", entity.id());
    }
    Ok(())
}

pub(crate) fn search(group: &mut Group<'_>) -> Result<()> {
    let plan = plan()?;
    for (size, all) in [(100_000, 100.0), (1_000_000, 1_000.0)] {
        let table = table(size)?;
        for (level, who) in [(5, "a subject of level 5"), (0, "a subject of level 0")] {
            compare(&plan, level, &table)?;
            let text = body(level);
            let known = json::parse(text.as_bytes())?;
            let check = Check::new(CheckBody::parse(&known)?, DOMAIN, None, DateTime::UNIX_EPOCH);
            let found = count(&plan, &check, &table, usize::MAX);
            let milliseconds =
                |most| load_time(|| count(&plan, &check, &table, most)).as_secs_f64() * 1e3;
            let what = format!("{size} entities, {who}, {found} results");
            group.measurement(
                format!("{what}: all"),
                milliseconds(usize::MAX),
                " ms",
                Bar::AtMost(all),
            );
            group.measurement(
                format!("{what}: the first {PAGE}"),
                milliseconds(PAGE),
                " ms",
                Bar::AtMost(20.0),
            );
        }
        let bytes = table.weight() as f64 / size as f64;
        group.measurement(
            format!("{size} entities: bytes each, with five properties"),
            bytes,
            " B",
            Bar::Shown,
        );
    }
    Ok(())
}
