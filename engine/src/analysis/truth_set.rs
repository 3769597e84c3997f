//! Sets of truths.

use crate::policy::applies;
use crate::rbac::Effect;

/// A set of truths, one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TruthSet(u8);

impl TruthSet {
    pub(super) const TRUE: Self = Self(1);
    pub(super) const FALSE: Self = Self(2);
    pub(super) const UNDETERMINED: Self = Self(4);
    pub(super) const DETERMINED: Self = Self(3);
    pub(super) const ANY: Self = Self(7);

    pub(super) fn from_truth(truth: Option<bool>) -> Self {
        match truth {
            Some(true) => Self::TRUE,
            Some(false) => Self::FALSE,
            None => Self::UNDETERMINED,
        }
    }

    /// Returns the truths with which a policy of this effect applies.
    pub(super) fn applying(effect: Effect) -> Self {
        [Some(true), Some(false), None]
            .into_iter()
            .filter(|truth| applies(effect, *truth))
            .fold(Self(0), |set, truth| Self(set.0 | Self::from_truth(truth).0))
    }

    /// Returns the truths in both sets.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether the sets have a truth in common.
    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether every truth of this set is in the other one.
    pub(super) fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the truths that the set does not have.
    pub(super) fn others(self) -> Self {
        Self(!self.0 & Self::ANY.0)
    }

    /// Returns whether the set has exactly one truth.
    pub(super) fn is_settled(self) -> bool {
        self.0.count_ones() == 1
    }

    /// Returns the truths of the negation: undetermined stays undetermined.
    pub(super) fn negated(self) -> Self {
        let swapped = (self.0 & Self::TRUE.0) << 1 | (self.0 & Self::FALSE.0) >> 1;
        Self(swapped | self.0 & Self::UNDETERMINED.0)
    }
}
