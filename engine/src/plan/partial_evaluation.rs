//! Partial evaluation: decides a check as far as the known attributes allow, and collects the attribute requests
//! that the rest needs (`docs/semantics.md`, section 5.6).
//!
//! An attribute that was not requested yet can have any value. So each condition has a set of possible truths. A
//! policy is *open* if that set leaves open whether it applies. Resolvers are called only if an open policy ranks
//! before the first policy that certainly applies, and can change the decision.

use smallvec::SmallVec;

use super::index::{Indexed, Rank, Search};
use super::layer::is_gone;
use super::program::{Child, NodeId, Operation, Run};
use super::slots::{Slot, Slots, Symbol};
use crate::condition::{AttributePath, Test};
use crate::policy::applies;
use crate::rbac::Effect;
use crate::resolution::AttributeRequest;
use crate::value::AttributeValue;

/// The set of truths that a condition can still have, one bit per truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PossibleTruths(u8);

impl PossibleTruths {
    const TRUE: Self = Self(1);
    const FALSE: Self = Self(2);
    const UNDETERMINED: Self = Self(4);
    const NONE: Self = Self(0);
    const ANY: Self = Self(7);

    fn from_truth(truth: Option<bool>) -> Self {
        match truth {
            Some(true) => Self::TRUE,
            Some(false) => Self::FALSE,
            None => Self::UNDETERMINED,
        }
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Adds `other` if it is possible.
    fn with(self, other: Self, is_possible: bool) -> Self {
        if is_possible { Self(self.0 | other.0) } else { self }
    }

    /// Returns whether exactly one truth is possible.
    fn is_settled(self) -> bool {
        self.0.count_ones() == 1
    }

    /// Returns the possible truths of the negation: undetermined stays undetermined.
    fn negated(self) -> Self {
        Self(self.0 & Self::UNDETERMINED.0)
            .with(Self::TRUE, self.has(Self::FALSE))
            .with(Self::FALSE, self.has(Self::TRUE))
    }

    /// Returns the possible truths of a conjunction whose parts are independent of each other. Dependent parts make
    /// the set too large, never too small: a resolver may be called in vain, but no needed call is left out.
    fn conjunction(parts: impl Iterator<Item = Self>) -> Self {
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

    /// Returns whether a policy with this effect applies; `None` if that is open.
    fn apply(self, effect: Effect) -> Option<bool> {
        // The truths with which it applies, as a set: two intersections answer for all three truths.
        let applying = Self::TRUE.with(Self::UNDETERMINED, applies(effect, None));
        let can_apply = self.has(applying);
        let can_fail_to = self.0 & !applying.0 != 0;
        (can_apply != can_fail_to).then_some(can_apply)
    }
}

impl Run<'_> {
    /// Returns the truths that a node can still have.
    fn truths(&mut self, node: NodeId) -> PossibleTruths {
        let operation = self.operation(node);
        if let Operation::Test(test) = operation
            && self.not_requested(test).next().is_some()
        {
            return PossibleTruths::ANY;
        }
        // The run takes an attribute that was not requested as undetermined. A truth that comes out nevertheless does
        // not depend on it.
        if let Some(truth) = self.truth(node) {
            return PossibleTruths::from_truth(Some(truth));
        }
        match operation {
            Operation::All(children) => PossibleTruths::conjunction(self.each(children)),
            Operation::Any(children) => {
                // De Morgan: a OR b is NOT (NOT a AND NOT b).
                PossibleTruths::conjunction(self.each(children).map(PossibleTruths::negated))
                    .negated()
            }
            Operation::Not(child) => self.truths(*child).negated(),
            Operation::Test(_) => PossibleTruths::UNDETERMINED,
        }
    }

    fn each(&mut self, children: &[Child]) -> impl Iterator<Item = PossibleTruths> {
        children.iter().map(|child| self.truths(child.node))
    }

    /// Returns the attributes of a test that were not requested and on which its truth depends.
    pub(super) fn not_requested(&self, test: &Test<Slot>) -> impl Iterator<Item = Slot> + use<> {
        let not_requested =
            |slot: &Slot| matches!(self.value(*slot), Some(AttributeValue::NotRequested));
        // The right side does not matter if the left side is known to be absent.
        let right = self.value(test.attribute).and(test.predicate.other_attribute()).copied();
        let slots = [Some(test.attribute).filter(not_requested), right.filter(not_requested)];
        slots.into_iter().flatten()
    }

    /// Collects the attributes that were not requested and on which the truth of `node` depends.
    fn collect_not_requested(&mut self, node: NodeId, slots: &mut Vec<Slot>) {
        if self.truths(node).is_settled() {
            return;
        }
        match self.operation(node) {
            Operation::All(children) | Operation::Any(children) => {
                for child in children {
                    self.collect_not_requested(child.node, slots);
                }
            }
            Operation::Not(child) => self.collect_not_requested(*child, slots),
            Operation::Test(test) => slots.extend(self.not_requested(test)),
        }
    }

    /// Returns whether a policy applies for every value of the attributes that were not requested; `None` if that is
    /// open. A condition that does not compile is undetermined.
    pub(super) fn applies(&mut self, policy: Indexed) -> Option<bool> {
        self.truths_of(policy).apply(policy.effect)
    }

    fn truths_of(&mut self, policy: Indexed) -> PossibleTruths {
        let truths = policy.condition.map(|condition| self.truths(condition));
        truths.unwrap_or(PossibleTruths::UNDETERMINED)
    }
}

/// A search for the first policy that certainly applies, and for the open policies that rank before it.
pub(super) struct PartialEvaluation<'p, 'r> {
    conditions: &'p [Indexed],
    /// The ranks of the policies that do not count, ascending.
    pub(super) gone: &'r [Rank],
    pub(super) run: Run<'r>,
    /// The smallest rank evaluated so far that certainly applies.
    pub(super) found: Rank,
    /// The open policies.
    open: SmallVec<[Rank; 32]>,
    /// The smallest rank whose policy would allow if its condition were not undetermined.
    pub(super) withheld: Rank,
}

impl<'p, 'r> PartialEvaluation<'p, 'r> {
    #[inline]
    pub(super) fn new(conditions: &'p [Indexed], run: Run<'r>) -> Self {
        let (found, withheld) = (Rank::MAX, Rank::MAX);
        Self { conditions, gone: &[], run, found, open: SmallVec::new(), withheld }
    }

