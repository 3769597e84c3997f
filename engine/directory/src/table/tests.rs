//! Tests of the table: every answer is that of a sorted map of tuples.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use fastrand::Rng;
use portcullis_workloads::measure::kept;

use super::*;
use crate::schema::RelationNumber;

const TYPES: [&str; 3] = ["doc", "group", "user"];
const IDS: [&str; 6] = ["B", "a", "aa", "b", "ä", "*"];

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn object(random: &mut Rng) -> Object<'static> {
    Object { object_type: TYPES[random.usize(..3)], id: IDS[random.usize(..6)] }
}

fn tuple(random: &mut Rng) -> Tuple<'static> {
    let number = |random: &mut Rng| RelationNumber(random.u16(0..3));
    Tuple {
        object: object(random),
        relation: number(random),
        subject: object(random),
        subject_relation: random.bool().then(|| number(random)),
        expires_at: (random.u8(..4) == 0).then(|| at(random.i64(0..4))),
    }
}

/// All of a tuple but its expiry, in an order.
type Key<'t> = (Object<'t>, RelationNumber, Object<'t>, Option<RelationNumber>);
/// The tuples of a table with their expiries.
type Model<'t> = BTreeMap<Key<'t>, Option<DateTime<Utc>>>;

fn key<'t>(tuple: &Tuple<'t>) -> Key<'t> {
    (tuple.object, tuple.relation, tuple.subject, tuple.subject_relation)
}

fn read(table: &TupleTable) -> Model<'_> {
    let all: Vec<_> = table.iter().map(|tuple| (key(&tuple), tuple.expires_at)).collect();
    assert_eq!(all.len(), table.len());
    all.into_iter().collect()
}

/// Asserts that each node has the edges of the model in both ways, at each instant.
fn compare(table: &TupleTable, model: &Model<'_>) {
    assert_eq!(read(table), *model);
    for (now, way) in (0..4).flat_map(|now| [(at(now), Way::Forward), (at(now), Way::Back)]) {
        let counts = |expiry: &Option<DateTime<Utc>>| expiry.is_none_or(|expiry| expiry > now);
        let mut expected: Vec<Key<'_>> =
            model.iter().filter(|(_, expiry)| counts(expiry)).map(|(key, _)| *key).collect();
        let mut found = Vec::new();
        for object in TYPES.iter().flat_map(|of| IDS.map(|id| Object { object_type: of, id })) {
            let Some(node) = table.find(object) else { continue };
            assert_eq!(table.get(node), object);
            let mut moment = Moment::new(now);
            table.at(way, node).each(edge::EdgeKey::all(), |edges| {
                for other in edges.nodes(&mut moment) {
                    let edge = way.edge(node, edges.key, other);
                    found.push(key(&table.tuple_of(edge)));
                }
                Some(())
            });
        }
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        for of in TYPES {
            let named = expected.iter().flat_map(|(object, _, subject, _)| [*object, *subject]);
            let mut ids: Vec<&str> = named
                .filter(|one| one.object_type == of && one.id != "*")
                .map(|one| one.id)
                .collect();
            ids.sort_unstable();
            ids.dedup();
            for after in [None, Some("a"), Some("ab")] {
                let ids: Vec<&str> = ids
                    .iter()
                    .copied()
                    .filter(|id| after.is_none_or(|after| *id > after))
                    .collect();
                let found = table.named(of, after, now);
                assert_eq!(found.collect::<Vec<_>>(), ids);
            }
        }
    }
}

#[test]
fn changes_give_the_tuples_of_a_map() {
    let mut random = Rng::with_seed(15);
    for round in 0..60 {
        let mut builder = TupleTable::builder();
        let mut model = Model::new();
        for _ in 0..random.usize(..40) {
            let tuple = tuple(&mut random);
            builder.push(tuple).expect("room");
            model.insert(key(&tuple), tuple.expires_at);
        }
        let mut table = builder.finish();
        compare(&table, &model);
        for _ in 0..8 {
            let changes: Vec<TupleChange<'_>> = (0..random.usize(..12))
                .map(|_| match random.bool() {
                    true => TupleChange::Put(tuple(&mut random)),
                    false => TupleChange::Remove(tuple(&mut random)),
                })
                .collect();
            for change in &changes {
                match change {
                    TupleChange::Put(tuple) => drop(model.insert(key(tuple), tuple.expires_at)),
                    TupleChange::Remove(tuple) => drop(model.remove(&key(tuple))),
                }
            }
            table = table.changed(changes).expect("room");
            compare(&table, &model);
            if random.u8(..4) == 0 {
                table = table.folded().expect("room");
                assert!(!table.should_fold());
                compare(&table, &model);
            }
        }
        assert!(round > 0 || !table.is_empty());
    }
}

