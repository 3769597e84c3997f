//! Comments by what is behind their references: the application joins the tables, and SQL selects the rows that checks allow,
//! whether these send what the join has or leave it to the directory.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use fastrand::Rng;
use portcullis_engine::entities::{EntityInput, EntityTable};
use portcullis_engine::filter::RowAttributes;
use portcullis_engine::sql::{Dialect, SqlParam};
use portcullis_engine::types::PropertySource;
use portcullis_engine::{
    AttributeAnswers, Check, CheckBody, DirectoryNeeds, Effect, Facts, KnownEntities,
    KnownProperty, OpenQuestion, Plan, Policy, Precedence, Related, TenantFacts, expression,
    json as text_json,
};
use serde_json::{Map, Value, json};

use super::databases::Database;
use super::{columns, now, policy, write};

const RESOURCE: &str = "comment:read";
const ROWS: usize = 80;
const PLANS: usize = 400;

const SQLITE: &str =
    "CREATE TABLE people (id TEXT, team TEXT COLLATE NOCASE, level INTEGER, manager TEXT);
    CREATE TABLE tickets (id TEXT, team TEXT, level INTEGER, owner TEXT);
    CREATE TABLE comments (number INTEGER PRIMARY KEY, ticket TEXT, author TEXT)";
const POSTGRES: &str = "CREATE TABLE people (id text, team text, level bigint, manager text);
    CREATE TABLE tickets (id text, team text, level bigint, owner text);
    CREATE TABLE comments (number bigint PRIMARY KEY, ticket text, author text)";
/// The rows of the application: each comment with its ticket, the owner of that, and its author.
const FROM: &str = "comments AS c LEFT JOIN tickets AS t ON t.id = c.ticket \
    LEFT JOIN people AS o ON o.id = t.owner LEFT JOIN people AS a ON a.id = c.author ORDER BY c.number";

/// The attributes of a row: the name, the column and its type, and the names on the way.
const ATTRIBUTES: [(&str, &str, &str); 7] = [
    ("ticket", "c.ticket", "text"),
    ("author", "c.author", "text"),
    ("ticket.team", "t.team", "text"),
    ("ticket.level", "t.level", "integer"),
    ("ticket.owner", "t.owner", "text"),
    ("ticket.owner.team", "o.team", "text"),
    ("author.level", "a.level", "integer"),
];
const OF_USERS: [&str; 5] =
    ["team", "manager", "manager.team", "manager.level", "manager.manager.level"];
/// Each property with the type that it refers to.
const PROPERTIES: [(&str, &str, Option<&str>); 8] = [
    ("comment", "ticket", Some("ticket")),
    ("comment", "author", Some("user")),
    ("ticket", "team", None),
    ("ticket", "level", None),
    ("ticket", "owner", Some("user")),
    ("user", "team", None),
    ("user", "level", None),
    ("user", "manager", Some("user")),
];

/// The counts of what was compared.
#[derive(Debug, Default)]
struct Tally {
    exact: usize,
    superset: usize,
    /// Rows of exact conditions that are selected, and those that are not.
    selected: usize,
    left_out: usize,
    /// Checks that left what is behind references to the directory.
    followed: usize,
}

#[tokio::test]
async fn sqlite_selects_by_what_is_behind_references() {
    compare(&Database::sqlite().await).await;
}

#[tokio::test]
async fn postgres_selects_by_what_is_behind_references() {
    let Some((_own, database)) = Database::postgres().await else { return };
    compare(&database).await;
}

async fn compare(database: &Database) {
    let rng = &mut Rng::with_seed(47);
    let world = World::filled(database, rng).await;
    let mut tally = Tally::default();
    for _ in 0..PLANS {
        compare_plan(database, &world, rng, &mut tally).await;
    }
    println!("{tally:?}");
    let Tally { exact, superset, selected, left_out, followed } = tally;
    assert!(exact > superset && superset > 0, "{tally:?}");
    assert!(selected * 10 > exact && left_out * 10 > exact, "{tally:?}");
    assert!(followed * 4 > exact, "{tally:?}");
}

/// The entities of the directory, which are the rows of the tables, and the rows of the join.
struct World {
    table: EntityTable,
    rows: Vec<Map<String, Value>>,
}