    /// Keeps the open policies for whose ranks `keeps` holds.
    pub(super) fn retain_open(&mut self, keeps: impl Fn(Rank) -> bool) {
        self.open.retain(|rank| keeps(*rank));
    }

    /// Drops the last open policy.
    pub(super) fn drop_last(&mut self) {
        self.open.pop();
    }

    /// Drops the open policies that rank after the first one that certainly applies, and sorts the others.
    pub(super) fn drop_outranked(&mut self) {
        let found = self.found;
        self.open.retain(|rank| *rank < found);
        // The index finds most of them in their order, and once.
        if !self.open.is_sorted_by(|one, next| one < next) {
            self.open.sort_unstable();
            self.open.dedup();
        }
    }

    /// Drops the open policies that cannot change the decision, which is `otherwise` if none of them applies.
    pub(super) fn drop_ineffective(&mut self, otherwise: Effect) {
        // The last open policy decides only if no other one applies. If its effect equals `otherwise`, the decision
        // is the same whether it applies or not.
        while let Some(last) = self.open.last()
            && self.conditions[*last as usize].effect == otherwise
        {
            self.open.pop();
        }
    }

    /// Returns the open policies, by ascending rank.
    pub(super) fn open(&self) -> &[Rank] {
        &self.open
    }

    /// Returns whether no policy is open.
    pub(super) fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the slots on which the open policies depend, in ascending order.
    pub(super) fn open_slots(&mut self) -> Vec<Slot> {
        let mut slots = Vec::new();
        for &rank in &self.open {
            if let Some(condition) = self.conditions[rank as usize].condition {
                self.run.collect_not_requested(condition, &mut slots);
            }
        }
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Returns the requests for the attributes that settle the open policies, one per resolver.
    pub(super) fn attribute_requests(mut self, all: &Slots) -> Vec<AttributeRequest> {
        let slots = self.open_slots();
        let namespaces = all.namespaces().iter();
        let requests = namespaces.map(|namespace| {
            let attributes = slots.iter().filter_map(|slot| match all.path(*slot) {
                AttributePath::Resolver(path) if path.namespace == namespace.name => {
                    Some(path.name.clone())
                }
                _ => None,
            });
            AttributeRequest {
                namespace: namespace.name.clone(),
                resolver: namespace.resolver,
                attributes: attributes.collect(),
            }
        });
        requests.filter(|request| !request.attributes.is_empty()).collect()
    }
}

impl<'r> Search<'r> for PartialEvaluation<'_, 'r> {
    fn value(&self, slot: Slot) -> Option<AttributeValue<'r>> {
        self.run.value(slot)
    }

