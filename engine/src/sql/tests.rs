//! Conditions in SQL, as text.

use super::{
    Columns, Dialect, Placeholders, RelatedRows, RowRelation, RowRelations, Sql, SqlParam,
    TooLarge, write,
};
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
    "resource.tags": {"sql": "d.tags", "type": "text[]"},
    "resource.id": {"sql": "d.id", "type": "uuid", "nullable": false},
    "resource.day": {"sql": "d.day", "type": "date"},
    "resource.bare": {"sql": "owner", "type": "text"},
    "resource.readers": {"pairs": {"table": "app.shares", "row": "document_id", "value": "user_id"},
        "key": "d.id", "type": "text", "collation": "binary"},
    "resource.teams": {"pairs": {"table": "teams", "row": "document_id", "value": "team_id"},
        "key": "d.id", "type": "uuid"},
    "resource.levels": {"sql": "d.levels", "type": "integer[]"},
    "resource.archived": {"present": "d.archived_at"},
    "resource.closed": {"absent": "d.opened_at", "type": "boolean"}}"#;

fn columns(text: &str, dialect: Dialect) -> Result<Columns, Invalid> {
    let json = json::parse(text.as_bytes()).expect("JSON");
    let mut problems = Problems::default();
    let columns = Columns::read(&json, dialect, &Place::root(), &mut problems);
    problems.finish(columns)
}

fn sql(policies: &[(Effect, &str)], dialect: Dialect) -> Result<Sql, TooLarge> {
    sql_with(policies, dialect, dialect.placeholders())
}

fn sql_with(
    policies: &[(Effect, &str)],
    dialect: Dialect,
    placeholders: Placeholders,
) -> Result<Sql, TooLarge> {
    sql_of(policies, &RowRelations::default(), (dialect, placeholders))
}

fn sql_of(
    policies: &[(Effect, &str)],
    relations: &RowRelations,
    (dialect, placeholders): (Dialect, Placeholders),
) -> Result<Sql, TooLarge> {
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
    let columns = columns(COLUMNS, dialect).expect("columns");
    write(&filter, &columns, relations, (dialect, placeholders))
}