impl World {
    async fn filled(database: &Database, rng: &mut Rng) -> Self {
        database.run(if database.dialect() == Dialect::Sqlite { SQLITE } else { POSTGRES }).await;
        let mut entities = BTreeMap::new();
        let mut builder = EntityTable::builder();
        for (of, count) in [("user", 6), ("ticket", 9), ("comment", ROWS)] {
            for number in 0..count {
                let id = format!("{}{number}", &of[..1]);
                let properties = properties(rng, of);
                // No row names its own entity.
                if of != "comment" {
                    let text = Value::from(properties.clone()).to_string();
                    let json = text_json::parse(text.as_bytes()).expect("JSON");
                    let properties = json.as_object().expect("an object");
                    let (id, roles, domain_roles) = (&*id, &[][..], &[][..]);
                    let input =
                        EntityInput { entity_type: of, id, roles, domain_roles, properties };
                    builder.push(&input).expect("room");
                }
                entities.insert((of, id), properties);
            }
        }
        for (table, of, key, names) in [
            ("people", "user", "id", &["team", "level", "manager"][..]),
            ("tickets", "ticket", "id", &["team", "level", "owner"]),
            ("comments", "comment", "number", &["ticket", "author"]),
        ] {
            let rows = entities.iter().filter(|((own, _), _)| *own == of);
            let rows = rows.map(|((_, id), properties)| {
                let mut row = properties.clone();
                let number = || id[1..].parse::<i64>().expect("a number");
                row.insert(key.to_owned(), if key == "id" { json!(id) } else { json!(number()) });
                Value::from(row)
            });
            insert(database, table, (key, names), rows.collect()).await;
        }
        let comments = (0..ROWS).map(|number| &entities[&("comment", format!("c{number}"))]);
        let rows = comments.map(|comment| {
            let joined = ATTRIBUTES.iter().map(|(name, ..)| {
                ((*name).to_owned(), joined(&entities, comment, name).unwrap_or(Value::Null))
            });
            joined.collect()
        });
        Self { table: builder.finish().expect("room"), rows: rows.collect() }
    }
}

/// Returns what the join has for an attribute of a comment.
fn joined(
    entities: &BTreeMap<(&'static str, String), Map<String, Value>>,
    comment: &Map<String, Value>,
    name: &str,
) -> Option<Value> {
    let (mut of, mut value, mut at) = ("comment", Value::Null, comment);
    for (step, part) in name.split('.').enumerate() {
        if step > 0 {
            at = entities.get(&(of, value.as_str()?.to_owned()))?;
        }
        value = at.get(part)?.clone();
        of =
            PROPERTIES.iter().find(|(own, known, _)| (*own, *known) == (of, part))?.2.unwrap_or("");
    }
    Some(value)
}

async fn insert(database: &Database, table: &str, (key, names): (&str, &[&str]), rows: Vec<Value>) {
    let all = [&[key], names].concat();
    let query = match database.dialect() {
        Dialect::Sqlite => {
            let values: Vec<_> = all.iter().map(|name| format!("value ->> '{name}'")).collect();
            let (names, values) = (all.join(", "), values.join(", "));
            format!("INSERT INTO {table} ({names}) SELECT {values} FROM json_each(?) RETURNING 1")
        }
        Dialect::Postgres => format!(
            "INSERT INTO {table} SELECT * FROM json_populate_recordset(NULL::{table}, CAST($1 AS json)) \
             RETURNING CAST(1 AS bigint)"
        ),
    };
    let param = SqlParam::Text(Value::from(rows).to_string().into());
    database.column::<i64>(query, &[param], 0).await;
}

fn properties(rng: &mut Rng, of: &str) -> Map<String, Value> {
    let own = PROPERTIES.iter().filter(|(own, ..)| *own == of);
    let some = own.filter_map(|(_, name, to)| {
        let value = match to {
            _ if rng.u8(..6) == 0 => return None,
            // Some references lead nowhere.
            Some("ticket") => json!(format!("t{}", rng.u8(..10))),
            Some(_) => json!(format!("u{}", rng.u8(..7))),
            None if *name == "level" => json!(rng.u8(..4)),
            None => json!(["a", "A", "b"][rng.usize(..3)]),
        };
        Some(((*name).to_owned(), value))
    });
    some.collect()
}

/// The directory.
struct Live<'w>(&'w EntityTable);

