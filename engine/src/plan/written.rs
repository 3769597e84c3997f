//! The conditions of policies that use named conditions, as they are written: the program does not know names.

use std::sync::Arc;

use hashbrown::HashSet;

use super::index::Rank;
use super::source::Source;
use crate::condition::{Condition, Leaf};
use crate::invalid::Place;

/// The conditions with names, by the ranks of their policies, which ascend.
#[derive(Debug, Default)]
pub(super) struct Written(Box<[(Rank, Condition)]>);

impl Written {
    /// Keeps the conditions of `sources` that use names. The sources are in the order in which they decide.
    pub(super) fn of(sources: &[Source]) -> Self {
        let conditions = (0..).zip(sources).filter_map(|(rank, source)| {
            let condition = source.condition.as_ref().filter(|condition| condition.has_names())?;
            Some((rank, condition.clone()))
        });
        Self(conditions.collect())
    }

    /// Returns the condition of the policy of a rank; `None` if it uses no names.
    pub(super) fn get(&self, rank: Rank) -> Option<&Condition> {
        let place = self.0.binary_search_by_key(&rank, |(own, _)| *own).ok()?;
        Some(&self.0[place].1)
    }

    /// Returns the heap bytes, for the weight of a plan: about those of its tests, with each named condition once.
    pub(super) fn weight(&self) -> usize {
        let (mut leaves, mut known) = (self.0.len(), HashSet::new());
        for (_, condition) in &self.0 {
            condition.visit_leaves(&Place::root(), &mut |leaf, _| {
                leaves += 1;
                if let Leaf::Named(named) = leaf
                    && let Some(meaning) = named.meaning()
                    && known.insert(Arc::as_ptr(meaning))
                {
                    leaves += meaning.tests().len();
                }
            });
        }
        leaves * size_of::<Condition>()
    }
}
