//! Lists have what checks give.

use std::collections::BTreeSet;

use fastrand::Rng;
use portcullis_directory::{
    FirstHop, GraphBuffer, GraphSubject, HopObjects, Object, RelationId, RowBudget, RowHop,
    RowsTooLarge, SubjectClaims, SubjectQuestion,
};
use portcullis_engine::condition::AttributePath;
use portcullis_engine::sql::RelatedRows;

use crate::checks::{claims, hop, relation, with_claims, with_hop};
use crate::naive::{Asking, Holding};
use crate::world::{EVERYONE, IDS, RELATIONS, TYPES, Thing, World, at, object};

const MAX: usize = 1_000_000;

fn name(thing: Thing) -> &'static str {
    IDS[thing.1]
}

fn objects(subject: &GraphSubject<'_>, relation: RelationId, expected: &BTreeSet<&str>) {
    let list = subject.objects(relation, &mut { MAX }).expect("few edges");
    assert_eq!(list.ids().collect::<Vec<_>>(), Vec::from_iter(expected.iter().copied()));
}

/// Returns whether a row with this id and these parents is among the rows.
fn has(rows: &RelatedRows, id: &str, parents: &[Object<'_>]) -> bool {
    match rows {
        RelatedRows::Ids(ids) => {
            assert!(ids.is_sorted());
            ids.iter().any(|own| **own == *id)
        }
        RelatedRows::Referring { objects, .. } => parents.iter().any(|parent| {
            let of_type = objects.iter().filter(|(of_type, _)| **of_type == *parent.object_type);
            of_type.into_iter().any(|(_, ids)| ids.iter().any(|id| **id == *parent.id))
        }),
        RelatedRows::Any(parts) => parts.iter().any(|part| has(part, id, parents)),
        RelatedRows::All(parts) => parts.iter().all(|part| has(part, id, parents)),
        RelatedRows::Not(part) => !has(part, id, parents),
    }
}

fn compare_objects(random: &mut Rng, world: &World) -> usize {
    let subject =
        (if random.bool() { 0 } else { random.usize(..TYPES.len()) }, random.usize(..IDS.len()));
    let (claims, now) = (claims(random, world, subject), random.i64(0..3));
    let asking = Asking::new(world, subject, &claims, now);
    let holding = asking.holding();
    let mut compared = 3 * RELATIONS.len() * IDS.len();
    with_claims(world, &claims, |claimed| {
        let buffer = &mut GraphBuffer::default();
        let asked = world.graph.subject(object(subject), claimed, at(now), buffer);
        for of_type in 1..TYPES.len() {
            for own in 0..RELATIONS.len() {
                let held = holding.iter().filter(|(thing, r)| (thing.0, *r) == (of_type, own));
                let expected = held.map(|(thing, _)| name(*thing)).collect();
                objects(&asked, relation(world, of_type, own), &expected);
            }
        }
        let of_type = random.usize(1..TYPES.len());
        let hops: Vec<_> = (0..IDS.len()).map(|_| hop(random, world, of_type)).collect();
        // The same objects for all rows, or those of an attribute.
        let is_known = random.bool();
        let known: Vec<_> = hops[0].iter().map(|one| object(*one)).collect();
        let parent = relation(world, of_type, 0);
        let mut stored = Vec::new();
        if random.bool() {
            stored = world.graph.having_stored(parent, at(now), &mut budget()).expect("few edges");
        }
        let objects = match is_known {
            true => HopObjects::Known(known),
            false => HopObjects::Attribute(AttributePath::Resource("parent".into())),
        };
        let instead = [RowHop { relation: parent, objects, stored: stored.clone() }];
        for (own, own_name) in RELATIONS.iter().enumerate() {
            // A line that repeats itself in other lines can have too many terms.
            let own_relation = relation(world, of_type, own);
            let Ok(rows) = asked.rows(own_relation, &instead, &mut budget()) else { continue };
            for (id, hop) in hops.iter().enumerate() {
                let (row, hop) = ((of_type, id), if is_known { &hops[0] } else { hop });
                let expected = match stored.contains(&IDS[id]) {
                    true => holding.contains(&(row, own)),
                    false => with_hop(&asking, row, hop)[own],
                };
                let parents: Vec<_> = hop.iter().map(|parent| object(*parent)).collect();
                assert_eq!(
                    has(&rows, IDS[id], &parents),
                    expected,
                    "{subject:?} {row:?} {parents:?} {stored:?} {own_name} at {now}: {rows:?} in\n{}",
                    world.show()
                );
                compared += 1;
            }
        }
    });
    compared
}

fn budget() -> RowBudget {
    RowBudget { edges: MAX, ids: MAX, bytes: MAX }
}

fn compare_subjects(random: &mut Rng, world: &World) -> usize {
    let (subject_type, now) = (random.usize(..TYPES.len()), random.i64(0..3));
    let asking = |id| Asking::new(world, (subject_type, id), &[], now);
    let holding: Vec<Holding> = (0..IDS.len()).map(|id| asking(id).holding()).collect();
    // Nobody knows the last one.
    let last = IDS.len() - 1;
    let edges = asking(0).edges;
    let named = |id: usize| {
        let thing = (subject_type, id);
        edges.iter().any(|edge| edge.object == thing || edge.subject == thing)
    };
    let buffer = &mut GraphBuffer::default();
    let hopped = (random.usize(1..TYPES.len()), random.usize(..IDS.len()));
    let parents = hop(random, world, hopped.0);
    let objects: Vec<_> = parents.iter().map(|parent| object(*parent)).collect();
    let hops = [FirstHop { relation: relation(world, hopped.0, 0), objects: &objects }];
    let with_hop: Vec<Vec<bool>> =
        (0..IDS.len()).map(|id| with_hop(&asking(id), hopped, &parents)).collect();
    let plain = World::objects().map(|thing| (thing, false));
    let mut compared = 0;
    for (thing, is_hopped) in plain.chain([(hopped, true)]) {
        for own in 0..RELATIONS.len() {
            let question = SubjectQuestion {
                relation: relation(world, thing.0, own),
                id: name(thing),
                hops: if is_hopped { &hops } else { &[] },
                subject_type: TYPES[subject_type],
                now: at(now),
            };
            let holds = |id: usize| match is_hopped {
                true => with_hop[id][own],
                false => holding[id].contains(&(thing, own)),
            };
            let list = world.graph.subjects(&question, &mut { MAX }, buffer).expect("few edges");
            let found: Vec<&str> = list.ids().collect();
            // A parent that only the request names may be listed.
            let is_requested = |id: usize| {
                is_hopped && parents.contains(&(subject_type, id)) && found.contains(&IDS[id])
            };
            let is_listed = |id: &usize| holds(*id) && (named(*id) || is_requested(*id));
            let expected: Vec<&str> = (0..IDS.len()).filter(is_listed).map(|id| IDS[id]).collect();
            let context = || {
                format!(
                    "{subject_type} {thing:?} {} hop {is_hopped} {parents:?} at {now} in\n{}",
                    RELATIONS[own],
                    world.show()
                )
            };
            assert_eq!(found, expected, "{}", context());
            let is_reached = list.others() || found.contains(&IDS[last]);
            assert!(named(last) || is_reached == holds(last), "{}", context());
            compared += IDS.len();
        }
    }
    compared
}

fn compare(seed: u64, checks: usize, compare: fn(&mut Rng, &World) -> usize) {
    let mut random = Rng::with_seed(seed);
    let mut compared = 0;
    while compared < checks {
        let world = World::random(&mut random);
        compared += compare(&mut random, &world);
    }
}

#[test]
fn lists_of_objects_and_rows_are_those_of_checks() {
    compare(3, 100_000, compare_objects);
}

#[test]
fn lists_of_subjects_are_those_of_checks() {
    compare(4, 100_000, compare_subjects);
}

#[test]
#[ignore = "a minute"]
fn a_million_members_of_lists_are_those_of_checks() {
    compare(5, 1_000_000, compare_objects);
    compare(6, 1_000_000, compare_subjects);
}

#[test]
fn lists_end_at_a_bound() {
    let mut random = Rng::with_seed(7);
    let world = World::random(&mut random);
    assert!(world.edges.iter().any(|edge| edge.subject.1 != EVERYONE));
    let buffer = &mut GraphBuffer::default();
    let (mut few, mut all) = (0, 0);
    for (thing, own) in World::objects().flat_map(|one| (0..5).map(move |own| (one, own))) {
        let relation = relation(&world, thing.0, own);
        for id in IDS {
            let user = Object { object_type: "user", id };
            let asked = world.graph.subject(user, SubjectClaims::default(), at(0), buffer);
            few += usize::from(
                asked.objects(relation, &mut 0).is_some_and(|list| list.ids().next().is_some()),
            );
            all += usize::from(
                asked
                    .objects(relation, &mut { MAX })
                    .is_some_and(|list| list.ids().next().is_some()),
            );
            let is_empty = asked
                .objects(relation, &mut { MAX })
                .is_some_and(|list| list.ids().next().is_none());
            for limits in [RowBudget { ids: 0, ..budget() }, RowBudget { bytes: 0, ..budget() }] {
                let rows = asked.rows(relation, &[], &mut limits.clone());
                let expected = if is_empty { Ok(RelatedRows::none()) } else { Err(RowsTooLarge) };
                assert_eq!(rows, expected);
            }
        }
    }
    assert!(few == 0 && all > 0, "{few} of {all}");
}
