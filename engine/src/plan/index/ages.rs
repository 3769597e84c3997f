//! Finds the policies that test how far an instant is from the present.

use super::ranges::Ranges;
use super::ranks::{Rank, Search};
use crate::number::Number;
use crate::period;
use crate::plan::slots::Slot;
use crate::value::parse_instant;

/// The maximum length of a text that is parsed, in bytes. The steps of a run bound the work on longer ones.
const MAX_INSTANT: usize = 64;

/// The policies by the ages of the instants that they admit.
#[derive(Debug)]
pub(super) struct Ages {
    /// The slot of `request.time`.
    pub(super) now: Slot,
    pub(super) ranges: Ranges,
    /// The policies that admit every text that is not an instant.
    pub(super) others: Box<[Rank]>,
    /// All these policies.
    pub(super) all: Box<[Rank]>,
}

impl Ages {
    /// Visits the policies that admit a text.
    pub(super) fn visit<'v>(&self, text: &str, search: &mut impl Search<'v>) {
        if text.len() > MAX_INSTANT {
            // It may be an instant with many digits.
            return search.evaluate(&self.all);
        }
        let now = search.run().value(self.now).and_then(|now| now.instant());
        match now.zip(parse_instant(text)) {
            Some((now, instant)) => {
                let age = Number::from(period::age(instant, now));
                self.ranges.visit(age, |ranks| search.evaluate(ranks));
            }
            None => search.evaluate(&self.others),
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        self.ranges.weight()
            + size_of_val::<[Rank]>(&self.others)
            + size_of_val::<[Rank]>(&self.all)
    }
}
