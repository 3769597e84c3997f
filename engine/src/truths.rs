//! Sets of truths.

use crate::policy::applies;
use crate::rbac::Effect;

/// A set of truths, one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TruthSet(u8);

impl TruthSet {
    pub(crate) const TRUE: Self = Self(1);
    pub(crate) const FALSE: Self = Self(2);
    pub(crate) const UNDETERMINED: Self = Self(4);
    pub(crate) const DETERMINED: Self = Self(3);
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ANY: Self = Self(7);

    pub(crate) fn from_truth(truth: Option<bool>) -> Self {
        match truth {
            Some(true) => Self::TRUE,
            Some(false) => Self::FALSE,
            None => Self::UNDETERMINED,
        }
    }

    /// Returns the truths with which a policy of this effect applies.
    pub(crate) fn applying(effect: Effect) -> Self {
        Self::TRUE.with(Self::UNDETERMINED, applies(effect, None))
    }

    /// Returns the truths in both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Adds `other` if `condition` holds.
    fn with(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }

    /// Returns whether the sets have a truth in common.
    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether every truth of this set is in the other one.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns the truths that the set does not have.
    pub(crate) fn others(self) -> Self {
        Self(!self.0 & Self::ANY.0)
    }

    /// Returns whether the set has exactly one truth.
    pub(crate) fn is_settled(self) -> bool {
        self.0.count_ones() == 1
    }

    /// Returns the truths of the negation: undetermined stays undetermined.
    pub(crate) fn negated(self) -> Self {
        self.and(Self::UNDETERMINED)
            .with(Self::TRUE, self.has(Self::FALSE))
            .with(Self::FALSE, self.has(Self::TRUE))
    }

    /// Returns the possible truths of a conjunction whose parts are independent of each other. Dependent parts make
    /// the set too large, never too small: a resolver may be called in vain, but no needed call is left out.
    pub(crate) fn conjunction(parts: impl Iterator<Item = Self>) -> Self {
        let (mut false_possible, mut undetermined_possible) = (false, false);
        let (mut true_possible, mut not_false_possible) = (true, true);
        for part in parts {
            // One false part makes the conjunction false. It is true only if every part is. It is undetermined if a
            // part is undetermined and no part is false.
            false_possible |= part.has(Self::FALSE);
            true_possible &= part.has(Self::TRUE);
            undetermined_possible |= part.has(Self::UNDETERMINED);
            not_false_possible &= part != Self::FALSE;
        }
        Self::NONE
            .with(Self::FALSE, false_possible)
            .with(Self::TRUE, true_possible)
            .with(Self::UNDETERMINED, undetermined_possible && not_false_possible)
    }

    /// Returns whether a policy with this effect applies; `None` if the truths differ in that.
    pub(crate) fn apply(self, effect: Effect) -> Option<bool> {
        let applying = Self::applying(effect);
        let can_apply = self.has(applying);
        (can_apply == self.is_within(applying)).then_some(can_apply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The set equals the results of every choice of its parts' truths.
    #[test]
    fn sets_of_truths_are_those_of_their_members() {
        let members = |set: TruthSet| {
            [Some(true), Some(false), None]
                .into_iter()
                .filter(move |truth| set.has(TruthSet::from_truth(*truth)))
        };
        let conjunction = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        for a in (1..8).map(TruthSet) {
            let negated = members(a).fold(TruthSet::NONE, |set, truth| {
                set.with(TruthSet::from_truth(truth.map(|truth| !truth)), true)
            });
            assert_eq!(a.negated(), negated, "not {a:?}");
            for b in (1..8).map(TruthSet) {
                let both = members(a)
                    .flat_map(|a| members(b).map(move |b| conjunction(a, b)))
                    .fold(TruthSet::NONE, |set, truth| set.with(TruthSet::from_truth(truth), true));
                assert_eq!(TruthSet::conjunction([a, b].into_iter()), both, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn a_policy_is_open_if_its_truths_differ_in_whether_it_applies() {
        let set = |truths: &[TruthSet]| {
            truths.iter().fold(TruthSet::NONE, |set, truth| set.with(*truth, true))
        };
        let (yes, no, open) = (TruthSet::TRUE, TruthSet::FALSE, TruthSet::UNDETERMINED);
        for (truths, allow, deny) in [
            (set(&[yes]), Some(true), Some(true)),
            (set(&[no]), Some(false), Some(false)),
            (set(&[open]), Some(false), Some(true)),
            (set(&[yes, open]), None, Some(true)),
            (set(&[no, open]), Some(false), None),
            (set(&[yes, no]), None, None),
            (TruthSet::ANY, None, None),
        ] {
            assert_eq!(truths.apply(Effect::Allow), allow, "allow, {truths:?}");
            assert_eq!(truths.apply(Effect::Deny), deny, "deny, {truths:?}");
        }
    }
}
