//! Compares filters in SQL with checks: on real SQLite and PostgreSQL, a condition holds for exactly the rows that a check
//! of each row allows, and is never NULL.
//!
//! Policies, rows and requests are random, from pools in which values nearly match: wildcards of `LIKE`, letters of either
//! case, the ends of number types. Some columns are declared with collations that ignore case, and some values have types
//! that operators do not compare.
//!
//! `cargo test -p portcullis-storage --test filters -- --ignored` runs a million cases on each database.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "all of it is test code"
)]

#[path = "filters/conditions.rs"]
mod conditions;
#[path = "filters/databases.rs"]
mod databases;
#[path = "filters/graphs.rs"]
mod graphs;
#[path = "filters/helpdesk.rs"]
mod helpdesk;
#[path = "filters/indexes.rs"]
mod indexes;
#[path = "filters/named.rs"]
mod named;
#[path = "filters/papers.rs"]
mod papers;
#[path = "filters/projects.rs"]
mod projects;
#[path = "filters/references.rs"]
mod references;
#[path = "filters/relations.rs"]
mod relations;
#[path = "filters/rows.rs"]
mod rows;

use chrono::{DateTime, Utc};
use fastrand::Rng;
use portcullis_engine::filter::{Filter, RowAttributes};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::RuleTuple;
use portcullis_engine::sql::{self, Columns, Dialect, RowRelations, Sql};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Condition, Effect, Plan, Policy, ResourcePattern, Rule,
    json,
};
use serde_json::{Value, json};
use uuid::Uuid;

use databases::Database;
use rows::{PRESENCES, Row};

const ROWS: usize = 250;
/// The number of plans, each with a check of every row.
const PLANS: usize = 96;
const MANY_PLANS: usize = 4_000;

/// The number of conditions and rows of each kind.
#[derive(Debug, Default)]
struct Tally {
    /// Rows that were compared with an exact condition, and with one that is a superset.
    exact: usize,
    superset: usize,
    /// Conditions that hold for some rows and not for others.
    divided: usize,
    /// Conditions that are true or false for all rows.
    constant: usize,
    /// Rows that a superset has beyond the allowed ones.
    beyond: usize,
}

#[tokio::test]
async fn sqlite_selects_the_rows_that_checks_allow() {
    let database = Database::sqlite().await;
    compare(&database, PLANS).await;
}

#[tokio::test]
async fn postgres_selects_the_rows_that_checks_allow() {
    let Some((_own, database)) = Database::postgres().await else { return };
    compare(&database, PLANS).await;
}

