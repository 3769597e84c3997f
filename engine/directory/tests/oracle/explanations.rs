//! The edges of an explanation alone give its answer, and none of the edges of a single path is superfluous.

use fastrand::Rng;
use portcullis_directory::{
    EdgeOrigin, FirstHop, GraphBuffer, Object, PathEdge, RelationExplanation,
};

use crate::checks::{claims, hop, relation, with_claims, with_hop};
use crate::naive::Asking;
use crate::world::{EVERYONE, Edge, IDS, RELATIONS, TYPES, Thing, World, at, graph, object};

fn thing(object: Object<'_>) -> Thing {
    let of_type = TYPES.iter().position(|own| *own == object.object_type).expect("a type");
    (of_type, IDS.iter().position(|own| *own == object.id).unwrap_or(EVERYONE))
}

fn edge(edge: &PathEdge<'_>) -> Edge {
    let name = |name: &str| RELATIONS.iter().position(|own| *own == name).expect("a relation");
    Edge {
        object: thing(edge.object),
        relation: name(edge.relation),
        subject: thing(edge.subject),
        subject_relation: edge.subject_relation.map(name),
        expiry: edge.expires_at.map(|expiry| expiry.timestamp()),
    }
}

/// A question, and what came with it.
struct Question<'w> {
    world: &'w World,
    subject: Thing,
    object: Thing,
    relation: usize,
    is_hopped: bool,
    now: i64,
}

impl Question<'_> {
    /// Asks again where there are only some edges.
    fn holds_by(&self, edges: &[PathEdge<'_>]) -> bool {
        let world = self.world;
        let by = |origin: EdgeOrigin| edges.iter().filter(move |edge| edge.origin == origin);
        let tuples: Vec<Edge> = by(EdgeOrigin::Tuple).map(edge).collect();
        let graph = graph(world.graph.schema(), &tuples);
        let claims: Vec<(Thing, usize)> =
            by(EdgeOrigin::Claim).map(edge).map(|edge| (edge.object, edge.relation)).collect();
        let parents: Vec<Object<'_>> = by(EdgeOrigin::Request).map(|edge| edge.subject).collect();
        let hop = FirstHop { relation: relation(world, self.object.0, 0), objects: &parents };
        let hops = if self.is_hopped { &[hop][..] } else { &[] };
        let (buffer, mut holds) = (&mut GraphBuffer::default(), Ok(false));
        with_claims(world, &claims, |claimed| {
            let asked = graph.subject(object(self.subject), claimed, at(self.now), buffer);
            let relation = relation(world, self.object.0, self.relation);
            holds = asked.has(relation, IDS[self.object.1], hops, buffer);
        });
        holds.expect("few edges")
    }

    /// Asserts that an explanation explains. Returns whether it has one path.
    fn judge(&self, explanation: &RelationExplanation<'_>) -> bool {
        let holding = explanation.branches.iter().filter(|branch| branch.holds);
        for branch in holding.clone() {
            let path: Vec<Edge> = branch.path.iter().map(edge).collect();
            assert!(!path.is_empty());
            for (edge, next) in path.iter().zip(&path[1..]) {
                assert_eq!(edge.subject, next.object, "{explanation:#?}");
            }
            let last = path.last().expect("an edge").subject;
            assert!(last == self.subject || last == (self.subject.0, EVERYONE), "{explanation:#?}");
        }
        let mut edges: Vec<PathEdge<'_>> = Vec::new();
        for edge in holding.flat_map(|branch| &branch.path) {
            if !edges.contains(edge) {
                edges.push(*edge);
            }
        }
        if !explanation.holds {
            return false;
        }
        assert!(self.holds_by(&edges), "{self} {explanation:#?}");
        let is_path = explanation.branches.len() == 1;
        for left_out in 0..edges.len() {
            let mut others = edges.clone();
            others.remove(left_out);
            assert!(!is_path || !self.holds_by(&others), "{self} {explanation:#?}");
        }
        is_path
    }
}

impl std::fmt::Display for Question<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { subject, object, relation, now, .. } = self;
        let name = RELATIONS[*relation];
        writeln!(f, "{subject:?} {name} {object:?} at {now} in\n{}", self.world.show())
    }
}

fn compare(seed: u64, count: usize) {
    let mut random = Rng::with_seed(seed);
    let (mut compared, mut held, mut paths) = (0, 0, 0);
    let buffer = &mut GraphBuffer::default();
    while compared < count {
        let world = World::random(&mut random);
        let subject_type = if random.bool() { 0 } else { random.usize(..TYPES.len()) };
        let subject = (subject_type, random.usize(..IDS.len()));
        let (claims, now) = (claims(&mut random, &world, subject), random.i64(0..3));
        let asking = Asking::new(&world, subject, &claims, now);
        let holding = asking.holding();
        with_claims(&world, &claims, |claimed| {
            let asked = world.graph.subject(object(subject), claimed, at(now), buffer);
            let hopped = (random.usize(1..TYPES.len()), random.usize(..IDS.len()));
            let parents = hop(&mut random, &world, hopped.0);
            let objects: Vec<_> = parents.iter().map(|parent| object(*parent)).collect();
            let hops = [FirstHop { relation: relation(&world, hopped.0, 0), objects: &objects }];
            let with_hop = with_hop(&asking, hopped, &parents);
            let plain = World::objects().map(|object| (object, false));
            for (object, is_hopped) in plain.chain([(hopped, true)]) {
                for (own, with_hop) in with_hop.iter().enumerate() {
                    let question =
                        Question { world: &world, subject, object, relation: own, is_hopped, now };
                    let hops = if is_hopped { &hops[..] } else { &[] };
                    let relation = relation(&world, object.0, own);
                    let explanation = asked.explain(relation, IDS[object.1], hops, buffer);
                    let explanation = explanation.expect("few edges");
                    let expected =
                        if is_hopped { *with_hop } else { holding.contains(&(object, own)) };
                    assert_eq!(explanation.holds, expected, "{question}");
                    assert!(explanation.is_complete);
                    for edge in &explanation.looked_at.expired {
                        assert!(edge.expires_at.is_some_and(|expiry| expiry <= at(now)));
                    }
                    compared += 1;
                    held += usize::from(expected);
                    paths += usize::from(question.judge(&explanation));
                }
            }
        });
    }
    println!("{compared} explanations, {held} hold, {paths} by one path");
    assert!(paths * 50 > compared);
}

#[test]
fn the_edges_of_an_explanation_alone_give_its_answer() {
    compare(8, 100_000);
}

#[test]
#[ignore = "minutes"]
fn the_edges_of_a_million_explanations_alone_give_their_answers() {
    compare(9, 1_000_000);
}
