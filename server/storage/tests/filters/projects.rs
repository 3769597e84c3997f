//! The sample tenant `projects`: of 10,000 documents and as many projects, the condition of each list holds for exactly the
//! ones that a check allows.

use std::path::Path;

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use fastrand::Rng;
use portcullis_bundle::Bundle;
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, Effect, KnownEntities, OpenQuestion, Plan, json,
};
use serde_json::{Value, json};

use super::databases::Database;
use super::{columns, write};

const ROWS: usize = 10_000;
const PROJECTS: [&str; 12] = [
    "apollo", "artemis", "ceres", "gemini", "hermes", "juno", "mars", "mercury", "minerva",
    "pluto", "vesta", "vulcan",
];
const PEOPLE: [&str; 6] = ["carol", "dana", "eli", "fay", "gus", "hana"];
const TEAMS: [&str; 4] = ["design", "legal", "sales", "support"];
const TRAININGS: [&str; 3] = ["export-control", "first-aid", "privacy"];

const SQLITE: &str = "
    CREATE TABLE documents (number INTEGER PRIMARY KEY, project TEXT NOT NULL, owner TEXT, teams TEXT NOT NULL,
        confidential INTEGER, deleted TEXT, review_due TEXT, requires TEXT);
    CREATE TABLE shares (document INTEGER, person TEXT, PRIMARY KEY (document, person));
    CREATE TABLE projects (number INTEGER PRIMARY KEY, id TEXT NOT NULL);";
const POSTGRES: &str = "
    CREATE TABLE documents (number bigint PRIMARY KEY, project text NOT NULL, owner text, teams text[] NOT NULL,
        confidential boolean, deleted timestamptz, review_due timestamptz, requires text[]);
    CREATE TABLE shares (document bigint, person text, PRIMARY KEY (document, person));
    CREATE TABLE projects (number bigint PRIMARY KEY, id text NOT NULL);";
/// The documents, shares and projects: each statement reads a JSON list of rows.
const SQLITE_ROWS: [&str; 3] = [
    "INSERT INTO documents SELECT value ->> 'number', value ->> 'project', value ->> 'owner', value -> 'teams',
        value ->> 'confidential', value ->> 'deleted', value ->> 'review_due', nullif(value -> 'requires', 'null')
        FROM json_each(?) RETURNING 1",
    "INSERT INTO shares SELECT value ->> 'document', value ->> 'person' FROM json_each(?) RETURNING 1",
    "INSERT INTO projects SELECT value ->> 'number', value ->> 'id' FROM json_each(?) RETURNING 1",
];
const POSTGRES_ROWS: [&str; 3] = [
    "INSERT INTO documents SELECT * FROM json_populate_recordset(NULL::documents, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
    "INSERT INTO shares SELECT * FROM json_populate_recordset(NULL::shares, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
    "INSERT INTO projects SELECT * FROM json_populate_recordset(NULL::projects, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
];

#[tokio::test]
async fn sqlite_lists_what_checks_of_the_sample_allow() {
    let database = Database::sqlite().await;
    database.run(SQLITE).await;
    compare(&database, SQLITE_ROWS).await;
}

#[tokio::test]
async fn postgres_lists_what_checks_of_the_sample_allow() {
    let Some((_own, database)) = Database::postgres().await else { return };
    database.run(POSTGRES).await;
    compare(&database, POSTGRES_ROWS).await;
}

