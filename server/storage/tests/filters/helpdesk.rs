//! The sample tenant `helpdesk`: of 10,000 comments, the condition of each list, whose columns are those of the tickets, holds
//! for exactly the comments that a check allows and that a search finds, both of which know their tickets from the directory.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fastrand::Rng;
use portcullis_bundle::{Bundle, FolderFacts, FolderQuestion};
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::search::{
    EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched,
};
use portcullis_engine::{AttributeAnswers, Check, CheckBody, Effect, Plan, json};
use serde_json::{Value, json};

use super::databases::Database;
use super::{columns, now, write};

const COMMENTS: usize = 10_000;
const TICKETS: usize = 400;
const PEOPLE: [&str; 5] = ["ann", "ben", "carl", "lea", "sue"];
const TEAMS: [&str; 3] = ["billing", "network", "sales"];
const RESOURCES: [&str; 2] = ["comment:read", "comment:write"];

const SQLITE: &str = "
    CREATE TABLE tickets (id TEXT PRIMARY KEY, team TEXT, owner TEXT, requester TEXT, archived_at TEXT);
    CREATE TABLE comments (number INTEGER PRIMARY KEY, ticket TEXT, internal INTEGER);";
const POSTGRES: &str = "
    CREATE TABLE tickets (id text PRIMARY KEY, team text, owner text, requester text, archived_at timestamptz);
    CREATE TABLE comments (number bigint PRIMARY KEY, ticket text, internal boolean);";
/// The tickets and the comments: each statement reads a JSON list of rows.
const SQLITE_ROWS: [&str; 2] = [
    "INSERT INTO tickets SELECT value ->> 'id', value ->> 'team', value ->> 'owner', value ->> 'requester',
        value ->> 'archived_at' FROM json_each(?) RETURNING 1",
    "INSERT INTO comments SELECT value ->> 'number', value ->> 'ticket', value ->> 'internal' FROM json_each(?) RETURNING 1",
];
const POSTGRES_ROWS: [&str; 2] = [
    "INSERT INTO tickets SELECT * FROM json_populate_recordset(NULL::tickets, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
    "INSERT INTO comments SELECT * FROM json_populate_recordset(NULL::comments, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
];

#[tokio::test]
async fn sqlite_lists_the_comments_that_checks_allow_by_their_tickets() {
    let database = Database::sqlite().await;
    database.run(SQLITE).await;
    compare(&database, SQLITE_ROWS).await;
}

#[tokio::test]
async fn postgres_lists_the_comments_that_checks_allow_by_their_tickets() {
    let Some((_own, database)) = Database::postgres().await else { return };
    database.run(POSTGRES).await;
    compare(&database, POSTGRES_ROWS).await;
}

async fn compare(database: &Database, [into_tickets, into_comments]: [&str; 2]) {
    let mut rng = Rng::with_seed(47);
    let tickets: Vec<Value> = (0..TICKETS).map(|number| ticket(&mut rng, number)).collect();
    let comments: Vec<Value> = (0..COMMENTS).map(|number| comment(&mut rng, number)).collect();
    database.insert_all(into_tickets, &tickets).await;
    database.insert_all(into_comments, &comments).await;
    let bundle = sample(&tickets, &comments);
    for resource in RESOURCES {
        let plan = bundle.rulebook.plan(resource);
        let mut seen = 0;
        for person in PEOPLE {
            let asked = Asked { bundle: &bundle, plan: &plan, resource, person };
            let listed = asked.listed(database).await;
            assert_eq!(listed.len(), COMMENTS);
            let found = asked.found();
            for (comment, listed) in comments.iter().zip(listed) {
                let id = id(comment);
                let allowed = asked.allows(&id);
                assert_eq!(listed, Some(allowed), "{resource} {person} {comment}");
                assert_eq!(found.contains(&id), allowed, "{resource} {person} {comment}");
                seen += usize::from(allowed);
            }
        }
        assert!(seen > COMMENTS / 2 && seen < 3 * COMMENTS, "{resource}: {seen}");
    }
}

/// A person's question about comments.
struct Asked<'a> {
    bundle: &'a Bundle,
    plan: &'a Plan,
    resource: &'a str,
    person: &'a str,
}