#[test]
fn an_edge_to_one_of_many_nodes_is_found() {
    let mut random = Rng::with_seed(16);
    for _ in 0..300 {
        let doc = Object { object_type: "doc", id: "d" };
        let ids: Vec<String> = (0..50).map(|n| format!("{n:02}")).collect();
        let tuple = |n: usize, expires_at| Tuple {
            object: doc,
            relation: RelationNumber(0),
            subject: Object { object_type: "user", id: &ids[n] },
            subject_relation: None,
            expires_at,
        };
        let mut builder = TupleTable::builder();
        for n in 0..50 {
            builder.push(tuple(n, random.bool().then(|| at(1)))).expect("room");
        }
        for removed in 0..random.usize(1..49) {
            builder.push(tuple(removed, None)).expect("room");
        }
        let table = builder.finish();
        let gone: Vec<usize> = (0..random.usize(..50)).map(|_| random.usize(..50)).collect();
        let table =
            table.changed(gone.iter().map(|n| TupleChange::Remove(tuple(*n, None)))).expect("room");
        let mut nodes: Vec<Node> = (0..random.usize(..6)).map(|_| random.u32(..60)).collect();
        nodes.extend((0..60).filter(|_| random.u8(..20) == 0));
        nodes.sort_unstable();
        let mut moment = Moment::noting(at(1), 3);
        let all = table.at(Way::Forward, table.find(doc).expect("d"));
        all.each(edge::EdgeKey::all(), |edges| {
            let found = edges.lead_to_one(&nodes, &mut moment);
            let expected = edges.nodes(&mut Moment::new(at(1))).any(|node| nodes.contains(&node));
            assert_eq!(found, expected);
            Some(())
        });
        assert!(moment.into_expired().len() <= 3);
    }
}

#[test]
fn a_large_overlay_asks_to_be_folded() {
    let ids: Vec<String> = (0..1_100).map(|n| n.to_string()).collect();
    let all = ids.iter().map(|id| Tuple {
        object: Object { object_type: "doc", id },
        relation: RelationNumber(0),
        subject: Object { object_type: "user", id: "ann" },
        subject_relation: None,
        expires_at: None,
    });
    let mut builder = TupleTable::builder();
    all.clone().for_each(|tuple| builder.push(tuple).expect("room"));
    let table = builder.finish();
    let removed =
        |count| table.changed(all.clone().take(count).map(TupleChange::Remove)).expect("room");
    assert!(!removed(1_000).should_fold());
    assert!(removed(1_060).should_fold());
    let folded = removed(1_060).folded().expect("room");
    assert_eq!(folded.len(), 40);
    assert!(!folded.should_fold() && folded.weight() < table.weight());
}

/// The weight is what is allocated.
#[test]
fn the_weight_is_known() {
    let mut weight = 0;
    let measured = kept(|| {
        let mut builder = TupleTable::builder();
        for n in 0..20_000 {
            let (doc, user) = (format!("doc-{n:08}"), format!("user-{}", n % 1_000));
            let tuple = Tuple {
                object: Object { object_type: "doc", id: &doc },
                relation: RelationNumber(1),
                subject: Object { object_type: "user", id: &user },
                subject_relation: None,
                expires_at: (n % 10 == 0).then(|| at(n)),
            };
            builder.push(tuple).expect("room");
        }
        let table = builder.finish();
        weight = table.weight();
        table
    });
    let measured = usize::try_from(measured).expect("it grows");
    assert!(weight.abs_diff(measured) <= measured / 50, "{weight} instead of {measured}");
}