impl Facts for Live<'_> {
    type Work = ();
    type Fault = Infallible;

    fn entities(&self) -> Option<&EntityTable> {
        Some(self.0)
    }

    fn known(&self, sent: &Check<'_>, needs: DirectoryNeeds) -> KnownEntities<'_> {
        KnownEntities::find(self.0, sent, needs)
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

/// The declared sources of properties, and the one that goes first for the others.
fn facts(rng: &mut Rng) -> (TenantFacts, bool) {
    let mut is_of_request = false;
    let mut sources = BTreeMap::<&str, Vec<_>>::new();
    for (of, name, to) in PROPERTIES {
        let from = match rng.u8(..20) {
            0 => Some(PropertySource::Directory),
            1 => Some(PropertySource::Request),
            _ => None,
        };
        is_of_request |= from == Some(PropertySource::Request);
        let known = KnownProperty { from, to: to.map(Box::from) };
        if known != KnownProperty::default() {
            sources.entry(of).or_default().push((name.to_owned(), known));
        }
    }
    let precedence = if rng.bool() { Precedence::Request } else { Precedence::Directory };
    let sources = sources.into_iter().map(|(of, known)| (of.to_owned(), known)).collect();
    let directory = Some(precedence);
    (TenantFacts { directory, sources, ..TenantFacts::default() }, is_of_request)
}

fn test(rng: &mut Rng) -> String {
    let row = |rng: &mut Rng| format!("resource.{}", ATTRIBUTES[rng.usize(..ATTRIBUTES.len())].0);
    let left = row(rng);
    let right = match rng.u8(..3) {
        0 => row(rng),
        _ => format!("user.{}", OF_USERS[rng.usize(..OF_USERS.len())]),
    };
    let value = ["'a'", "'b'", "'t1'", "'u2'", "2"][rng.usize(..5)];
    match rng.u8(..8) {
        0 => format!("exists({left})"),
        1 => format!("{left} >= 2"),
        2 => format!("{left} in ['a', 't1', 't2', 'u2', 1]"),
        3 => format!("({left} == {value}) ?? true"),
        4..6 => format!("{left} == {value}"),
        _ => format!("{left} == {right}"),
    }
}

fn condition(rng: &mut Rng, depth: u32) -> String {
    match rng.u8(..8) {
        0 => format!("!({})", test(rng)),
        1 | 2 if depth < 2 => format!("({}) && ({})", test(rng), condition(rng, depth + 1)),
        3 | 4 if depth < 2 => format!("({}) || ({})", test(rng), condition(rng, depth + 1)),
        _ => test(rng),
    }
}

/// Answers with the check of `request`, completed from the directory.
fn asked<T>(
    world: &World,
    plan: &Plan,
    request: &Value,
    answer: impl FnOnce(&OpenQuestion<'_, '_, Live<'_>>) -> T,
) -> T {
    let text = request.to_string();
    let body = text_json::parse(text.as_bytes()).expect("JSON");
    let check = Check::new(CheckBody::parse(&body).expect("a check"), "acme", None, now());
    answer(&OpenQuestion::combined(plan, &Live(&world.table), check))
}

/// Compares the condition of one plan on every row with checks of every row.
async fn compare_plan(database: &Database, world: &World, rng: &mut Rng, tally: &mut Tally) {
    let mut texts = Vec::new();
    let policies = (0..rng.u128(1..4)).map(|id| {
        let effect = if rng.u8(..4) > 0 { Effect::Allow } else { Effect::Deny };
        let text = condition(rng, 0);
        texts.push(format!("{effect:?}: {text}"));
        policy(id, effect, 0, expression::parse(&text).expect("an expression"))
    });
    let policies: Vec<Policy> = policies.collect();
    let (facts, is_of_request) = facts(rng);
    let facts = Arc::new(facts);
    let plan = Plan::compile_with(RESOURCE, 1, &[], policies, facts.clone(), |_| None);
    // Now and then the application does not join all.
    let declared: Vec<_> = ATTRIBUTES.iter().filter(|_| rng.u8(..20) > 0).collect();
    let request = json!({
        "subject": format!("u{}", rng.u8(..7)), "resource": RESOURCE, "action": "read",
        "attributes": {"resource": {}},
    });
    let all = declared.iter().map(|(name, column, kind)| {
        (format!("resource.{name}"), json!({"sql": column, "type": kind}))
    });
    let columns = columns(&all.collect::<Map<_, _>>().into(), database.dialect());
    let filter = asked(world, &plan, &request, |question| {
        let rows = RowAttributes::resource();
        plan.filter(&question.completed(), &AttributeAnswers::default(), &rows)
    });
    let sql = write(&filter, database.dialect(), &columns);
    let query = format!("SELECT {} FROM {FROM}", sql.text);
    let selected = database.column::<Option<bool>>(query, &sql.params, 0).await;
    assert_eq!(selected.len(), world.rows.len());
    let is_exact = sql.inexact.is_empty();
    for (row, selected) in world.rows.iter().zip(selected) {
        let shown = || {
            format!("{texts:#?}\n{request}\n{row:?}\n{:?}\n{}\n{:?}", facts, sql.text, sql.params)
        };
        let selected = selected.unwrap_or_else(|| panic!("the condition is NULL: {}", shown()));
        let allows = |names: &dyn Fn(&str) -> bool| {
            let mut request = request.clone();
            for (name, ..) in declared.iter().filter(|(name, ..)| names(name)) {
                request["attributes"]["resource"][*name] = row[*name].clone();
            }
            asked(world, &plan, &request, |question| question.settle().effect() == Effect::Allow)
        };
        let sends_all = allows(&|_| true);
        if !is_exact {
            tally.superset += 1;
            assert!(selected || !sends_all, "an allowed row is missing: {}", shown());
            continue;
        }
        tally.exact += 1;
        if selected {
            tally.selected += 1
        } else {
            tally.left_out += 1
        }
        assert_eq!(selected, sends_all, "{}", shown());
        // The directory has what the join has.
        if !is_of_request && declared.len() == ATTRIBUTES.len() {
            tally.followed += 1;
            assert_eq!(selected, allows(&|name| !name.contains('.')), "followed: {}", shown());
        }
    }
}