#[test]
fn the_presence_of_a_column_is_a_test_for_null() {
    for (condition, postgres) in [
        ("resource.archived", r#""d"."archived_at" IS NOT NULL"#),
        ("!resource.archived", r#""d"."archived_at" IS NULL"#),
        ("resource.archived != true", r#""d"."archived_at" IS NULL"#),
        ("resource.closed", r#""d"."opened_at" IS NULL"#),
        ("resource.closed == false", r#""d"."opened_at" IS NOT NULL"#),
        ("exists(resource.archived)", "TRUE"),
        ("(resource.closed) ?? true", r#""d"."opened_at" IS NULL"#),
        ("resource.closed == 'true'", "FALSE"),
        (
            "resource.closed == resource.archived",
            r#"("d"."opened_at" IS NULL) = ("d"."archived_at" IS NOT NULL)"#,
        ),
        ("resource.open != resource.closed", r#""d"."open" <> ("d"."opened_at" IS NULL)"#),
    ] {
        for dialect in [Dialect::Postgres, Dialect::Sqlite] {
            let sql = sql(&[(Effect::Allow, condition)], dialect).expect("small");
            let text = match dialect {
                Dialect::Postgres => postgres.to_owned(),
                Dialect::Sqlite => postgres.replace('"', "`"),
            };
            assert_eq!((sql.text, sql.params), (text, Vec::new()), "{condition}");
        }
    }
}

const LEVELS: &str = "CASE WHEN typeof(`d`.`levels`) = 'blob' OR json_valid(`d`.`levels`) THEN CASE json_type(`d`.`levels`) \
                      WHEN 'array' THEN `d`.`levels` END END";

/// Conditions on the items of a column, and on their number: where they are true, and where a deny finds them not false.
#[test]
fn items_of_columns_are_read_by_subqueries() {
    let (allow, deny) = (Effect::Allow, Effect::Deny);
    let levels = |text: &str| text.replace("LEVELS", LEVELS);
    for (effect, condition, dialect, expected) in [
        (
            allow,
            "any(resource.levels, item == 3)",
            Dialect::Postgres,
            r#"(CAST("d"."levels" AS bigint[]) @> ARRAY[CAST($1 AS bigint)] AND "d"."levels" IS NOT NULL)"#.to_owned(),
        ),
        (
            allow,
            "any(resource.levels, item > 3)",
            Dialect::Postgres,
            r#"(EXISTS (SELECT 1 FROM unnest(CAST("d"."levels" AS bigint[])) AS "each-13"("value") WHERE "each-13"."value" > CAST($1 AS bigint)) AND "d"."levels" IS NOT NULL)"#.to_owned(),
        ),
        (
            deny,
            "all(resource.levels, item > 3)",
            Dialect::Postgres,
            r#"(NOT ((NOT EXISTS (SELECT 1 FROM unnest(CAST("d"."levels" AS bigint[])) AS "each-13"("value") WHERE (NOT "each-13"."value" > CAST($1 AS bigint)))) OR "d"."levels" IS NULL))"#.to_owned(),
        ),
        (
            allow,
            "all(resource.teams, item != \"0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c01\")",
            Dialect::Postgres,
            r#"(NOT EXISTS (SELECT 1 FROM "teams" AS "each-12" WHERE "each-12"."document_id" = "d"."id" AND ("each-12"."team_id" IS NOT NULL AND "each-12"."team_id" = CAST(CAST($1 AS text) AS uuid))))"#.to_owned(),
        ),
        (
            allow,
            "length(resource.teams) >= 2",
            Dialect::Postgres,
            r#"(SELECT count("each-12"."team_id") FROM "teams" AS "each-12" WHERE "each-12"."document_id" = "d"."id") >= CAST($1 AS bigint)"#.to_owned(),
        ),
        (
            allow,
            "length(resource.levels) == 2",
            Dialect::Postgres,
            r#"(cardinality("d"."levels") = CAST($1 AS bigint) AND "d"."levels" IS NOT NULL)"#.to_owned(),
        ),
        (
            allow,
            "any(resource.levels, item > 3)",
            Dialect::Sqlite,
            levels("(EXISTS (SELECT 1 FROM json_each(LEVELS) AS `each-13` WHERE (`each-13`.type IN ('integer', 'real') AND `each-13`.`value` > ?)) AND (LEVELS) IS NOT NULL)"),
        ),
        (
            allow,
            "length(resource.levels) < 2",
            Dialect::Sqlite,
            levels("(json_array_length(LEVELS) < ? AND (LEVELS) IS NOT NULL)"),
        ),
    ] {
        let policies = match effect {
            Effect::Allow => vec![(allow, condition)],
            Effect::Deny => vec![(deny, condition), (allow, "true")],
        };
        let sql = sql(&policies, dialect).expect("small");
        assert_eq!((sql.text, sql.inexact), (expected, Vec::new()), "{condition}");
    }
}

/// A column without its table could be one of the subquery's, and a relation beside an item has no form.
#[test]
fn what_stands_beside_an_item_has_a_form_or_a_reason() {
    for (condition, reason) in [
        (
            "any(resource.levels, item > resource.score)",
            "PostgreSQL rounds when it compares a column of integers with one of doubles",
        ),
        ("any(resource.tags, item == resource.bare)", "declare the compared column with its table"),
        ("any(resource.tags, item matches \"a.*\")", "`matches` of `item` has no exact form"),
    ] {
        let sql = sql(&[(Effect::Allow, condition)], Dialect::Postgres).expect("small");
        let reasons = sql.inexact.iter().flat_map(|policy| &policy.reasons);
        assert!(reasons.clone().any(|own| own.contains(reason)), "{condition}: {:?}", sql.inexact);
    }
}

/// A relation that is undetermined for some rows has an exact form where that comes to the same as one that does not hold.
#[test]
fn a_doubted_relation_is_exact_where_the_doubt_changes_nothing() {
    let forms = |policy: (Effect, &str), doubt: Option<&str>| {
        let mut relations = RowRelations::default();
        let rows = RelatedRows::Ids(["0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c01".into()].into());
        let doubt = doubt.map(str::to_owned);
        relations.insert("viewer", Ok(RowRelation { rows, references: Vec::new(), doubt }));
        let dialect = Dialect::Postgres;
        let policies = [policy, (Effect::Allow, "resource.open == true")];
        sql_of(&policies, &relations, (dialect, dialect.placeholders())).expect("small")
    };
    for (effect, condition, is_exact) in [
        (Effect::Allow, "relation.viewer == true", true),
        (Effect::Allow, "relation.viewer == true && resource.open == true", true),
        (Effect::Allow, "!(relation.viewer == false)", true),
        (Effect::Allow, "relation.viewer != true", false),
        (Effect::Allow, "!(relation.viewer == true)", false),
        (Effect::Allow, "relation.viewer == resource.open", false),
        (Effect::Allow, "resource.open == relation.viewer", false),
        (Effect::Allow, "exists(relation.viewer)", false),
        (Effect::Deny, "relation.viewer == true", false),
        (Effect::Deny, "relation.viewer != true", true),
        (Effect::Deny, "!(relation.viewer == true)", true),
    ] {
        let (known, doubted) =
            (forms((effect, condition), None), forms((effect, condition), Some("who knows")));
        assert!(known.inexact.is_empty(), "{condition}");
        let reasons: Vec<_> = doubted.inexact.iter().flat_map(|one| &one.reasons).collect();
        match is_exact {
            true => assert_eq!(doubted, known, "{condition}"),
            false => assert_eq!(reasons, ["who knows"], "{condition}"),
        }
    }
}

#[test]
fn conditions_have_exact_forms() -> Result<(), invalid::Fault> {
    const UUID: &str = "0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c01";
    for (condition, expected) in [
        // An index of the column's own collation finds the rows, and the test by code point decides.
        (
            "resource.owner == request.subject",
            r#"((CAST("d"."owner_id" AS text) = CAST($1 AS text) AND
                (CAST("d"."owner_id" AS text) COLLATE "C") = CAST($1 AS text)) AND "d"."owner_id" IS NOT NULL)"#,
        ),
        (r#"resource.code == "a%""#, r#""d"."code" = CAST($1 AS text)"#),
        (
            r#"resource.code in ["a", 1, "b"]"#,
            r#""d"."code" IN (CAST($1 AS text), CAST($2 AS text))"#,
        ),
        ("resource.code in [1]", "FALSE"),
        (r#"resource.code starts_with "a_""#, r#"left("d"."code", 2) = CAST($1 AS text)"#),
        (r#"resource.code contains "%""#, r#"strpos("d"."code", CAST($1 AS text)) > 0"#),
        // Types that an operator does not compare, and values that a column cannot hold.
        ("resource.code == 1", "FALSE"),
        ("(resource.code == 1) ?? true", "FALSE"),
        ("(resource.owner == 1) ?? true", r#""d"."owner_id" IS NULL"#),
        ("resource.level == 1.5", "FALSE"),
        ("resource.level != 1.5", r#""d"."level" IS NOT NULL"#),
        (
            "resource.level < 1.5",
            r#"("d"."level" <= CAST($1 AS bigint) AND "d"."level" IS NOT NULL)"#,
        ),
        ("resource.score > 9007199254740993", r#""d"."score" >= CAST($1 AS double precision)"#),
        ("resource.open == true", r#""d"."open" = CAST($1 AS boolean)"#),
        (
            r#"resource.tags contains "a""#,
            r#"((CAST("d"."tags" AS text[]) @> ARRAY[CAST($1 AS text)] AND
                (CAST("d"."tags" AS text[]) COLLATE "C") @> ARRAY[CAST($1 AS text)]) AND "d"."tags" IS NOT NULL)"#,
        ),
        // Where no index can serve, the test by code point is enough.
        (
            r#"!(resource.owner == "a")"#,
            r#"(NOT ((CAST("d"."owner_id" AS text) COLLATE "C") = CAST($1 AS text) OR "d"."owner_id" IS NULL))"#,
        ),
        (
            r#"resource.until before "2026-03-01T00:00:00.0000005Z""#,
            r#"("d"."until" <= CAST(CAST($1 AS text) AS timestamptz) AND "d"."until" IS NOT NULL)"#,
        ),
        ("exists(resource.owner)", r#""d"."owner_id" IS NOT NULL"#),
        (&format!(r#"resource.id == "{UUID}""#), r#""d"."id" = CAST(CAST($1 AS text) AS uuid)"#),
        (&format!(r#"resource.id == "{}""#, UUID.to_uppercase()), "FALSE"),
        (
            r#"resource.id starts_with "0190""#,
            r#"left((CAST("d"."id" AS text) COLLATE "C"), 4) = CAST($1 AS text)"#,
        ),
        (
            r#"resource.day >= "2026-03-01" && resource.day < "2026-04-01""#,
            r#"("d"."day" >= CAST(CAST($1 AS text) AS date) AND "d"."day" IS NOT NULL AND
                "d"."day" < CAST(CAST($2 AS text) AS date))"#,
        ),
        (
            r#"resource.day < "2026-3-1""#,
            r#"((to_char(CAST("d"."day" AS timestamp), 'YYYY-MM-DD') COLLATE "C") < CAST($1 AS text) AND
                "d"."day" IS NOT NULL)"#,
        ),
        (r#"resource.day before "2026-03-01T00:00:00Z""#, "FALSE"),
        (r#"ip_in(resource.id, ["10.0.0.0/8"])"#, "FALSE"),
    ] {
        let sql = sql(&[(Effect::Allow, condition)], Dialect::Postgres).expect("small");
        assert_eq!(sql.text, one_line(expected), "{condition}");
        assert_eq!(sql.inexact, [], "{condition}");
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// SQLite has texts in a fixed form in place of types, and JSON in place of arrays.
#[test]
fn sqlite_has_texts_and_json() {
    let text = |text: &str| SqlParam::Text(text.into());
    for (condition, expected, param) in [
        (
            r#"resource.until before "2026-03-01T02:00:00.0015+02:00""#,
            "(`d`.`until` <= ? AND `d`.`until` IS NOT NULL)",
            text("2026-03-01T00:00:00.001Z"),
        ),
        (
            r#"resource.day == "2026-03-01""#,
            "(`d`.`day` = ? AND `d`.`day` IS NOT NULL)",
            text("2026-03-01"),
        ),
        (r#"resource.id >= "0190""#, "(`d`.`id` COLLATE BINARY) >= ?", text("0190")),
        (
            r#"resource.tags contains "a""#,
            "(EXISTS (SELECT 1 FROM json_each(`d`.`tags`) AS `item-7` WHERE `item-7`.type = 'text' AND \
             `item-7`.`value` = ?) AND `d`.`tags` IS NOT NULL)",
            text("a"),
        ),
    ] {
        let sql = sql(&[(Effect::Allow, condition)], Dialect::Sqlite).expect("small");
        assert_eq!((sql.text.as_str(), &*sql.params), (expected, &[param][..]), "{condition}");
    }
}

/// Lists are compared as arrays, or item by item.
#[test]
fn lists_and_periods_have_exact_forms() {
    const ITEM: &str = "EXISTS (SELECT 1 FROM json_each(`d`.`tags`) AS `item-7` WHERE `item-7`.type = 'text' AND \
        `item-7`.`value` = ?)";
    let since = r#"("d"."until" >= CAST(CAST($1 AS text) AS timestamptz) AND "d"."until" IS NOT NULL AND
        "d"."until" <= CAST(CAST($2 AS text) AS timestamptz))"#;
    for (condition, postgres, sqlite) in [
        (
            r#"resource.tags contains_any ["a", 1]"#,
            r#"((CAST("d"."tags" AS text[]) && ARRAY[CAST($1 AS text)]
                AND (CAST("d"."tags" AS text[]) COLLATE "C") && ARRAY[CAST($1 AS text)]) AND "d"."tags" IS NOT NULL)"#,
            format!("({ITEM} AND `d`.`tags` IS NOT NULL)"),
        ),
        (
            r#"resource.tags contains_all ["a", "b"]"#,
            r#"((CAST("d"."tags" AS text[]) @> ARRAY[CAST($1 AS text), CAST($2 AS text)]
                AND (CAST("d"."tags" AS text[]) COLLATE "C") @> ARRAY[CAST($1 AS text), CAST($2 AS text)])
                AND "d"."tags" IS NOT NULL)"#,
            format!("({ITEM} AND `d`.`tags` IS NOT NULL AND {ITEM})"),
        ),
        // No item of the column equals a number, and every list has each item of an empty one.
        (r#"resource.tags contains_all ["a", 1]"#, "FALSE", "FALSE".to_owned()),
        ("resource.tags contains_any []", "FALSE", "FALSE".to_owned()),
        (
            "resource.tags contains_all []",
            r#""d"."tags" IS NOT NULL"#,
            "`d`.`tags` IS NOT NULL".to_owned(),
        ),
        (
            r#"resource.until within "P1D""#,
            since,
            "(`d`.`until` >= ? AND `d`.`until` IS NOT NULL AND `d`.`until` <= ?)".to_owned(),
        ),
        (r#"resource.owner contains_any ["a"]"#, "FALSE", "FALSE".to_owned()),
    ] {
        let text = |dialect| sql(&[(Effect::Allow, condition)], dialect).expect("small").text;
        assert_eq!(text(Dialect::Postgres), one_line(postgres), "{condition}");
        assert_eq!(text(Dialect::Sqlite), sqlite, "{condition}");
    }
}

/// A table of pairs is a list that is never NULL.
#[test]
fn pairs_are_rows_of_a_subquery() {
    const READERS: &str = r#"EXISTS (SELECT 1 FROM "app"."shares" AS "item-11" WHERE "item-11"."document_id" = "d"."id" AND"#;
    const TEAMS: &str = r#"EXISTS (SELECT 1 FROM "teams" AS "item-12" WHERE "item-12"."document_id" = "d"."id" AND"#;
    for (condition, expected) in [
        (
            "request.subject in resource.readers",
            format!(r#"{READERS} "item-11"."user_id" = CAST($1 AS text))"#),
        ),
        (
            "!(resource.readers contains resource.owner)",
            format!(
                r#"(NOT ({READERS} "item-11"."user_id" = (CAST("d"."owner_id" AS text) COLLATE "C"))
                OR "d"."owner_id" IS NULL))"#
            ),
        ),
        (
            "resource.teams contains resource.id",
            format!(r#"{TEAMS} "item-12"."team_id" = "d"."id")"#),
        ),
        (
            "resource.teams contains resource.code",
            format!(r#"{TEAMS} (CAST("item-12"."team_id" AS text) COLLATE "C") = "d"."code")"#),
        ),
        // A pair without a value is not an item: nobody lacks it.
        (
            "request.roles contains_all resource.readers",
            format!(r#"(NOT {READERS} "item-11"."user_id" IS NOT NULL))"#),
        ),
        // Every list has each item of an empty one. An absent one has not, and lacks none either.
        (
            "resource.levels contains_all resource.readers",
            format!(
                r#"((NOT {READERS} "item-11"."user_id" IS NOT NULL)) AND "d"."levels" IS NOT NULL)"#
            ),
        ),
        (
            "!(resource.levels contains_all resource.readers)",
            format!(
                r#"(NOT ((NOT {READERS} "item-11"."user_id" IS NOT NULL)) OR "d"."levels" IS NULL))"#
            ),
        ),
        // No value of a UUID equals these.
        ("resource.teams contains request.subject", "FALSE".to_owned()),
        ("!(resource.teams contains resource.score)", "TRUE".to_owned()),
        ("exists(resource.teams)", "TRUE".to_owned()),
    ] {
        let sql = sql(&[(Effect::Allow, condition)], Dialect::Postgres).expect("small");
        assert_eq!(sql.text, one_line(&expected), "{condition}");
        assert_eq!(sql.inexact, [], "{condition}");
    }
}

/// A subquery finds a bare name among its own columns first.
#[test]
fn lists_of_sqlite_need_the_names_of_their_tables() {
    let bare = r#"{"resource.tags": {"sql": "tags", "type": "text[]"}}"#;
    let fault = columns(bare, Dialect::Sqlite).expect_err("a bare name").to_string();
    assert!(
        fault.starts_with("at `/resource.tags/sql`: expected a name with its table"),
        "{fault}"
    );
    assert!(columns(bare, Dialect::Postgres).is_ok());
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
    let expected = "((NOT (`d`.`level` = ? OR `d`.`level` IS NULL)) AND (`d`.`open` = ? OR \
                    ((NOT `d`.`score` = ?) AND `d`.`code` = ?)))";
    assert_eq!(sql.text, expected);
    let x = SqlParam::Text("x".into());
    let number = SqlParam::Number(3.0);
    assert_eq!(sql.params, [SqlParam::Integer(2), SqlParam::Integer(1), number, x]);
}

/// An index serves an equality, and no comparison below a negation.
#[test]
fn a_deny_of_what_is_not_tied_is_an_equality() {
    let tied_or_absent = "(`d`.`level` IS NULL OR (`d`.`level` = ? AND `d`.`level` IS NOT NULL))";
    let tied = "(`d`.`level` = ? AND `d`.`level` IS NOT NULL)";
    for (condition, expected) in [
        ("!(resource.level == 2)", tied),
        ("resource.level != 2", tied),
        ("(resource.level != 2) ?? true", "(`d`.`level` IS NOT NULL AND `d`.`level` = ?)"),
        ("!((resource.level == 2) ?? true)", tied_or_absent),
        ("(resource.level != 2) ?? false", tied_or_absent),
        ("!((resource.score == 2) ?? true)", "`d`.`score` = ?"),
        ("resource.score != 2", "`d`.`score` = ?"),
        (
            "!(resource.level == 2) || resource.open == true",
            "(`d`.`level` = ? AND `d`.`level` IS NOT NULL AND (NOT `d`.`open` = ?))",
        ),
        (
            "resource.score != 2 && resource.open == true",
            "(NOT (`d`.`score` <> ? AND `d`.`open` = ?))",
        ),
        // No index would serve: one negation stands around all of it.
        (
            "resource.level == 2 || resource.open == true",
            "(NOT (`d`.`level` = ? OR `d`.`level` IS NULL OR `d`.`open` = ?))",
        ),
    ] {
        let policies = [(Effect::Deny, condition), (Effect::Allow, "exists(resource.id)")];
        let sql = sql(&policies, Dialect::Sqlite).expect("small");
        assert_eq!(sql.text, expected, "{condition}");
    }
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
        ("resource.ower == 1", Dialect::Postgres, "`resource.ower`, but one for `resource.owner`"),
        ("geo.country == resource.code", Dialect::Postgres, "`geo.country` comes from a resolver"),
        (
            "resource.tags contains resource.bare",
            Dialect::Sqlite,
            "declare the compared column with its table",
        ),
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
    for (text, names) in [
        ("owner", 1),
        ("d.owner_id", 2),
        ("app.docs._2", 3),
        ("", 0),
        ("d.", 0),
        (".d", 0),
        ("a.b.c.d", 0),
        ("1x", 0),
        ("d owner", 0),
        ("d\\\"; DROP TABLE docs; --", 0),
        ("d`", 0),
        ("d]", 0),
        ("d'", 0),
        ("d/**/", 0),
        ("count(*)", 0),
        ("d.owner--", 0),
        ("d.öwner", 0),
        ("item-1", 0),
        ("$1", 0),
        (":p1", 0),
        (&long, 0),
    ] {
        let pairs = |table: &str, row: &str, value: &str, key: &str| {
            format!(
                r#""pairs": {{"table": "{table}", "row": "{row}", "value": "{value}"}}, "key": "{key}""#
            )
        };
        for (column, allowed) in [
            (format!(r#""sql": "{text}""#), 1..=3),
            (pairs(text, "r", "v", "d.id"), 1..=2),
            (pairs("t", text, "v", "d.id"), 1..=1),
            (pairs("t", "r", text, "d.id"), 1..=1),
            (pairs("t", "r", "v", text), 2..=3),
        ] {
            let text = format!(r#"{{"resource.owner": {{{column}, "type": "text"}}}}"#);
            let read = columns(&text, Dialect::Postgres);
            assert_eq!(read.is_ok(), allowed.contains(&names), "{text}: {read:?}");
        }
    }
}

#[test]
fn columns_are_judged() {
    const PAIRS: &str = r#""pairs": {"table": "t", "row": "r", "value": "v"}, "key": "d.id""#;
    for (column, expected) in [
        (r#""sql": "a", "type": "varchar""#, "at `/resource.a/type`: expected `text`, "),
        (r#""sql": "a""#, "`type`"),
        (r#""sql": "a", "type": "text", "collation": "nocase""#, "expected `binary`"),
        (r#""sql": "a", "type": "text", "cast": "x""#, "field `cast` is unknown"),
        (r#""sql": "a", "type": "text", "pair": "x""#, "did you mean `pairs`?"),
        (
            &format!(r#"{PAIRS}, "type": "text[]""#),
            "expected `text`, `integer`, `number`, `uuid` or `date`",
        ),
        (&format!(r#"{PAIRS}, "type": "text", "sql": "a""#), "expected no `sql` with `pairs`"),
        (
            &format!(r#"{PAIRS}, "type": "text", "nullable": true"#),
            "at `/resource.a/nullable`: expected no `nullable` with `pairs`",
        ),
        (&PAIRS.replace("row", "rows"), "did you mean `row`?"),
        (&PAIRS.replace(r#""t""#, r#""a.b.c""#), "at `/resource.a/pairs/table`: expected a table"),
        (
            &PAIRS.replace("d.id", "id"),
            "at `/resource.a/key`: expected the key of the row with its table",
        ),
    ] {
        let text = format!(r#"{{"resource.a": {{{column}}}}}"#);
        let fault = columns(&text, Dialect::Postgres).expect_err(&text).to_string();
        assert!(fault.contains(expected), "{text}: {fault}");
    }
    for (text, expected) in [
        (r#"{"token.a": {"sql": "a", "type": "text"}}"#, "`resource.owner`"),
        (r#"{"a": {"sql": "a", "type": "text"}}"#, "`resource.owner`"),
        (r#"["resource.a"]"#, "an object"),
    ] {
        let fault = columns(text, Dialect::Postgres).expect_err(text).to_string();
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
    let policy = (Effect::Allow, r#"resource.code == "a" || resource.score == 2"#);
    let texts = [Placeholders::Dollar, Placeholders::Question, Placeholders::Named]
        .map(|form| sql_with(&[policy], Dialect::Sqlite, form).map(|sql| sql.text));
    let text = |one: &str, two: &str| Ok(format!("(`d`.`code` = {one} OR `d`.`score` = {two})"));
    assert_eq!(texts, [text("$1", "$2"), text("?", "?"), text(":p1", ":p2")]);
}

/// A parameter that stands twice in the text is sent twice only if placeholders have no numbers.
#[test]
fn numbered_placeholders_repeat() {
    let policy = (Effect::Allow, r#"resource.owner in ["a", "b"] && resource.code == "c""#);
    let params = [Placeholders::Dollar, Placeholders::Question, Placeholders::Named].map(|form| {
        let sql = sql_with(&[policy], Dialect::Postgres, form).expect("small");
        sql.params.len()
    });
    assert_eq!(params, [3, 5, 3]);
}
