//! Random types and tuples, as plain data.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use fastrand::Rng;
use portcullis_directory::{
    Graph, Object, RelationNumber, Schema, Tuple, TupleChange, TupleTable, TypeRelations,
    read_relations,
};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json;

pub(crate) const USER: usize = 0;
/// The types of a world; `user` has no relations.
pub(crate) const TYPES: [&str; 4] = ["user", "group", "folder", "doc"];
/// The relations of each type but `user`. The first one stores objects alone.
pub(crate) const RELATIONS: [&str; 5] = ["parent", "a", "b", "c", "d"];
/// The ids of each type. Tuples do not name the last one.
pub(crate) const IDS: [&str; 4] = ["1", "2", "3", "new"];

/// An object: type and id, as indexes.
pub(crate) type Thing = (usize, usize);
/// The id that stands for everybody.
pub(crate) const EVERYONE: usize = usize::MAX;

/// A type with `None`, `Some(Some(relation))` or `Some(None)` for everybody.
pub(crate) type Stored = (usize, Option<Option<usize>>);

/// A line.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Stored(Vec<Stored>),
    Path(Vec<usize>),
    Any(Vec<Expr>),
    /// Each with whether `!` stands before it.
    All(Vec<(Expr, bool)>),
}

/// A stored edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) object: Thing,
    pub(crate) relation: usize,
    pub(crate) subject: Thing,
    pub(crate) subject_relation: Option<usize>,
    /// In seconds.
    pub(crate) expiry: Option<i64>,
}

/// Types, tuples, and both as a graph.
pub(crate) struct World {
    /// The lines by type and relation.
    pub(crate) lines: BTreeMap<(usize, usize), Expr>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) graph: Graph,
}

pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

pub(crate) fn number(of_type: usize, relation: usize) -> RelationNumber {
    RelationNumber(u16::try_from(of_type * 10 + relation).expect("small"))
}

pub(crate) fn object((of_type, id): Thing) -> Object<'static> {
    let id = if id == EVERYONE { "*" } else { IDS[id] };
    Object { object_type: TYPES[of_type], id }
}

pub(crate) fn tuple(edge: &Edge) -> Tuple<'static> {
    let related = edge.subject_relation;
    Tuple {
        object: object(edge.object),
        relation: number(edge.object.0, edge.relation),
        subject: object(edge.subject),
        subject_relation: related.map(|relation| number(edge.subject.0, relation)),
        expires_at: edge.expiry.map(at),
    }
}

/// Makes the graph of some edges.
pub(crate) fn graph(schema: &Arc<Schema>, edges: &[Edge]) -> Graph {
    let mut builder = TupleTable::builder();
    edges.iter().for_each(|edge| builder.push(tuple(edge)).expect("room"));
    Graph::new(Arc::clone(schema), builder.finish(), 1 << 20)
}

impl World {
    /// Makes a world whose types compile.
    pub(crate) fn random(random: &mut Rng) -> Self {
        loop {
            let mut lines = BTreeMap::new();
            for of_type in 1..TYPES.len() {
                for relation in 0..RELATIONS.len() {
                    lines.insert((of_type, relation), line(random, of_type, relation));
                }
            }
            let Some(schema) = schema(&lines) else { continue };
            let edges = edges(random, &lines);
            let graph = with_changes(random, schema, &edges);
            return Self { lines, edges, graph };
        }
    }

    /// Returns every object that a question can name.
    pub(crate) fn objects() -> impl Iterator<Item = Thing> {
        (1..TYPES.len()).flat_map(|of_type| (0..IDS.len()).map(move |id| (of_type, id)))
    }

