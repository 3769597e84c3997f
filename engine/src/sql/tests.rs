//! Conditions in SQL, as text.

use super::{Columns, Dialect, Placeholders, Sql, SqlParam, TooLarge, write};
use crate::invalid::{Invalid, Place, Problems};
use crate::json;
use crate::plan::Plan;
use crate::plan::filter::RowAttributes;
use crate::policy::Policy;
use crate::rbac::Effect;
use crate::request::{Check, CheckBody};
use crate::resolution::AttributeAnswers;
use crate::resource::ResourcePattern;
use crate::{expression, invalid};

const REQUEST: &str = r#"{"subject": "dana", "resource": "doc:read", "action": "read"}"#;
const COLUMNS: &str = r#"{
    "resource.owner": {"sql": "d.owner_id", "type": "text"},
    "resource.code": {"sql": "d.code", "type": "text", "nullable": false, "collation": "binary"},
    "resource.level": {"sql": "d.level", "type": "integer"},
    "resource.score": {"sql": "d.score", "type": "number", "nullable": false},
    "resource.open": {"sql": "d.open", "type": "boolean", "nullable": false},
    "resource.until": {"sql": "d.until", "type": "timestamptz"},
    "resource.tags": {"sql": "d.tags", "type": "text[]"}}"#;

fn columns(text: &str) -> Result<Columns, Invalid> {
    let json = json::parse(text.as_bytes()).expect("JSON");
    let mut problems = Problems::default();
    let columns = Columns::read(&json, &Place::root(), &mut problems);
    problems.finish(columns)
}