impl Asked<'_> {
    /// Gives the check about this object to `answer`.
    fn with_check<T>(&self, object: &Value, answer: impl FnOnce(FolderQuestion<'_>) -> T) -> T {
        let body = json!({"subject": self.person, "resource": self.resource, "attributes": {"resource": object}});
        let text = body.to_string();
        let body = json::parse(text.as_bytes()).expect("JSON");
        let body = CheckBody::parse(&body).expect("a check");
        let facts = FolderFacts { rulebook: &self.bundle.rulebook, tuples: Some(&[]) };
        let sent = Check::new(body, "helpdesk", None, now());
        answer(FolderQuestion::combined(self.plan, &facts, sent))
    }

    fn allows(&self, id: &str) -> bool {
        let is_allowed = |question: FolderQuestion<'_>| question.settle().effect() == Effect::Allow;
        self.with_check(&json!({"id": id}), is_allowed)
    }

    /// Returns the comments that a search of the directory finds.
    fn found(&self) -> BTreeSet<String> {
        let table = self.bundle.rulebook.entities();
        self.with_check(&json!({}), |question| {
            let mut check = question.completed();
            check.attributes.resource = question.sent.attributes.resource;
            let entities = Some(table);
            let input = SearchInput {
                check: &check,
                searched: Searched::Resource,
                entities,
                is_given: false,
            };
            let search = EntitySearch::new(self.plan, input);
            let found = search.entities(table, "comment", None, &[]).filter(|entity| {
                let candidate = SearchCandidate::for_resource(entity.id(), entity.properties());
                matches!(search.decide(&candidate), SearchOutcome::Allowed(_))
            });
            found.map(|entity| entity.id().to_owned()).collect()
        })
    }

    /// Returns the value of the condition for each comment and its ticket.
    async fn listed(&self, database: &Database) -> Vec<Option<bool>> {
        let columns = columns(&declared(), database.dialect());
        let sql = self.with_check(&json!({}), |question| {
            let check = question.completed();
            let answers = AttributeAnswers::default();
            let filter = self.plan.filter(&check, &answers, &RowAttributes::resource());
            write(&filter, database.dialect(), &columns)
        });
        assert_eq!(sql.inexact, [], "{} {}", self.resource, self.person);
        let query = format!(
            "SELECT {} FROM comments AS c LEFT JOIN tickets AS t ON t.id = c.ticket ORDER BY c.number",
            sql.text
        );
        database.column(query, &sql.params, 0).await
    }
}

fn declared() -> Value {
    json!({
        "resource.internal": {"sql": "c.internal", "type": "boolean"},
        "resource.ticket.team": {"sql": "t.team", "type": "text"},
        "resource.ticket.owner": {"sql": "t.owner", "type": "text"},
        "resource.ticket.requester": {"sql": "t.requester", "type": "text"},
        "resource.ticket.archived_at": {"sql": "t.archived_at", "type": "timestamptz"},
    })
}

/// Returns the sample with these tickets and comments in its directory.
fn sample(tickets: &[Value], comments: &[Value]) -> Bundle {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/helpdesk");
    for file in fs::read_dir(sample).expect("the sample").map(|file| file.expect("a file")) {
        fs::copy(file.path(), folder.path().join(file.file_name())).expect("a copy");
    }
    let of_tickets = tickets.iter().map(|row| entity("ticket", row["id"].clone(), row));
    let of_comments = comments.iter().map(|row| entity("comment", json!(id(row)), row));
    let entities: Vec<Value> = people().into_iter().chain(of_tickets).chain(of_comments).collect();
    let entities = Value::from(entities).to_string();
    fs::write(folder.path().join("entities.yaml"), entities).expect("the entities");
    Bundle::read_folder(folder.path()).expect("the sample")
}

/// Returns the entity of a row.
fn entity(kind: &str, id: Value, row: &Value) -> Value {
    let mut properties = row.as_object().expect("an object").clone();
    properties.retain(|name, _| name != "id" && name != "number");
    json!({"type": kind, "id": id, "properties": properties})
}

fn people() -> Vec<Value> {
    let person =
        |id: &str, properties: Value| json!({"type": "user", "id": id, "properties": properties});
    vec![
        person("ann", json!({"team": "network", "groups": ["/support/network"]})),
        person(
            "ben",
            json!({"team": "billing", "groups": ["/support/billing", "/choir"], "covers": ["ann", "lea"]}),
        ),
        person("carl", json!({})),
        person("lea", json!({"team": "sales", "groups": ["/contractors"]})),
        person(
            "sue",
            json!({"team": "sales", "groups": ["/support/sales"], "suspended_at": "2026-01-10T08:00:00Z"}),
        ),
    ]
}

/// Returns the id of a comment.
fn id(comment: &Value) -> String {
    format!("c{}", comment["number"])
}

/// Returns a row of `tickets`. A member that is `null` is a property that the ticket does not have.
fn ticket(rng: &mut Rng, number: usize) -> Value {
    json!({
        "id": format!("t{number}"),
        "team": (rng.u8(..8) > 0).then(|| rng.choice(TEAMS)),
        "owner": (rng.u8(..4) > 0).then(|| rng.choice(PEOPLE)),
        "requester": (rng.u8(..8) > 0).then(|| rng.choice(PEOPLE)),
        "archived_at": (rng.u8(..4) == 0).then_some("2026-01-14T00:00:00Z"),
    })
}

/// Returns a row of `comments`. Some have no ticket, and the tickets of others are gone.
fn comment(rng: &mut Rng, number: usize) -> Value {
    let ticket = (rng.u8(..16) > 0).then(|| format!("t{}", rng.usize(..TICKETS + TICKETS / 8)));
    let internal = (rng.u8(..8) > 0).then(|| rng.u8(..3) == 0);
    json!({"number": number, "ticket": ticket, "internal": internal})
}