    fn symbol(&self, slot: Slot) -> Symbol {
        self.run.symbol(slot)
    }

    fn evaluate(&mut self, ranks: &[Rank]) {
        for &rank in ranks {
            // The ranks ascend: no later one can decide.
            if rank >= self.found {
                return;
            }
            if is_gone(self.gone, rank) {
                continue;
            }
            let policy = self.conditions[rank as usize];
            let truths = self.run.truths_of(policy);
            match truths.apply(policy.effect) {
                Some(true) => {
                    self.found = rank;
                    return;
                }
                Some(false) if truths == PossibleTruths::UNDETERMINED => {
                    self.withheld = self.withheld.min(rank);
                }
                Some(false) => {}
                None => self.open.push(rank),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The set equals the results of every choice of its parts' truths.
    #[test]
    fn sets_of_truths_are_those_of_their_members() {
        let members = |set: PossibleTruths| {
            [Some(true), Some(false), None]
                .into_iter()
                .filter(move |truth| set.has(PossibleTruths::from_truth(*truth)))
        };
        let conjunction = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        for a in (1..8).map(PossibleTruths) {
            let negated = members(a).fold(PossibleTruths::NONE, |set, truth| {
                set.with(PossibleTruths::from_truth(truth.map(|truth| !truth)), true)
            });
            assert_eq!(a.negated(), negated, "not {a:?}");
            for b in (1..8).map(PossibleTruths) {
                let both = members(a)
                    .flat_map(|a| members(b).map(move |b| conjunction(a, b)))
                    .fold(PossibleTruths::NONE, |set, truth| {
                        set.with(PossibleTruths::from_truth(truth), true)
                    });
                assert_eq!(
                    PossibleTruths::conjunction([a, b].into_iter()),
                    both,
                    "{a:?} and {b:?}"
                );
            }
        }
    }

    #[test]
    fn a_policy_is_open_if_its_truths_differ_in_whether_it_applies() {
        let set = |truths: &[PossibleTruths]| {
            truths.iter().fold(PossibleTruths::NONE, |set, truth| set.with(*truth, true))
        };
        let (yes, no, open) =
            (PossibleTruths::TRUE, PossibleTruths::FALSE, PossibleTruths::UNDETERMINED);
        for (truths, allow, deny) in [
            (set(&[yes]), Some(true), Some(true)),
            (set(&[no]), Some(false), Some(false)),
            (set(&[open]), Some(false), Some(true)),
            (set(&[yes, open]), None, Some(true)),
            (set(&[no, open]), Some(false), None),
            (set(&[yes, no]), None, None),
            (PossibleTruths::ANY, None, None),
        ] {
            assert_eq!(truths.apply(Effect::Allow), allow, "allow, {truths:?}");
            assert_eq!(truths.apply(Effect::Deny), deny, "deny, {truths:?}");
        }
    }
}