    pub(crate) fn show(&self) -> String {
        let mut shown = String::new();
        for ((of_type, relation), line) in &self.lines {
            let line = text(line, false);
            writeln!(shown, "{}.{}: {line}", TYPES[*of_type], RELATIONS[*relation]).expect("text");
        }
        for edge in &self.edges {
            let Edge { relation, subject_relation, expiry, .. } = edge;
            let related = subject_relation.map(|relation| RELATIONS[relation]).unwrap_or_default();
            let (object, subject) = (object(edge.object), object(edge.subject));
            writeln!(
                shown,
                "{}:{} {} {}:{}#{related} {expiry:?}",
                object.object_type,
                object.id,
                RELATIONS[*relation],
                subject.object_type,
                subject.id
            )
            .expect("text");
        }
        shown
    }
}

fn line(random: &mut Rng, of_type: usize, relation: usize) -> Expr {
    if relation == 0 {
        let types = (1..TYPES.len()).filter(|parent| *parent == of_type || random.bool());
        return Expr::Stored(types.map(|parent| (parent, None)).collect());
    }
    let mut has_stored = random.u8(..3) > 0;
    if !has_stored {
        return expr(random, 0, &mut has_stored);
    }
    let parts = [Expr::Stored(stored(random)), expr(random, 1, &mut has_stored)];
    match random.bool() {
        true => Expr::Any(parts.into()),
        false => Expr::All(parts.map(|part| (part, false)).into()),
    }
}

fn expr(random: &mut Rng, depth: usize, has_stored: &mut bool) -> Expr {
    let parts = |random: &mut Rng| random.usize(2..4);
    match random.u8(..10) {
        0..3 if depth < 3 => {
            let parts = (0..parts(random)).map(|_| expr(random, depth + 1, has_stored));
            Expr::Any(parts.collect())
        }
        3..5 if depth < 3 => {
            let mut parts: Vec<_> = (0..parts(random))
                .map(|_| (expr(random, depth + 1, has_stored), random.bool()))
                .collect();
            parts[0].1 = false;
            Expr::All(parts)
        }
        5..8 if !*has_stored => {
            *has_stored = true;
            Expr::Stored(stored(random))
        }
        8 => {
            let own = |random: &mut Rng| random.usize(1..RELATIONS.len());
            let steps = if random.u8(..4) == 0 { vec![0, 0] } else { vec![0] };
            Expr::Path([steps, vec![own(random)]].concat())
        }
        _ => Expr::Path(vec![random.usize(0..RELATIONS.len())]),
    }
}

fn stored(random: &mut Rng) -> Vec<(usize, Option<Option<usize>>)> {
    let mut all = vec![(USER, None)];
    for of_type in 0..TYPES.len() {
        let which = match random.u8(..4) {
            0 => Some(None),
            1 | 2 if of_type != USER => Some(Some(random.usize(0..RELATIONS.len()))),
            _ => None,
        };
        if (of_type, which) != (USER, None) && random.bool() {
            all.push((of_type, which));
        }
    }
    all
}

/// Returns the text of a line. `inner` says whether an operator stands around it.
pub(crate) fn text(line: &Expr, inner: bool) -> String {
    let joined = |parts: Vec<String>, joint: &str| {
        let joined = parts.join(joint);
        if inner { format!("({joined})") } else { joined }
    };
    match line {
        Expr::Stored(all) => {
            let all: Vec<String> = all
                .iter()
                .map(|(of_type, which)| match which {
                    None => TYPES[*of_type].to_owned(),
                    Some(None) => format!("{}:*", TYPES[*of_type]),
                    Some(Some(relation)) => format!("{}#{}", TYPES[*of_type], RELATIONS[*relation]),
                })
                .collect();
            format!("[{}]", all.join(", "))
        }
        Expr::Path(relations) => {
            relations.iter().map(|relation| RELATIONS[*relation]).collect::<Vec<_>>().join(".")
        }
        Expr::Any(parts) => joined(parts.iter().map(|part| text(part, true)).collect(), " || "),
        Expr::All(parts) => {
            let negated = |(part, negated): &(Expr, bool)| {
                format!("{}{}", if *negated { "!" } else { "" }, text(part, true))
            };
            joined(parts.iter().map(negated).collect(), " && ")
        }
    }
}

