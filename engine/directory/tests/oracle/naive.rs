//! The oracle: a naive fixpoint over all objects and relations.

use std::collections::BTreeSet;

use crate::world::{EVERYONE, Edge, Expr, Thing, World};

/// Object and relation that hold for a subject.
pub(crate) type Holding = BTreeSet<(Thing, usize)>;

/// A subject at an instant.
pub(crate) struct Asking<'w> {
    pub(crate) world: &'w World,
    pub(crate) edges: Vec<Edge>,
    pub(crate) subject: Thing,
}

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
        Self { world, edges, subject }
    }

    /// Returns everything that holds: the least fixpoint, again with negations by the one before, until nothing changes.
    pub(crate) fn holding(&self) -> Holding {
        let mut before = Holding::new();
        loop {
            let mut now = Holding::new();
            loop {
                let mut objects: BTreeSet<Thing> =
                    self.edges.iter().map(|edge| edge.object).collect();
                objects.extend(self.edges.iter().map(|edge| edge.subject));
                let pairs = objects.into_iter().flat_map(|object| (0..5).map(move |r| (object, r)));
                let holds = |(object, relation): &(Thing, usize)| {
                    let line = self.world.lines.get(&(object.0, *relation));
                    line.is_some_and(|line| self.eval(line, *object, *relation, &now, &before))
                };
                let next: Holding = pairs.filter(holds).collect();
                if next == now {
                    break;
                }
                now = next;
            }
            if now == before {
                return now;
            }
            before = now;
        }
    }

    fn eval(
        &self,
        line: &Expr,
        object: Thing,
        own: usize,
        now: &Holding,
        before: &Holding,
    ) -> bool {
        let edges = |relation: usize| {
            self.edges.iter().filter(move |edge| (edge.object, edge.relation) == (object, relation))
        };
        match line {
            Expr::Stored(_) => edges(own).any(|edge| match edge.subject_relation {
                Some(relation) => now.contains(&(edge.subject, relation)),
                None => edge.subject == self.subject || edge.subject == (self.subject.0, EVERYONE),
            }),
            Expr::Path(path) => match &path[..] {
                [relation] => now.contains(&(object, *relation)),
                [first, rest @ ..] => edges(*first).any(|edge| {
                    let rest = Expr::Path(rest.to_vec());
                    self.eval(&rest, edge.subject, own, now, before)
                }),
                [] => false,
            },
            Expr::Any(parts) => parts.iter().any(|part| self.eval(part, object, own, now, before)),
            Expr::All(parts) => parts.iter().all(|(part, is_negated)| match is_negated {
                true => !self.eval(part, object, own, before, before),
                false => self.eval(part, object, own, now, before),
            }),
        }
    }
}