fn sql(policies: &[(Effect, &str)], dialect: Dialect) -> Result<Sql, TooLarge> {
    let policies = (1..).zip(policies).map(|(id, (effect, text))| Policy {
        id: uuid::Uuid::from_u128(id),
        name: format!("policy {id}"),
        resource: ResourcePattern::Any,
        effect: *effect,
        priority: i32::try_from(1_000_000 - id).unwrap_or_default(),
        condition: Ok(expression::parse(text).expect("an expression")),
    });
    let plan = Plan::compile("doc:read", 1, &[], policies);
    let body = json::parse(REQUEST.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
    let filter = plan.filter(&check, &AttributeAnswers::default(), &RowAttributes::resource());
    write(&filter, &columns(COLUMNS).expect("columns"), dialect, dialect.placeholders())
}

#[test]
fn conditions_have_exact_forms() -> Result<(), invalid::Fault> {
    const OWNER: &str = r#"(CAST("d"."owner_id" AS text) COLLATE "C")"#;
    for (condition, expected) in [
        ("resource.owner == request.subject", format!("(({OWNER} = CAST($1 AS text)) IS TRUE)")),
        (r#"resource.code == "a%""#, r#""d"."code" = CAST($1 AS text)"#.to_owned()),
        (r#"resource.code in ["a", 1]"#, r#""d"."code" IN (CAST($1 AS text))"#.to_owned()),
        ("resource.code in [1]", "FALSE".to_owned()),
        (
            r#"resource.code starts_with "a_""#,
            r#"left("d"."code", 2) = CAST($1 AS text)"#.to_owned(),
        ),
        (r#"resource.code contains "%""#, r#"strpos("d"."code", CAST($1 AS text)) > 0"#.to_owned()),
        // Types that an operator does not compare, and numbers that a column cannot hold.
        ("resource.code == 1", "FALSE".to_owned()),
        ("(resource.code == 1) ?? true", "FALSE".to_owned()),
        (
            "(resource.owner == 1) ?? true",
            r#"(("d"."owner_id" IS NULL OR NULL) IS TRUE)"#.to_owned(),
        ),
        ("resource.level == 1.5", r#"((("d"."level" IS NULL) AND NULL) IS TRUE)"#.to_owned()),
        ("resource.level < 1.5", r#"(("d"."level" <= CAST($1 AS bigint)) IS TRUE)"#.to_owned()),
        (
            "resource.score > 9007199254740993",
            r#""d"."score" >= CAST($1 AS double precision)"#.to_owned(),
        ),
        ("resource.open == true", r#""d"."open" = CAST($1 AS boolean)"#.to_owned()),
        (
            r#"resource.tags contains "a""#,
            r#"(((CAST("d"."tags" AS text[]) COLLATE "C") @> ARRAY[CAST($1 AS text)]) IS TRUE)"#
                .to_owned(),
        ),
        (
            r#"resource.until before "2026-03-01T00:00:00.0000005Z""#,
            r#"(("d"."until" <= CAST(CAST($1 AS text) AS timestamptz)) IS TRUE)"#.to_owned(),
        ),
        ("exists(resource.owner)", r#"(NOT "d"."owner_id" IS NULL)"#.to_owned()),
    ] {
        let sql = sql(&[(Effect::Allow, condition)], Dialect::Postgres).expect("small");
        assert_eq!(sql.text, expected, "{condition}");
        assert_eq!(sql.inexact, [], "{condition}");
    }
    Ok(())
}

#[test]
fn policies_fold_in_the_order_in_which_they_decide() {
    let policies = [
        (Effect::Deny, "resource.level == 2"),
        (Effect::Allow, "resource.open == true"),
        (Effect::Deny, "resource.score == 3"),
        (Effect::Allow, r#"resource.code == "x""#),
    ];
    let sql = sql(&policies, Dialect::Sqlite).expect("small");
    let expected = "((NOT ((`d`.`level` = ?) IS NOT FALSE)) AND (`d`.`open` = ? OR \
                    ((NOT `d`.`score` = ?) AND `d`.`code` = ?)))";
    assert_eq!(sql.text, expected);
    let x = SqlParam::Text("x".into());
    let number = SqlParam::Number(3.0);
    assert_eq!(sql.params, [SqlParam::Integer(2), SqlParam::Integer(1), number, x]);
}

/// A test without an exact form never hides an allowed row.
#[test]
fn inexact_tests_allow_more_rows() {
    let postgres = Dialect::Postgres;
    for (effect, condition, expected) in [
        (Effect::Allow, r#"resource.code matches "a.*""#, "TRUE"),
        (Effect::Allow, r#"!(resource.code matches "a.*")"#, "TRUE"),
        (Effect::Allow, r#"resource.code matches "a.*" && resource.score == 1"#, "d.score"),
        (Effect::Deny, r#"resource.code matches "a.*""#, "d.open"),
        (Effect::Deny, r#"!(resource.code matches "a.*")"#, "d.open"),
    ] {
        let open = (Effect::Allow, "resource.open == true");
        let policies = if effect == Effect::Deny {
            vec![(effect, condition), open]
        } else {
            vec![(effect, condition)]
        };
        let sql = sql(&policies, postgres).expect("small");
        let text = sql.text.replace('"', "");
        assert!(text.starts_with(expected), "{condition}: {text}");
        let reasons: Vec<_> =
            sql.inexact.iter().map(|policy| (&*policy.name, &*policy.reasons)).collect();
        let reason = "`matches` of `resource.code` has no exact form in SQL".to_owned();
        assert_eq!(reasons, [("policy 1", &[reason][..])], "{condition}");
    }
}

#[test]
fn reasons_name_the_attribute() {
    for (condition, dialect, expected) in [
        ("resource.unknown == 1", Dialect::Postgres, "no column for `resource.unknown`"),
        ("geo.country == resource.code", Dialect::Postgres, "`geo.country` comes from a resolver"),
        (r#"resource.tags contains "a""#, Dialect::Sqlite, "SQLite has no type"),
        ("resource.level == resource.score", Dialect::Postgres, "PostgreSQL rounds"),
        (r#"resource.until == "2026-03-01T00:00:00Z""#, Dialect::Postgres, "no exact text"),
        (
            r#"ip_in(resource.code, ["10.0.0.0/8"])"#,
            Dialect::Postgres,
            "`ip_in` of `resource.code`",
        ),
        (r#"resource.code before "2026-03-01T00:00:00Z""#, Dialect::Postgres, "`timestamptz`"),
    ] {
        let sql = sql(&[(Effect::Allow, condition)], dialect).expect("small");
        let reasons: Vec<_> = sql.inexact.iter().flat_map(|policy| &policy.reasons).collect();
        assert_eq!(reasons.len(), 1, "{condition}: {reasons:?}");
        assert!(reasons[0].contains(expected), "{condition}: {reasons:?}");
    }
}

/// An identifier is nothing but names and dots.
#[test]
fn identifiers_are_names() {
    let long = "x".repeat(64);
    for (sql, expected) in [
        ("owner", true),
        ("d.owner_id", true),
        ("app.docs._2", true),
        ("", false),
        ("d.", false),
        (".d", false),
        ("a.b.c.d", false),
        ("1x", false),
        ("d owner", false),
        ("d\\\"; DROP TABLE docs; --", false),
        ("d`", false),
        ("d]", false),
        ("d'", false),
        ("count(*)", false),
        ("d.owner--", false),
        ("d.öwner", false),
        ("$1", false),
        (&long, false),
    ] {
        let text = format!(r#"{{"resource.owner": {{"sql": "{sql}", "type": "text"}}}}"#);
        assert_eq!(columns(&text).is_ok(), expected, "{sql}");
    }
}

#[test]
fn columns_are_judged() {
    for (text, expected) in [
        (r#"{"resource.a": {"sql": "a", "type": "varchar"}}"#, "`timestamptz`"),
        (r#"{"resource.a": {"sql": "a"}}"#, "type"),
        (r#"{"token.a": {"sql": "a", "type": "text"}}"#, "`resource.owner`"),
        (r#"{"a": {"sql": "a", "type": "text"}}"#, "`resource.owner`"),
        (r#"{"resource.a": {"sql": "a", "type": "text", "collation": "nocase"}}"#, "`binary`"),
        (r#"{"resource.a": {"sql": "a", "type": "text", "cast": "x"}}"#, "cast"),
        (r#"["resource.a"]"#, "an object"),
    ] {
        let fault = columns(text).expect_err(text).to_string();
        assert!(fault.contains(expected), "{text}: {fault}");
    }
}

#[test]
fn sizes_are_bounded() {
    let rule = |number: u32| format!(r#"resource.code == "{number}""#);
    let texts: Vec<String> = (0..400).map(rule).collect();
    let same: Vec<_> = texts.iter().map(|text| (Effect::Allow, text.as_str())).collect();
    let sql_of_many = sql(&same, Dialect::Sqlite).expect("a balanced chain");
    assert_eq!(sql_of_many.params.len(), 400);
    let effect = |index: usize| if index.is_multiple_of(2) { Effect::Deny } else { Effect::Allow };
    let nested: Vec<_> =
        texts.iter().enumerate().map(|(index, text)| (effect(index), text.as_str())).collect();
    assert_eq!(sql(&nested, Dialect::Sqlite), Err(TooLarge));
}

#[test]
fn placeholders_are_numbered_in_the_order_of_the_text() {
    let condition = r#"resource.code == "a" || resource.level == 2"#;
    let plan = [(Effect::Allow, condition)];
    let texts = [Placeholders::Dollar, Placeholders::Question, Placeholders::Named].map(|form| {
        let policy = Policy {
            id: uuid::Uuid::nil(),
            name: String::new(),
            resource: ResourcePattern::Any,
            effect: plan[0].0,
            priority: 0,
            condition: Ok(expression::parse(plan[0].1).expect("an expression")),
        };
        let plan = Plan::compile("doc:read", 1, &[], [policy]);
        let body = json::parse(REQUEST.as_bytes()).expect("JSON");
        let body = CheckBody::parse(&body).expect("a check");
        let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
        let filter = plan.filter(&check, &AttributeAnswers::default(), &RowAttributes::resource());
        write(&filter, &columns(COLUMNS).expect("columns"), Dialect::Sqlite, form)
            .map(|sql| sql.text)
    });
    let text =
        |one: &str, two: &str| Ok(format!("((`d`.`code` = {one} OR `d`.`level` = {two}) IS TRUE)"));
    assert_eq!(texts, [text("$1", "$2"), text("?", "?"), text(":p1", ":p2")]);
}
