//! A drive: users in nested groups, folders in folders, documents in folders, shares with users and groups.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use fastrand::Rng;
use portcullis_directory::{
    Graph, Object, RelationNumber, Schema, Tuple, TupleTable, TypeRelations, read_relations,
};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json;

pub(crate) const TYPES: &[(&str, &str)] = &[
    ("group", r#"{"member": "[user, group#member]"}"#),
    (
        "folder",
        r#"{"parent": "[folder]", "owner": "[user]", "banned": "[user] || parent.banned",
            "viewer": "[user, group#member, user:*] || owner || parent.viewer"}"#,
    ),
    (
        "document",
        r#"{"parent": "[folder]", "editor": "[user, group#member] || parent.owner",
            "viewer": "[user, group#member] || editor || parent.viewer", "read": "viewer && !parent.banned"}"#,
    ),
];

/// Compiles types, each with its relations as JSON. Numbers them in this order.
pub(crate) fn schema(types: &[(&str, &str)]) -> Result<Arc<Schema>> {
    let mut number = 0;
    let mut read = Vec::new();
    for (name, relations) in types {
        let json = json::parse(relations.as_bytes())?;
        let mut problems = Problems::default();
        let relations = read_relations(&json, &Place::root(), &mut problems);
        let numbered = problems.finish(relations)?.into_iter().map(|one| {
            number += 1;
            (RelationNumber(number), one)
        });
        read.push((*name, numbered.collect::<Vec<_>>()));
    }
    let types: Vec<_> =
        read.iter().map(|(name, relations)| TypeRelations { name, relations }).collect();
    Ok(Arc::new(Schema::compile(&types)?))
}

/// An object of a set: the number of its type, and its own.
pub(crate) type Thing = (usize, usize);

/// Tuples as plain data.
pub(crate) struct Tuples {
    pub(crate) schema: Arc<Schema>,
    types: &'static [&'static str],
    /// The ids by type.
    pub(crate) ids: Vec<Vec<String>>,
    /// Object, relation, subject, and the relation of the subject.
    pub(crate) list: Vec<(Thing, RelationNumber, Thing, Option<RelationNumber>)>,
}

impl Tuples {
    pub(crate) fn new(
        schema: Arc<Schema>,
        types: &'static [&'static str],
        ids: Vec<Vec<String>>,
    ) -> Self {
        Self { schema, types, ids, list: Vec::new() }
    }

    pub(crate) fn number(&self, of_type: usize, relation: &str) -> Result<RelationNumber> {
        let found = self.schema.relation(self.types[of_type], relation);
        Ok(self.schema.number(found.ok_or_else(|| anyhow!("no relation `{relation}`"))?))
    }

    /// Adds a tuple; `related` is the relation of the subject.
    pub(crate) fn add(
        &mut self,
        object: Thing,
        relation: &str,
        subject: Thing,
        related: Option<&str>,
    ) -> Result<()> {
        let related = related.map(|related| self.number(subject.0, related)).transpose()?;
        self.list.push((object, self.number(object.0, relation)?, subject, related));
        Ok(())
    }

    pub(crate) fn object(&self, (of_type, id): Thing) -> Object<'_> {
        Object { object_type: self.types[of_type], id: &self.ids[of_type][id] }
    }

    pub(crate) fn tuples(&self) -> impl Iterator<Item = Tuple<'_>> {
        self.list.iter().map(|(object, relation, subject, subject_relation)| Tuple {
            object: self.object(*object),
            relation: *relation,
            subject: self.object(*subject),
            subject_relation: *subject_relation,
            expires_at: None,
        })
    }

    pub(crate) fn table(&self) -> Result<TupleTable> {
        let mut builder = TupleTable::builder();
        for tuple in self.tuples() {
            builder.push(tuple)?;
        }
        Ok(builder.finish())
    }

    pub(crate) fn graph(&self, max_closure_bytes: usize) -> Result<Graph> {
        Ok(Graph::new(Arc::clone(&self.schema), self.table()?, max_closure_bytes))
    }
}

pub(crate) const USER: usize = 0;
pub(crate) const GROUP: usize = 1;
pub(crate) const FOLDER: usize = 2;
pub(crate) const DOCUMENT: usize = 3;
const USERS: usize = 25_000;
const GROUPS: usize = 2_000;
const FOLDERS: usize = 50_000;
/// The levels of folders.
const LEVELS: usize = 5;

/// Returns the number of the first folder of a level.
fn start(level: usize) -> usize {
    // Up to the next level there are four times as many folders as up to this one.
    if level == 0 { 0 } else { FOLDERS >> (2 * (LEVELS - level)) }
}

/// Returns the numbers of the folders that are in no other.
pub(crate) fn roots() -> Range<usize> {
    start(0)..start(1)
}

/// Makes a text in the form of a UUID.
fn uuid(random: &mut Rng) -> String {
    let bits = random.u128(..);
    let [a, b, c, d] = [bits >> 96, bits >> 80 & 0xffff, bits >> 64 & 0xffff, bits >> 48 & 0xffff];
    format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{:012x}", bits & 0xffff_ffff_ffff)
}

/// Makes a drive with 3.1 tuples for each document and 0.22 million others. Documents are five folders deep.
pub(crate) fn drive(documents: usize) -> Result<Tuples> {
    let random = &mut Rng::with_seed(3);
    let ids = [USERS, GROUPS, FOLDERS, documents];
    let ids = ids.map(|count| (0..count).map(|_| uuid(random)).collect()).into();
    let types = &["user", "group", "folder", "document"];
    let mut tuples = Tuples::new(schema(TYPES)?, types, ids);
    for user in 0..USERS {
        for _ in 0..random.usize(3..8) {
            tuples.add((GROUP, random.usize(..GROUPS)), "member", (USER, user), None)?;
        }
    }
    for group in 1..GROUPS {
        // Groups are four levels deep.
        for _ in 0..if random.u8(..5) == 0 { 2 } else { 1 } {
            // A group above has a smaller number, so that no ring arises.
            let above = (GROUP, random.usize(group / 8..group / 4 + 1));
            tuples.add(above, "member", (GROUP, group), Some("member"))?;
        }
    }
    for level in 0..LEVELS {
        for folder in start(level)..start(level + 1) {
            if level > 0 {
                let above = random.usize(start(level - 1)..start(level));
                tuples.add((FOLDER, folder), "parent", (FOLDER, above), None)?;
            }
            tuples.add((FOLDER, folder), "owner", (USER, random.usize(..USERS)), None)?;
            let viewers = (GROUP, random.usize(..GROUPS));
            tuples.add((FOLDER, folder), "viewer", viewers, Some("member"))?;
        }
    }
    for document in 0..documents {
        let document = (DOCUMENT, document);
        let above = random.usize(start(LEVELS - 1)..FOLDERS);
        tuples.add(document, "parent", (FOLDER, above), None)?;
        tuples.add(document, "editor", (USER, random.usize(..USERS)), None)?;
        for _ in 0..random.usize(0..3) {
            tuples.add(document, "viewer", (USER, random.usize(..USERS)), None)?;
        }
        if random.u8(..10) == 0 {
            let viewers = (GROUP, random.usize(..GROUPS));
            tuples.add(document, "viewer", viewers, Some("member"))?;
        }
    }
    Ok(tuples)
}
