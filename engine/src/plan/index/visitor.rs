//! A search in the index, as its caller supplies it.

use super::ranks::Rank;
use crate::plan::slots::{Slot, Symbol};
use crate::value::AttributeValue;

/// One search for the policies that can apply to a check.
pub(crate) trait Search<'v> {
    /// Returns the value of an attribute; `None` if it is absent.
    fn value(&self, slot: Slot) -> Option<AttributeValue<'v>>;
    /// Returns the symbol of that value, if the texts of the attribute are interned.
    fn symbol(&self, slot: Slot) -> Symbol;
    /// Evaluates these policies, which come by ascending rank.
    fn evaluate(&mut self, ranks: &[Rank]);
}
