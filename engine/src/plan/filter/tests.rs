//! Filters, as text.

use super::{KnownValues, RowAttributes};
use crate::invalid::{Place, Problems};
use crate::json;
use crate::plan::Plan;
use crate::plan::matrix::Outcome;
use crate::policy::Policy;
use crate::rbac::Effect;
use crate::request::{Check, CheckBody};
use crate::resolution::{AttributeAnswer, AttributeAnswers};
use crate::resource::ResourcePattern;
use crate::{expression, invalid};

const REQUEST: &str = r#"{"subject": "dana", "resource": "doc:read", "action": "read", "attributes": {
    "user": {"level": 3, "wards": ["er", 7], "roles": ["nurse"]}, "resource": {"kind": "note"}}}"#;

fn plan(policies: &[(Effect, &str)]) -> Result<Plan, invalid::Fault> {
    let policies = (1..).zip(policies).map(|(id, (effect, text))| {
        Ok(Policy {
            id: uuid::Uuid::from_u128(id),
            name: format!("policy {id}"),
            resource: ResourcePattern::Any,
            effect: *effect,
            priority: 0,
            condition: Ok(expression::parse(text)?),
        })
    });
    let policies: Result<Vec<_>, invalid::Fault> = policies.collect();
    Ok(Plan::compile("doc:read", 1, &[], policies?))
}

/// Returns the outcome as text, the paths it reads, and the known values that it names.
fn shown(
    plan: &Plan,
    answers: &AttributeAnswers,
    rows: &RowAttributes,
) -> (String, Vec<String>, KnownValues) {
    let body = json::parse(REQUEST.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
    let filter = plan.filter(&check, answers, rows);
    let text = match &filter.outcome {
        Outcome::Allow => "allow".to_owned(),
        Outcome::Deny => "deny".to_owned(),
        Outcome::Depends(residual) => residual.text().unwrap_or("too large").to_owned(),
    };
    let reads = filter.reads().iter().map(ToString::to_string).collect();
    (text, reads, filter.known)
}

#[test]
fn known_values_take_the_place_of_their_attributes() -> Result<(), invalid::Fault> {
    for (condition, expected) in [
        ("resource.owner == request.subject", r#"resource.owner == "dana""#),
        ("request.subject == resource.owner", r#"resource.owner == "dana""#),
        ("user.level >= resource.level", "resource.level <= 3"),
        ("user.level < resource.level", "resource.level > 3"),
        ("user.wards contains resource.ward", r#"resource.ward in ["er", 7]"#),
        ("request.roles contains resource.role", r#"resource.role in ["nurse"]"#),
        (r#"resource.kind == "note" && resource.open == true"#, "resource.open == true"),
        (r#"resource.kind == "file" && resource.open == true"#, "deny"),
        ("user.nobody == 1 || resource.open == true", "resource.open == true"),
        // No literal has this place.
        ("request.subject in resource.readers", "request.subject in resource.readers"),
        (
            "request.subject starts_with resource.prefix",
            "request.subject starts_with resource.prefix",
        ),
    ] {
        let plan = plan(&[(Effect::Allow, condition)])?;
        let rows = RowAttributes::resource();
        let (text, ..) = shown(&plan, &AttributeAnswers::default(), &rows);
        assert_eq!(text, expected, "{condition}");
    }
    Ok(())
}

#[test]
fn values_without_a_place_are_listed() -> Result<(), invalid::Fault> {
    let plan = plan(&[(Effect::Allow, "request.subject in resource.readers")])?;
    let rows = RowAttributes::resource();
    let (_, reads, known) = shown(&plan, &AttributeAnswers::default(), &rows);
    assert_eq!(reads, ["resource.readers"]);
    let known: Vec<_> = known.iter().map(|(path, _)| path.to_owned()).collect();
    assert_eq!(known, ["request.subject"]);
    Ok(())
}

#[test]
fn resolvers_that_can_change_the_outcome_are_requested() -> Result<(), invalid::Fault> {
    let plan = plan(&[(Effect::Allow, r#"geo.country == "DE" && resource.open == true"#)])?;
    let body = json::parse(REQUEST.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
    let rows = RowAttributes::resource();
    let filter = plan.filter(&check, &AttributeAnswers::default(), &rows);
    assert_eq!(filter.requests.len(), 1);
    let country = json::parse(br#""FR""#).expect("JSON");
    let mut answers = AttributeAnswers::default();
    answers.insert("geo", "country", AttributeAnswer::Value(country));
    assert_eq!(shown(&plan, &answers, &rows).0, "deny");
    Ok(())
}

#[test]
fn rows_supply_what_the_list_names() {
    let read = |text: &str| {
        let json = json::parse(text.as_bytes()).expect("JSON");
        let mut problems = Problems::default();
        let rows = RowAttributes::read(&json, &Place::root(), &mut problems);
        problems.finish(rows)
    };
    let path = |text: &str| crate::condition::AttributePath::parse(text).expect("a path");
    let rows = read(r#"["resource", "user.ward"]"#).expect("rows");
    for (attribute, expected) in [
        ("resource.owner", true),
        ("user.ward", true),
        ("user.level", false),
        ("request.subject", false),
        ("token.ward", false),
    ] {
        assert_eq!(rows.has(&path(attribute)), expected, "{attribute}");
    }
    assert!(rows.has_input("resource", "*") && rows.has_input("user", "*"));
    assert!(!rows.has_input("user", "level"));
    assert!(!read(r#"["user"]"#).expect("rows").has(&path("user.roles")));
    for refused in ["[]", "{}", r#"["token"]"#, r#"["user.roles"]"#, r#"["request.subject"]"#] {
        assert!(read(refused).is_err(), "{refused}");
    }
}
