//! Checks give what the oracle gives.

use fastrand::Rng;
use portcullis_directory::{ClaimedObjects, FirstHop, GraphBuffer, Object, RelationId};

use crate::naive::Asking;
use crate::world::{Edge, IDS, RELATIONS, TYPES, Thing, World, at, object};

/// The stand-in, in the oracle, of an object whose first hop comes with the request.
const ROOT: usize = 99;

pub(crate) fn relation(world: &World, of_type: usize, relation: usize) -> RelationId {
    world.graph.schema().relation(TYPES[of_type], RELATIONS[relation]).expect("a relation")
}

/// Draws objects of which a user is a member by its token.
pub(crate) fn claims(random: &mut Rng, world: &World, subject: Thing) -> Vec<(Thing, usize)> {
    let mut claims = Vec::new();
    while subject.0 == 0 && random.bool() {
        let object = (random.usize(1..TYPES.len()), random.usize(..IDS.len()));
        let member = relation(world, object.0, 1);
        if world.graph.schema().claims().any(|(claimed, _)| claimed == member) {
            claims.push((object, 1));
        }
    }
    claims
}

/// Calls `use_it` with the claims as a check has them.
pub(crate) fn with_claims(
    world: &World,
    claims: &[(Thing, usize)],
    use_it: impl FnOnce(&[ClaimedObjects<'_>]),
) {
    let ids: Vec<[&str; 1]> = claims.iter().map(|(object, _)| [IDS[object.1]]).collect();
    let claimed: Vec<_> = claims
        .iter()
        .zip(&ids)
        .map(|((object, own), ids)| ClaimedObjects {
            relation: relation(world, object.0, *own),
            ids,
        })
        .collect();
    use_it(&claimed);
}

/// Draws the parents of an object that come with a request.
pub(crate) fn hop(random: &mut Rng, world: &World, of_type: usize) -> Vec<Thing> {
    let types = world.graph.schema().leads_to(relation(world, of_type, 0)).expect("objects");
    let types: Vec<&str> = types.collect();
    let parent = |random: &mut Rng| {
        let name = types[random.usize(..types.len())];
        let of_type = TYPES.iter().position(|own| *own == name).expect("a type");
        (of_type, random.usize(..IDS.len()))
    };
    (0..random.usize(..3)).map(|_| parent(random)).collect()
}

/// Returns what the oracle gives for an object with these parents in its own place.
pub(crate) fn with_hop(asking: &Asking<'_>, object: Thing, parents: &[Thing]) -> Vec<bool> {
    let root = (object.0, ROOT);
    let own = asking.edges.iter().filter(|edge| edge.object == object && edge.relation != 0);
    let parents = parents.iter().map(|parent| Edge {
        object: root,
        relation: 0,
        subject: *parent,
        subject_relation: None,
        expiry: None,
    });
    let new = own.map(|edge| Edge { object: root, ..*edge }).chain(parents);
    let edges = asking.edges.iter().copied().chain(new).collect();
    let holding = Asking { edges, ..*asking }.holding();
    (0..RELATIONS.len()).map(|relation| holding.contains(&(root, relation))).collect()
}

/// Compares this many checks.
fn compare(seed: u64, checks: usize) {
    let mut random = Rng::with_seed(seed);
    let mut buffer = GraphBuffer::default();
    let (mut compared, mut held, mut worlds) = (0, 0, 0);
    while compared < checks {
        let (of_world, of_held) = compare_world(&mut random, &mut buffer);
        (compared, held, worlds) = (compared + of_world, held + of_held, worlds + 1);
    }
    println!("{compared} checks in {worlds} worlds, {held} hold");
    assert!(held * 20 > compared, "too few hold");
}

/// Compares the checks of some subjects in one world. Returns how many there are, and how many hold.
pub(crate) fn compare_world(random: &mut Rng, buffer: &mut GraphBuffer) -> (usize, usize) {
    let (mut compared, mut held) = (0, 0);
    let world = World::random(random);
    for _ in 0..4 {
        let subject_type = if random.bool() { 0 } else { random.usize(..TYPES.len()) };
        let subject = (subject_type, random.usize(..IDS.len()));
        let claims = claims(random, &world, subject);
        let now = random.i64(0..3);
        let asking = Asking::new(&world, subject, &claims, now);
        let holding = asking.holding();
        with_claims(&world, &claims, |claimed| {
            let asked = world.graph.subject(object(subject), claimed, at(now), buffer);
            for (thing, own) in World::objects().flat_map(|one| (0..5).map(move |own| (one, own))) {
                let relation = relation(&world, thing.0, own);
                let found = asked.has(relation, IDS[thing.1], &[], buffer);
                let expected = holding.contains(&(thing, own));
                compared += 1;
                held += usize::from(expected);
                assert_eq!(
                    found,
                    Some(expected),
                    "{subject:?} {thing:?} {} {claims:?} at {now} in\n{}",
                    RELATIONS[own],
                    world.show()
                );
            }
            let thing = (random.usize(1..TYPES.len()), random.usize(..IDS.len()));
            let parents = hop(random, &world, thing.0);
            let expected = with_hop(&asking, thing, &parents);
            let objects: Vec<Object<'_>> = parents.iter().map(|one| object(*one)).collect();
            let hop = FirstHop { relation: relation(&world, thing.0, 0), objects: &objects };
            for (own, expected) in expected.into_iter().enumerate() {
                let relation = relation(&world, thing.0, own);
                let found = asked.has(relation, IDS[thing.1], &[hop], buffer);
                compared += 1;
                assert_eq!(
                    found,
                    Some(expected),
                    "{subject:?} {thing:?} {} {claims:?} parents {parents:?} at {now} in\n{}",
                    RELATIONS[own],
                    world.show()
                );
            }
        });
    }
    (compared, held)
}

#[test]
fn checks_are_those_of_a_naive_fixpoint() {
    compare(1, 30_000);
}

#[test]
#[ignore = "a minute"]
fn a_million_checks_are_those_of_a_naive_fixpoint() {
    compare(2, 1_000_000);
}