async fn compare(database: &Database, inserts: [&str; 3]) {
    let mut rng = Rng::with_seed(12);
    let documents: Vec<Value> = (0..ROWS).map(|number| document(&mut rng, number)).collect();
    let shares: Vec<Value> = documents.iter().flat_map(shares).collect();
    let projects: Vec<Value> = (0..ROWS).map(project).collect();
    for (insert, rows) in inserts.into_iter().zip([&documents, &shares, &projects]) {
        database.insert_all(insert, rows).await;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/projects");
    let bundle = Bundle::read_folder(&folder).expect("the sample");
    for resource in &bundle.resources {
        let (kind, verb) = resource.name.split_once(':').expect("a verb");
        let rows = if kind == "document" { &documents } else { &projects };
        let plan = bundle.rulebook.plan(&resource.name);
        let mut seen = 0;
        for person in PEOPLE {
            let request = request(&mut rng, person, &resource.name, verb);
            let listed = listed(database, &plan, &request, kind).await;
            assert_eq!(listed.len(), ROWS);
            for (row, listed) in rows.iter().zip(listed) {
                let allowed = allows(&plan, &request, row);
                assert_eq!(listed, Some(allowed), "{request}\n{row}");
                seen += usize::from(allowed);
            }
        }
        assert!(0 < seen && seen < ROWS, "the lists of `{}` have {seen} rows", resource.name);
    }
}

/// Returns the value of the condition for each row.
async fn listed(
    database: &Database,
    plan: &Plan,
    request: &Value,
    kind: &str,
) -> Vec<Option<bool>> {
    let columns = columns(&declared(kind), database.dialect());
    let sql = with_check(plan, request, |check| {
        let filter = plan.filter(check, &AttributeAnswers::default(), &RowAttributes::resource());
        write(&filter, database.dialect(), &columns)
    });
    assert_eq!(sql.inexact, [], "{request}");
    let query = format!("SELECT {} FROM {kind}s AS r ORDER BY r.number", sql.text);
    database.column(query, &sql.params, 0).await
}

fn allows(plan: &Plan, request: &Value, row: &Value) -> bool {
    let mut request = request.clone();
    let members = row.as_object().expect("an object").iter();
    for (name, value) in members.filter(|(name, value)| *name != "number" && !value.is_null()) {
        request["attributes"]["resource"][name] = value.clone();
    }
    with_check(plan, &request, |check| plan.evaluate(check).effect() == Effect::Allow)
}

/// Gives the check to `answer`, with the roles that its roles include.
fn with_check<T>(plan: &Plan, request: &Value, answer: impl FnOnce(&Check<'_>) -> T) -> T {
    let text = request.to_string();
    let body = json::parse(text.as_bytes()).expect("JSON");
    let body = CheckBody::parse(&body).expect("a check");
    let sent = Check::new(body, body.domain.expect("a domain"), None, now());
    answer(&OpenQuestion::combined(plan, &KnownEntities::default(), sent).completed())
}

fn declared(kind: &str) -> Value {
    if kind == "project" {
        return json!({"resource.id": {"sql": "r.id", "type": "text", "nullable": false}});
    }
    json!({
        "resource.project": {"sql": "r.project", "type": "text", "nullable": false},
        "resource.owner": {"sql": "r.owner", "type": "text"},
        "resource.teams": {"sql": "r.teams", "type": "text[]", "nullable": false},
        "resource.confidential": {"sql": "r.confidential", "type": "boolean"},
        "resource.deleted": {"sql": "r.deleted", "type": "timestamptz"},
        "resource.review_due": {"sql": "r.review_due", "type": "timestamptz"},
        "resource.requires": {"sql": "r.requires", "type": "text[]"},
        "resource.readers": {
            "pairs": {"table": "shares", "row": "document", "value": "person"}, "key": "r.number", "type": "text",
        },
    })
}

/// Returns a row of `projects`.
fn project(number: usize) -> Value {
    let name = PROJECTS[number % PROJECTS.len()];
    let id = if number < PROJECTS.len() { name.to_owned() } else { format!("{name}-{number}") };
    json!({"number": number, "id": id})
}

/// Returns a row of `documents`, with the readers that `shares` has. A member that is `null` is absent in a check.
fn document(rng: &mut Rng, number: usize) -> Value {
    let (readers, teams) = (some(rng, &PEOPLE, 4), some(rng, &TEAMS, 4));
    let requires = some(rng, &TRAININGS, 4);
    json!({
        "number": number,
        "project": rng.choice(PROJECTS),
        "owner": (rng.u8(..8) > 0).then(|| rng.choice(PEOPLE)),
        "readers": readers,
        "teams": teams,
        "confidential": (rng.u8(..8) > 0).then(|| rng.u8(..4) == 0),
        "deleted": (rng.u8(..5) == 0).then(|| instant(rng, -60..0)),
        "review_due": rng.bool().then(|| instant(rng, -10..40)),
        "requires": (rng.u8(..4) > 0).then_some(requires),
    })
}

fn shares(document: &Value) -> Vec<Value> {
    let readers = document["readers"].as_array().into_iter().flatten();
    readers.map(|reader| json!({"document": document["number"], "person": reader})).collect()
}

/// Returns the check of a list: who asks, in which project, and from where.
fn request(rng: &mut Rng, person: &str, resource: &str, verb: &str) -> Value {
    let roles: &[&str] = match person {
        "carol" => &["contractor", "editor"],
        "dana" => &["staff", "lead"],
        "eli" => &["staff", "editor"],
        "fay" => &["staff", "viewer"],
        _ => &["staff"],
    };
    json!({
        "subject": person, "resource": resource, "action": verb, "domain": PROJECTS[rng.usize(..3)],
        "attributes": {
            "user": {"roles": roles, "teams": some(rng, &TEAMS, 2), "trainings": some(rng, &TRAININGS, 2)},
            "context": {"ip": "10.20.3.4"},
        },
    })
}

/// Returns about one of `of` names.
fn some(rng: &mut Rng, names: &[&'static str], of: u8) -> Vec<&'static str> {
    names.iter().copied().filter(|_| rng.u8(..of) == 0).collect()
}

/// Returns an instant on one of these days from now, with whole milliseconds.
fn instant(rng: &mut Rng, days: std::ops::Range<i64>) -> String {
    let at = now() + Duration::hours(rng.i64(days.start * 24..days.end * 24));
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A Wednesday, in the office hours of contractors.
fn now() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-03-04T09:00:00Z").expect("an instant").to_utc()
}
