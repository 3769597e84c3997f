//! The candidates of a search: entities, and objects and subjects of tuples (`docs/semantics.md`, section 13.2).

use std::cmp::Ordering;
use std::iter::Peekable;

use chrono::{DateTime, Utc};
use portcullis_engine::entities::{Entities, Entity, EntityTable};

use crate::graph::Graph;

/// Everything that a tenant knows of one type.
#[derive(Clone, Copy, Debug)]
pub struct KnownCandidates<'t> {
    /// The entities of the tenant.
    pub table: &'t EntityTable,
    /// The tuples of the tenant, if it has relations.
    pub graph: Option<&'t Graph>,
    /// The type.
    pub entity_type: &'t str,
    /// The instant at which tuples count.
    pub now: DateTime<Utc>,
}

/// An id, with the entity that has it.
pub type Candidate<'t> = (&'t str, Option<Entity<'t>>);

impl<'t> KnownCandidates<'t> {
    /// Returns `entities` of the type, and the ids that only tuples know, from the one after `after` on, in the order of ids.
    /// `ids`, which ascend, are all such ids that are wanted; `None` wants every one.
    pub fn iter(
        self,
        entities: Entities<'t>,
        ids: Option<Vec<&'t str>>,
        after: Option<&str>,
    ) -> impl Iterator<Item = Candidate<'t>> {
        let Self { graph, entity_type, now, .. } = self;
        let any = graph.filter(|_| ids.is_none()).into_iter();
        let any = any.flat_map(move |graph| graph.named(entity_type, after, now));
        // Nothing is below a missing `after`, so that nothing is skipped then.
        let start = ids.iter().flatten().take_while(|id| Some(**id) <= after).count();
        let others = ids.into_iter().flatten().skip(start).chain(any);
        Merged { known: self, entities: entities.peekable(), others: others.peekable() }
    }

    /// Returns whether no entity and some tuple has the id.
    fn is_other(self, id: &str) -> bool {
        let Self { table, graph, entity_type, now } = self;
        table.get(entity_type, id).is_none()
            && graph.is_some_and(|graph| graph.names(entity_type, id, now))
    }
}

/// Entities and other ids, each in ascending order.
struct Merged<'t, I: Iterator<Item = &'t str>> {
    known: KnownCandidates<'t>,
    entities: Peekable<Entities<'t>>,
    /// Entities may have some of them, and no tuple.
    others: Peekable<I>,
}

impl<'t, I: Iterator<Item = &'t str>> Iterator for Merged<'t, I> {
    type Item = Candidate<'t>;

    fn next(&mut self) -> Option<Candidate<'t>> {
        loop {
            let order = match (self.entities.peek(), self.others.peek()) {
                (Some(entity), Some(other)) => entity.id().cmp(other),
                (_, None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
            };
            if order.is_gt() {
                let id = self.others.next()?;
                if self.known.is_other(id) {
                    return Some((id, None));
                }
                continue;
            }
            if order.is_eq() {
                // The entity stands for both.
                self.others.next();
            }
            let entity = self.entities.next()?;
            return Some((entity.id(), Some(entity)));
        }
    }
}
