//! Checks give what the oracle gives.

use fastrand::Rng;
use portcullis_directory::{
    ClaimDoubt, ClaimedObjects, FirstHop, GraphBuffer, Object, RelationId, SubjectClaims,
    UndeterminedRelation, UnknownClaim,
};

use crate::naive::{Asking, CLAIMED, Holding, ROOT};
use crate::world::{Edge, IDS, RELATIONS, TYPES, Thing, World, at, object};

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

/// Draws the types of which the claim of a subject is unknown, if it lists nothing.
fn unknown(random: &mut Rng, world: &World, claims: &[(Thing, usize)]) -> Vec<usize> {
    let member = |of_type| relation(world, of_type, CLAIMED);
    let is_claimed = |of_type: usize| {
        world.graph.schema().claims().any(|(claimed, _)| claimed == member(of_type))
    };
    let is_listed = |of_type| claims.iter().any(|((own, _), _)| *own == of_type);
    let types = (1..TYPES.len()).filter(|of_type| is_claimed(*of_type) && !is_listed(*of_type));
    types.filter(|_| random.bool()).collect()
}

/// Calls `use_it` with the claims as a check has them.
pub(crate) fn with_claims(
    world: &World,
    claims: &[(Thing, usize)],
    use_it: impl FnOnce(SubjectClaims<'_>),
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
    use_it(SubjectClaims { listed: &claimed, unknown: &[] });
}

/// The answer of the oracle: `None` if it is undetermined.
type Truth = Option<bool>;

fn truth(certain: bool, possible: bool) -> Truth {
    (certain == possible).then_some(certain)
}

fn found(answer: Result<bool, UndeterminedRelation>) -> Truth {
    assert_ne!(answer, Err(UndeterminedRelation::TooManyEdges));
    answer.ok()
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

/// Returns what the oracle gives for an object with these parents in its own place, where no claim is unknown.
pub(crate) fn with_hop(asking: &Asking<'_>, object: Thing, parents: &[Thing]) -> Vec<bool> {
    let truths = truths_with_hop(asking, object, parents);
    truths.into_iter().map(|truth| truth.expect("no unknown claim")).collect()
}

fn truths_with_hop(asking: &Asking<'_>, object: Thing, parents: &[Thing]) -> Vec<Truth> {
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
    let [certain, possible] = Asking { edges, unknown: asking.unknown.clone(), ..*asking }.bounds();
    let has = |holding: &Holding, relation| holding.contains(&(root, relation));
    let truth = |relation| truth(has(&certain, relation), has(&possible, relation));
    (0..RELATIONS.len()).map(truth).collect()
}

/// Compares this many checks.
fn compare(seed: u64, checks: usize) {
    let mut random = Rng::with_seed(seed);
    let mut buffer = GraphBuffer::default();
    let (mut compared, mut held, mut open, mut worlds) = (0, 0, 0, 0);
    while compared < checks {
        let [of_world, of_held, of_open] = compare_world(&mut random, &mut buffer);
        (compared, held, open) = (compared + of_world, held + of_held, open + of_open);
        worlds += 1;
    }
    println!("{compared} checks in {worlds} worlds, {held} hold, {open} are undetermined");
    assert!(held * 20 > compared, "too few hold");
    assert!(open * 50 > compared, "too few are undetermined");
}

/// Compares the checks of some subjects in one world. Returns how many there are, how many hold, and how many are undetermined.
pub(crate) fn compare_world(random: &mut Rng, buffer: &mut GraphBuffer) -> [usize; 3] {
    let (mut compared, mut held, mut open) = (0, 0, 0);
    let world = World::random(random);
    for _ in 0..4 {
        let subject_type = if random.bool() { 0 } else { random.usize(..TYPES.len()) };
        let subject = (subject_type, random.usize(..IDS.len()));
        let claims = claims(random, &world, subject);
        let now = random.i64(0..3);
        let unknown = unknown(random, &world, &claims);
        let asking = Asking { unknown, ..Asking::new(&world, subject, &claims, now) };
        let [certain, possible] = asking.bounds();
        let of_type = |of_type: &usize| UnknownClaim {
            relation: relation(&world, *of_type, CLAIMED),
            doubt: ClaimDoubt::Absent,
        };
        let unknown: Vec<UnknownClaim> = asking.unknown.iter().map(of_type).collect();
        with_claims(&world, &claims, |claimed| {
            let claimed = SubjectClaims { unknown: &unknown, ..claimed };
            let asked = world.graph.subject(object(subject), claimed, at(now), buffer);
            for (thing, own) in World::objects().flat_map(|one| (0..5).map(move |own| (one, own))) {
                let relation = relation(&world, thing.0, own);
                let found = found(asked.has(relation, IDS[thing.1], &[], buffer));
                let has = |holding: &Holding| holding.contains(&(thing, own));
                let expected = truth(has(&certain), has(&possible));
                compared += 1;
                held += usize::from(expected == Some(true));
                open += usize::from(expected.is_none());
                assert_eq!(
                    found,
                    expected,
                    "{subject:?} {thing:?} {} {claims:?} {:?} at {now} in\n{}",
                    RELATIONS[own],
                    asking.unknown,
                    world.show()
                );
            }
            let thing = (random.usize(1..TYPES.len()), random.usize(..IDS.len()));
            let parents = hop(random, &world, thing.0);
            let expected = truths_with_hop(&asking, thing, &parents);
            let objects: Vec<Object<'_>> = parents.iter().map(|one| object(*one)).collect();
            let hop = FirstHop { relation: relation(&world, thing.0, 0), objects: &objects };
            for (own, expected) in expected.into_iter().enumerate() {
                let relation = relation(&world, thing.0, own);
                let found = found(asked.has(relation, IDS[thing.1], &[hop], buffer));
                compared += 1;
                assert_eq!(
                    found,
                    expected,
                    "{subject:?} {thing:?} {} {claims:?} {:?} parents {parents:?} at {now} in\n{}",
                    RELATIONS[own],
                    asking.unknown,
                    world.show()
                );
            }
        });
    }
    [compared, held, open]
}

#[test]
fn checks_are_those_of_a_naive_fixpoint() {
    compare(1, 100_000);
}

#[test]
#[ignore = "a minute"]
fn a_million_checks_are_those_of_a_naive_fixpoint() {
    compare(2, 1_000_000);
}
