//! Rows of documents with ids, owners and folders in columns of every type, and the attributes that checks of them have.

use fastrand::Rng;
use portcullis_engine::sql::{Dialect, SqlParam};
use serde_json::{Value, json};

use super::databases::Database;
use super::graphs::{IDS, object};
use super::rows::UUIDS;

const SQLITE: &str = "CREATE TABLE papers (number INTEGER PRIMARY KEY, open INTEGER, owner TEXT COLLATE NOCASE,
        text_id TEXT COLLATE NOCASE, uuid_id TEXT, integer_id INTEGER,
        reference TEXT COLLATE NOCASE, text_folder TEXT, uuid_folder TEXT, integer_folder INTEGER, folders TEXT);
    CREATE TABLE placed (paper INTEGER, folder TEXT COLLATE NOCASE)";
const POSTGRES: &str = "CREATE TABLE papers (number bigint PRIMARY KEY, open boolean, owner text COLLATE ci,
        text_id text COLLATE ci, uuid_id uuid, integer_id bigint,
        reference text COLLATE ci, text_folder text COLLATE \"C\", uuid_folder uuid, integer_folder bigint,
        folders text[] COLLATE ci);
    CREATE TABLE placed (paper bigint, folder text COLLATE ci)";
/// The rows and their places: each statement reads a JSON list.
const SQLITE_ROWS: [&str; 2] = [
    "INSERT INTO papers SELECT value ->> 'number', value ->> 'open', value ->> 'owner', value ->> 'text_id',
        value ->> 'uuid_id', value ->> 'integer_id', value ->> 'reference', value ->> 'text_folder',
        value ->> 'uuid_folder', value ->> 'integer_folder', nullif(value -> 'folders', 'null') FROM json_each(?) RETURNING 1",
    "INSERT INTO placed SELECT value ->> 'paper', value ->> 'folder' FROM json_each(?) RETURNING 1",
];
const POSTGRES_ROWS: [&str; 2] = [
    "INSERT INTO papers SELECT * FROM json_populate_recordset(NULL::papers, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
    "INSERT INTO placed SELECT * FROM json_populate_recordset(NULL::placed, CAST($1 AS json))
        RETURNING CAST(1 AS bigint)",
];

/// The columns that one plan declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    id: &'static str,
    /// The member of a row with its folders, if there is a column for it.
    pub(crate) folder: Option<&'static str>,
    pub(crate) owner: bool,
}

impl Declared {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        const FOLDERS: [&str; 6] =
            ["reference", "text_folder", "uuid_folder", "integer_folder", "folders", "placed"];
        Self {
            id: ["text_id", "uuid_id", "integer_id"][rng.usize(..3)],
            folder: (rng.u8(..5) > 0).then(|| FOLDERS[rng.usize(..FOLDERS.len())]),
            owner: rng.bool(),
        }
    }

    pub(crate) fn columns(self) -> Value {
        let typed = |name: &str| name.split_once('_').map_or("text", |(kind, _)| kind).to_owned();
        let mut columns = json!({
            "resource.open": {"sql": "p.open", "type": "boolean"},
            "resource.id": {"sql": format!("p.{}", self.id), "type": typed(self.id), "of": "document"},
        });
        if self.owner {
            columns["resource.owner"] = json!({"sql": "p.owner", "type": "text", "of": "user"});
        }
        let folder = match self.folder {
            None => return columns,
            Some("reference") => json!({"sql": "p.reference", "type": "text"}),
            Some("folders") => json!({"sql": "p.folders", "type": "text[]", "of": "folder"}),
            Some("placed") => json!({
                "pairs": {"table": "placed", "row": "paper", "value": "folder"}, "key": "p.number", "type": "text",
                "of": "folder",
            }),
            Some(name) => {
                json!({"sql": format!("p.{name}"), "type": typed(name), "of": "folder"})
            }
        };
        columns["resource.parent"] = folder;
        columns
    }

    /// Returns the attributes that a check of a row has.
    pub(crate) fn attributes(self, row: &Value) -> Value {
        let mut attributes = json!({});
        let mut set = |name: &str, value: Value| {
            if !value.is_null() {
                attributes[name] = value;
            }
        };
        set("open", row["open"].clone());
        set("id", text(&row[self.id]));
        if self.owner {
            set("owner", referring("user", &row["owner"]));
        }
        match self.folder {
            // NULL is no edge.
            Some("reference") if row["reference"].is_null() => set("parent", json!([])),
            Some("reference") => set("parent", row["reference"].clone()),
            Some(name) => set("parent", referring("folder", &row[name])),
            None => {}
        }
        attributes
    }
}

fn text(value: &Value) -> Value {
    value.as_i64().map_or_else(|| value.clone(), |number| json!(number.to_string()))
}

/// Returns the references to bare ids. NULL and an empty text are none.
fn referring(object_type: &str, ids: &Value) -> Value {
    let one = |id: &Value| {
        text(id).as_str().filter(|id| !id.is_empty()).map(|id| json!(format!("{object_type}:{id}")))
    };
    match ids.as_array() {
        Some(ids) => ids.iter().filter_map(one).collect(),
        None => one(ids).unwrap_or_else(|| json!([])),
    }
}

/// Fills the tables.
pub(crate) async fn fill(database: &Database, rng: &mut Rng, count: usize) -> Vec<Value> {
    let (tables, inserts) = match database.dialect() {
        Dialect::Sqlite => (SQLITE, SQLITE_ROWS),
        Dialect::Postgres => (POSTGRES, POSTGRES_ROWS),
    };
    database.run(tables).await;
    let rows: Vec<Value> = (0..count).map(|number| paper(rng, number)).collect();
    let placed = rows.iter().flat_map(|row| {
        let folders = row["placed"].as_array().expect("a list").iter();
        folders.map(|folder| json!({"paper": row["number"], "folder": folder}))
    });
    for (insert, rows) in inserts.into_iter().zip([json!(rows), placed.collect()]) {
        let text = SqlParam::Text(rows.to_string().into());
        database.column::<i64>(insert.to_owned(), &[text], 0).await;
    }
    rows
}

fn paper(rng: &mut Rng, number: usize) -> Value {
    let integers: Vec<i64> = IDS.iter().filter_map(|id| id.parse().ok()).collect();
    let one = |rng: &mut Rng, pool: &[&str]| match rng.usize(..pool.len() + 1) {
        0 => Value::Null,
        index => json!(pool[index - 1]),
    };
    let integer = |rng: &mut Rng| (rng.u8(..6) > 0).then(|| integers[rng.usize(..integers.len())]);
    let folders =
        |rng: &mut Rng| (0..rng.usize(..3)).map(|_| object(rng, "folder").id).collect::<Vec<_>>();
    let reference = match rng.u8(..8) {
        0 => one(rng, &["folder:", "Folder:a", "a", "", "document:a", "group:eng", "group:"]),
        1 => Value::Null,
        _ => json!(format!("folder:{}", object(rng, "folder").id)),
    };
    json!({
        "number": number,
        "open": (rng.u8(..3) > 0).then(|| rng.bool()),
        "owner": one(rng, &["ann", "ANN", "bob", "", "%"]),
        "text_id": one(rng, &IDS),
        "uuid_id": one(rng, &UUIDS[..4]),
        "integer_id": integer(rng),
        "reference": reference,
        "text_folder": one(rng, &[&IDS[..], &[""]].concat()),
        "uuid_folder": one(rng, &UUIDS[..4]),
        "integer_folder": integer(rng),
        "folders": (rng.u8(..4) > 0).then(|| folders(rng)),
        "placed": folders(rng),
    })
}