/// JSON does not promise a type: `true` is not 1, nor is `"1"`.
#[tokio::test]
async fn items_of_json_that_have_another_type_equal_nothing() {
    let database = Database::sqlite().await;
    let column = json!({"resource.list": {"sql": "d.list", "type": "integer[]"}});
    let tree = json!({
        "type": "CONDITION", "attribute": "resource.list", "operator": "contains", "value": 1,
    });
    let plan = compiled([policy(1, Effect::Allow, 0, condition(&tree).expect("a condition"))], &[]);
    let filter = filter(&plan, &request(&mut Rng::with_seed(1)));
    let sql = write(&filter, Dialect::Sqlite, &columns(&column, Dialect::Sqlite));
    for (list, expected) in [(r#"[true, "1", null, [1]]"#, false), ("[1.0]", true)] {
        let query = format!("SELECT {} FROM (SELECT '{list}' AS list) AS d", sql.text);
        assert_eq!(database.column::<bool>(query, &sql.params, 0).await, [expected], "{list}");
    }
}

#[tokio::test]
#[ignore = "a soak: `.ci/long` runs it"]
async fn sqlite_selects_the_rows_that_a_million_checks_allow() {
    let database = Database::sqlite().await;
    compare(&database, MANY_PLANS).await;
}

#[tokio::test]
#[ignore = "a soak: `.ci/long` runs it"]
async fn postgres_selects_the_rows_that_a_million_checks_allow() {
    let Some((_own, database)) = Database::postgres().await else { return };
    compare(&database, MANY_PLANS).await;
}

async fn compare(database: &Database, plans: usize) {
    let mut rng = Rng::with_seed(14);
    let rows: Vec<Row> = (0..ROWS).map(|_| rows::random(&mut rng, database.dialect())).collect();
    database.fill(&rows).await;
    let columns = columns(&rows::columns(), database.dialect());
    let mut tally = Tally::default();
    for _ in 0..plans {
        compare_plan(database, &columns, &rows, &mut rng, &mut tally).await;
    }
    println!("{tally:?}");
    let all = tally.exact + tally.superset;
    assert!(tally.exact * 3 > all, "too few exact conditions: {tally:?}");
    assert!(tally.divided * 4 > plans, "too few conditions divide the rows: {tally:?}");
    assert!(tally.beyond > 0, "no superset is larger: {tally:?}");
}

/// Compares one plan: its condition on every row, with the check of every row.
async fn compare_plan(
    database: &Database,
    columns: &Columns,
    rows: &[Row],
    rng: &mut Rng,
    tally: &mut Tally,
) {
    let (plan, named) = plans(rng);
    let request = request(rng);
    let filter = filter(&named, &request);
    let sql = write(&filter, database.dialect(), columns);
    let selected = database.select(&sql).await;
    let mut allowed = 0;
    for (row, selected) in rows.iter().zip(&selected) {
        let expected = allows(&plan, &with_row(&request, row));
        let shown = || format!("{}\n{:?}\n{request}\n{row:?}\n{plan:#?}", sql.text, sql.params);
        let selected = selected.unwrap_or_else(|| panic!("the condition is NULL: {}", shown()));
        allowed += usize::from(selected);
        if sql.inexact.is_empty() {
            tally.exact += 1;
            assert_eq!(selected, expected, "{}", shown());
        } else {
            tally.superset += 1;
            tally.beyond += usize::from(selected && !expected);
            assert!(selected || !expected, "an allowed row is missing: {}", shown());
        }
    }
    match allowed {
        0 => tally.constant += 1,
        count if count == rows.len() => tally.constant += 1,
        _ => tally.divided += 1,
    }
}

/// Returns a plan, and the same with names in place of parts of its conditions.
fn plans(rng: &mut Rng) -> (Plan, Plan) {
    let policies = (0..rng.u128(1..=5)).map(|id| {
        let effect = if rng.u8(..5) < 3 { Effect::Allow } else { Effect::Deny };
        let (priority, tree) = (rng.i32(0..3), conditions::random(rng));
        let plain = condition(&tree).expect("a condition");
        let of = |condition| policy(id, effect, priority, condition);
        (of(plain), of(named::random(rng, &tree)))
    });
    let (policies, named): (Vec<Policy>, Vec<Policy>) = policies.unzip();
    let rules: Vec<Rule> = match rng.u8(..4) {
        0 => vec![rule_of(1_000, "*", Effect::Allow)],
        _ => Vec::new(),
    };
    (compiled(policies, &rules), compiled(named, &rules))
}

fn compiled(policies: impl IntoIterator<Item = Policy>, rules: &[Rule]) -> Plan {
    Plan::compile("doc:read", 1, rules, policies)
}

fn policy(id: u128, effect: Effect, priority: i32, condition: Condition) -> Policy {
    let (id, name) = (Uuid::from_u128(id), format!("policy {id}"));
    Policy { id, name, resource: ResourcePattern::Any, effect, priority, condition: Ok(condition) }
}

fn rule_of(id: u128, subject: &str, effect: Effect) -> Rule {
    let tuple = RuleTuple {
        sub: subject.to_owned(),
        dom: "*".to_owned(),
        obj: ResourcePattern::Any,
        act: "*".to_owned(),
    };
    Rule { id: Uuid::from_u128(id), tuple, effect }
}

/// Returns a request without the attributes of rows.
fn request(rng: &mut Rng) -> Value {
    let mut user = serde_json::Map::new();
    for (name, values) in conditions::known_attributes() {
        if rng.u8(..5) > 0 {
            user.insert(name.to_owned(), values[rng.usize(..values.len())].clone());
        }
    }
    json!({
        "subject": (["ann", "ANN", "50%", "a_b"][rng.usize(..4)]),
        "resource": "doc:read",
        "action": "read",
        "attributes": {"user": user, "resource": {"given": "a%"}},
    })
}

fn with_row(request: &Value, row: &Row) -> Value {
    let mut request = request.clone();
    for (name, value) in row {
        request["attributes"]["resource"][name] = value.clone();
    }
    for (name, member, column) in PRESENCES {
        let truth = row.contains_key(column) == (member == "present");
        request["attributes"]["resource"][name] = json!(truth);
    }
    request
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_772_352_000, 0).expect("2026-03-01T08:00:00Z")
}

fn filter<'p>(plan: &'p Plan, request: &Value) -> Filter<'p> {
    filter_with(plan, request, &AttributeAnswers::default())
}

fn filter_with<'p>(plan: &'p Plan, request: &Value, answers: &AttributeAnswers) -> Filter<'p> {
    let text = request.to_string();
    let body = json::parse(text.as_bytes()).expect("JSON");
    let check = Check::new(CheckBody::parse(&body).expect("a check"), "acme", None, now());
    plan.filter(&check, answers, &RowAttributes::resource())
}

fn write(filter: &Filter<'_>, dialect: Dialect, columns: &Columns) -> Sql {
    write_with(filter, dialect, columns, &RowRelations::default())
}

fn write_with(
    filter: &Filter<'_>,
    dialect: Dialect,
    columns: &Columns,
    relations: &RowRelations,
) -> Sql {
    let form = (dialect, dialect.placeholders());
    sql::write(filter, columns, relations, form).expect("small enough")
}

fn columns(json: &Value, dialect: Dialect) -> Columns {
    let text = json.to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    let mut problems = Problems::default();
    let columns = Columns::read(&json, dialect, &Place::root(), &mut problems);
    problems.finish(columns).expect("columns")
}

fn allows(plan: &Plan, request: &Value) -> bool {
    allows_with(plan, request, &AttributeAnswers::default())
}

fn allows_with(plan: &Plan, request: &Value, answers: &AttributeAnswers) -> bool {
    let text = request.to_string();
    let body = json::parse(text.as_bytes()).expect("JSON");
    let check = Check::new(CheckBody::parse(&body).expect("a check"), "acme", None, now());
    plan.evaluate_with(&check, answers).effect() == Effect::Allow
}

/// Reads a condition tree.
fn condition(tree: &Value) -> Option<Condition> {
    let text = tree.to_string();
    Condition::parse(&json::parse(text.as_bytes()).ok()?).ok()
}
