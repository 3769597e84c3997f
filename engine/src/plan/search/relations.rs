//! The relations that a search reads. Each candidate has its own; the caller of the search knows them.

use crate::Json;
use crate::plan::Plan;
use crate::plan::slots::{Slot, SlotValue, Symbol, Values};
use crate::relation::RELATION;
use crate::resolution::AttributeAnswer;
use crate::value::AttributeValue;

/// The ids of candidates to which a relation can be true, in ascending order, for each of [`EntitySearch::relations`].
/// `None` can be true for every candidate.
///
/// [`EntitySearch::relations`]: super::EntitySearch::relations
pub type RelatedIds<'r> = [Option<Vec<&'r str>>];

/// A relation that the plan reads.
pub(super) struct ReadRelation<'p> {
    pub(super) name: &'p str,
    pub(super) slot: Slot,
    /// Whether an open policy depends on it.
    pub(super) is_open: bool,
}

impl<'p> ReadRelation<'p> {
    /// Returns the relations that the plan reads, if the tenant has some. Open policies depend on the slots `open`.
    pub(super) fn all(plan: &'p Plan, open: &[Slot]) -> Vec<Self> {
        if plan.facts().is_none_or(|facts| facts.relations.is_none()) {
            return Vec::new();
        }
        let namespaces = plan.whole().slots.namespaces().iter();
        let own = namespaces.filter(|namespace| *namespace.name == *RELATION);
        let read = own.flat_map(|namespace| namespace.attributes());
        read.map(|(name, slot)| Self { name, slot, is_open: open.contains(&slot) }).collect()
    }

    /// Writes the answer for a candidate into the values of its check.
    pub(super) fn write(&self, answer: &AttributeAnswer, values: &mut Values<'_>) {
        let value = match answer {
            AttributeAnswer::Value(Json::Bool(has)) => Some(AttributeValue::Bool(*has)),
            AttributeAnswer::Absent => None,
            AttributeAnswer::Value(_) | AttributeAnswer::Failed(_) => Some(AttributeValue::Failed),
        };
        values[self.slot as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
    }
}
