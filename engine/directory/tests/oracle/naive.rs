//! The oracle: a naive fixpoint over all objects and relations.

use std::collections::BTreeSet;

use crate::world::{EVERYONE, Edge, Expr, TYPES, Thing, World};

/// Object and relation that hold for a subject.
pub(crate) type Holding = BTreeSet<(Thing, usize)>;

/// A subject at an instant.
pub(crate) struct Asking<'w> {
    pub(crate) world: &'w World,
    pub(crate) edges: Vec<Edge>,
    pub(crate) subject: Thing,
    /// The types whose relation `a` an unknown claim gives.
    pub(crate) unknown: Vec<usize>,
}

/// The stand-in, in the oracle, of an object whose first hop comes with the request.
pub(crate) const ROOT: usize = 99;
/// The relation that claims give.
pub(crate) const CLAIMED: usize = 1;

impl<'w> Asking<'w> {
    /// Asks about a subject at `now`, which claims to have relations to objects.
    pub(crate) fn new(
        world: &'w World,
        subject: Thing,
        claims: &[(Thing, usize)],
        now: i64,
    ) -> Self {
        let counts = |edge: &&Edge| edge.expiry.is_none_or(|expiry| expiry > now);
        let mut edges: Vec<Edge> = world.edges.iter().filter(counts).copied().collect();
        edges.extend(claims.iter().map(|(object, relation)| Edge {
            object: *object,
            relation: *relation,
            subject,
            subject_relation: None,
            expiry: None,
        }));
        Self { world, edges, subject, unknown: Vec::new() }
    }

    /// Returns everything that holds, where no claim is unknown.
    pub(crate) fn holding(&self) -> Holding {
        let [certain, possible] = self.bounds();
        assert_eq!(certain, possible);
        certain
    }

    /// Returns everything that certainly holds, and everything that could hold: least fixpoints, again with negations by the
    /// other one before, until nothing changes.
    pub(crate) fn bounds(&self) -> [Holding; 2] {
        let mut before = [Holding::new(), Holding::new()];
        loop {
            let now = [false, true].map(|is_possible| self.fixpoint(is_possible, &before));
            if now == before {
                return now;
            }
            before = now;
        }
    }

    fn fixpoint(&self, is_possible: bool, before: &[Holding; 2]) -> Holding {
        let mut objects: BTreeSet<Thing> = self.edges.iter().map(|edge| edge.object).collect();
        objects.extend(self.edges.iter().map(|edge| edge.subject));
        objects.extend(World::objects());
        objects.extend((1..TYPES.len()).map(|of_type| (of_type, ROOT)));
        let mut now = Holding::new();
        loop {
            let pairs = objects.iter().flat_map(|object| (0..5).map(move |r| (*object, r)));
            let holds = |(object, relation): &(Thing, usize)| {
                let line = self.world.lines.get(&(object.0, *relation));
                let bounds = Bounds { is_possible, now: &now, before };
                line.is_some_and(|line| self.eval(line, *object, *relation, bounds))
            };
            let next: Holding = pairs.filter(holds).collect();
            if next == now {
                return now;
            }
            now = next;
        }
    }

    fn eval(&self, line: &Expr, object: Thing, own: usize, bounds: Bounds<'_>) -> bool {
        let edges = |relation: usize| {
            self.edges.iter().filter(move |edge| (edge.object, edge.relation) == (object, relation))
        };
        let Bounds { is_possible, now, before } = bounds;
        match line {
            Expr::Stored(_) => {
                let is_open = own == CLAIMED && self.unknown.contains(&object.0);
                let mut edges = edges(own);
                (is_possible && is_open)
                    || edges.any(|edge| match edge.subject_relation {
                        Some(relation) => now.contains(&(edge.subject, relation)),
                        None => {
                            edge.subject == self.subject
                                || edge.subject == (self.subject.0, EVERYONE)
                        }
                    })
            }
            Expr::Path(path) => match &path[..] {
                [relation] => now.contains(&(object, *relation)),
                [first, rest @ ..] => edges(*first).any(|edge| {
                    let rest = Expr::Path(rest.to_vec());
                    self.eval(&rest, edge.subject, own, bounds)
                }),
                [] => false,
            },
            Expr::Any(parts) => parts.iter().any(|part| self.eval(part, object, own, bounds)),
            Expr::All(parts) => parts.iter().all(|(part, is_negated)| match is_negated {
                true => {
                    let now = &before[usize::from(!is_possible)];
                    let other = Bounds { is_possible: !is_possible, now, before };
                    !self.eval(part, object, own, other)
                }
                false => self.eval(part, object, own, bounds),
            }),
        }
    }
}

/// The facts of a round: those that certainly hold, or those that could.
#[derive(Clone, Copy)]
struct Bounds<'b> {
    is_possible: bool,
    now: &'b Holding,
    /// The facts that certainly hold and those that could, by the round before.
    before: &'b [Holding; 2],
}
