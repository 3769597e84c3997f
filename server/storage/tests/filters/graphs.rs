//! Random types and tuples.

use std::sync::Arc;

use chrono::TimeDelta;
use fastrand::Rng;
use portcullis_directory::{
    Graph, Object, RelationNumber, Schema, Tuple, TupleTable, TypeRelations, read_relations,
};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json;

use super::now;
use super::rows::UUIDS;

/// Ids of documents and folders: of every type of column, and some that nearly are.
pub(crate) const IDS: [&str; 12] = [
    "1",
    "-3",
    "007",
    "9223372036854775807",
    "9223372036854775808",
    UUIDS[0],
    UUIDS[3],
    UUIDS[5],
    "a",
    "A",
    "a ",
    "%",
];
const USERS: [&str; 3] = ["ann", "ANN", "bob"];
const GROUPS: [&str; 2] = ["eng", "ops"];

const MEMBERS: [&str; 2] = ["[user, group#member]", "[user, group#member, user:*]"];
const FOLDER_VIEWERS: [&str; 3] = [
    "[user, group#member] || owner || parent.viewer",
    "[user, group#member] || (owner && parent.viewer)",
    "([user, folder#viewer] || owner) && !banned",
];
const PARENTS: [&str; 2] = ["[folder]", "[folder, group]"];
const EDITORS: [&str; 3] = [
    "[user, group#member] || parent.owner",
    "owner || parent.parent.owner",
    "[user] && !parent.banned",
];
const VIEWERS: [&str; 4] = [
    "[user, group#member] || editor || parent.viewer",
    "[document#editor, user:*] || owner || parent.viewer",
    "(editor || parent.viewer) && owner",
    "editor || parent.parent.viewer",
];
const READERS: [&str; 3] =
    ["viewer && !parent.banned", "(viewer || owner) && !editor", "viewer || (editor && !owner)"];

/// The relations of documents that conditions name; no type has the last one.
pub(crate) const RELATIONS: [&str; 5] = ["viewer", "editor", "owner", "read", "auditor"];

/// Makes types and tuples.
pub(crate) fn random(rng: &mut Rng) -> Graph {
    let mut one = |lines: &[&'static str]| lines[rng.usize(..lines.len())];
    let group = format!(r#"{{"member": "{}"}}"#, one(&MEMBERS));
    let folder = format!(
        r#"{{"parent": "[folder]", "owner": "[user]", "banned": "[user, user:*] || parent.banned", "viewer": "{}"}}"#,
        one(&FOLDER_VIEWERS)
    );
    let document = format!(
        r#"{{"parent": {{"from": "{}", "request": "parent"}}, "owner": {{"from": "[user]", "request": "owner"}},
            "editor": "{}", "viewer": "{}", "read": "{}"}}"#,
        one(&PARENTS),
        one(&EDITORS),
        one(&VIEWERS),
        one(&READERS)
    );
    let schema = schema(&[("document", document), ("folder", folder), ("group", group)]);
    let mut builder = TupleTable::builder();
    for relation in schema.relations() {
        // Few banned and many shared.
        for _ in 0..rng.usize(..if schema.name(relation) == "banned" { 2 } else { 8 }) {
            if let Some(tuple) =
                tuple(rng, &schema, schema.type_of(relation), schema.name(relation))
            {
                builder.push(tuple).expect("room");
            }
        }
    }
    Graph::new(Arc::clone(&schema), builder.finish(), 1 << 20)
}

fn schema(types: &[(&str, String)]) -> Arc<Schema> {
    let mut numbers = (0..).map(RelationNumber);
    let read = |text: &String| {
        let json = json::parse(text.as_bytes()).expect("JSON");
        let mut problems = Problems::default();
        let read = read_relations(&json, &Place::root(), &mut problems);
        numbers.by_ref().zip(problems.finish(read).expect("relations")).collect::<Vec<_>>()
    };
    let (names, texts): (Vec<&str>, Vec<&String>) =
        types.iter().map(|(name, text)| (*name, text)).unzip();
    let relations: Vec<_> = texts.into_iter().map(read).collect();
    let types =
        names.iter().zip(&relations).map(|(name, relations)| TypeRelations { name, relations });
    Arc::new(Schema::compile(&types.collect::<Vec<_>>()).expect("types"))
}

/// Draws a tuple that the line of the relation admits.
fn tuple(rng: &mut Rng, schema: &Schema, of_type: &str, name: &str) -> Option<Tuple<'static>> {
    let relation = schema.relation(of_type, name)?;
    let stored: Vec<String> = schema.storable(relation).collect();
    let form = stored.get(rng.usize(..stored.len().max(1)))?;
    let (subject_type, related) =
        form.split_once('#').map_or((&**form, None), |(one, of)| (one, Some(of)));
    let (subject_type, is_all) =
        subject_type.split_once(':').map_or((subject_type, false), |(one, _)| (one, true));
    let subject = if is_all {
        Object { id: "*", ..object(rng, subject_type) }
    } else {
        object(rng, subject_type)
    };
    let seconds = [None, None, None, Some(-1), Some(0), Some(1)][rng.usize(..6)];
    Some(Tuple {
        object: object(rng, of_type),
        relation: schema.number(relation),
        subject,
        subject_relation: related
            .and_then(|name| Some(schema.number(schema.relation(subject_type, name)?))),
        expires_at: seconds.map(|seconds| now() + TimeDelta::seconds(seconds)),
    })
}

/// Draws an object of a type.
pub(crate) fn object(rng: &mut Rng, of_type: &str) -> Object<'static> {
    let (object_type, ids): (_, &[&str]) = match of_type {
        "user" => ("user", &USERS),
        "group" => ("group", &GROUPS),
        "folder" => ("folder", &IDS),
        _ => ("document", &IDS),
    };
    Object { object_type, id: ids[rng.usize(..ids.len())] }
}