/// Compiles the lines. `None` if they are refused.
fn schema(lines: &BTreeMap<(usize, usize), Expr>) -> Option<Arc<Schema>> {
    let mut types = Vec::new();
    for of_type in 1..TYPES.len() {
        let members: Vec<String> = (0..RELATIONS.len())
            .map(|relation| {
                let (name, line) = (RELATIONS[relation], text(&lines[&(of_type, relation)], false));
                match relation {
                    0 => format!(r#""{name}": {{"from": "{line}", "request": "parent"}}"#),
                    // Claims are for relations that store users.
                    1 if line.contains("[user,") || line.contains("[user]") => {
                        format!(r#""{name}": {{"from": "{line}", "claim": "groups"}}"#)
                    }
                    _ => format!(r#""{name}": "{line}""#),
                }
            })
            .collect();
        let relations = format!("{{{}}}", members.join(", "));
        let json = json::parse(relations.as_bytes()).expect("JSON");
        let mut problems = Problems::default();
        let read = read_relations(&json, &Place::root(), &mut problems);
        let read = problems.finish(read).expect(&relations);
        let numbered =
            read.into_iter().zip(0..).map(|(one, relation)| (number(of_type, relation), one));
        types.push((TYPES[of_type], numbered.collect::<Vec<_>>()));
    }
    let types: Vec<_> =
        types.iter().map(|(name, relations)| TypeRelations { name, relations }).collect();
    Schema::compile(&types).ok().map(Arc::new)
}

/// Returns the `[…]` of a line.
fn stored_in(line: &Expr) -> Option<&[Stored]> {
    match line {
        Expr::Stored(all) => Some(all),
        Expr::Path(_) => None,
        Expr::Any(parts) => parts.iter().find_map(stored_in),
        Expr::All(parts) => parts.iter().find_map(|(part, _)| stored_in(part)),
    }
}

/// Draws tuples that the lines admit.
fn edges(random: &mut Rng, lines: &BTreeMap<(usize, usize), Expr>) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let known = IDS.len() - 1;
    for _ in 0..random.usize(20..80) {
        let of_type = random.usize(1..TYPES.len());
        let relation = random.usize(0..RELATIONS.len());
        let Some(stored) = stored_in(&lines[&(of_type, relation)]) else { continue };
        let any = random.usize(..2 * stored.len());
        let (subject_type, which) = stored.get(any).copied().unwrap_or(stored[0]);
        let id = if which == Some(None) { EVERYONE } else { random.usize(..known) };
        let edge = Edge {
            object: (of_type, random.usize(..known)),
            relation,
            subject: (subject_type, id),
            subject_relation: which.flatten(),
            expiry: (random.u8(..5) == 0).then(|| random.i64(0..3)),
        };
        edges.retain(|own| Edge { expiry: None, ..*own } != Edge { expiry: None, ..edge });
        edges.push(edge);
    }
    edges
}

/// Makes the graph of the edges, some of which come as changes.
fn with_changes(random: &mut Rng, schema: Arc<Schema>, edges: &[Edge]) -> Graph {
    let (mut builder, mut changes) = (TupleTable::builder(), Vec::new());
    for edge in edges {
        match random.u8(..4) {
            0 => changes.push(TupleChange::Put(tuple(edge))),
            1 => {
                builder.push(tuple(&Edge { expiry: Some(1), ..*edge })).expect("room");
                changes.push(TupleChange::Put(tuple(edge)));
            }
            _ => builder.push(tuple(edge)).expect("room"),
        }
        // The same with another subject comes and goes.
        let gone = Edge { subject: (edge.subject.0, random.usize(..IDS.len())), ..*edge };
        let same = |own: &Edge| Edge { expiry: None, ..*own } == Edge { expiry: None, ..gone };
        if !edges.iter().any(same) {
            builder.push(tuple(&gone)).expect("room");
            changes.push(TupleChange::Remove(tuple(&gone)));
        }
    }
    let mut table = builder.finish();
    for change in changes {
        table = table.changed([change]).expect("room");
    }
    Graph::new(schema, table, 1 << 20)
}
