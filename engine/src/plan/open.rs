//! What is decided before resolvers are asked, and whom to ask for the rest (`docs/semantics.md`, section 5.6).
//!
//! An attribute that was not asked for may come to be anything: so each condition has the set of truths that it can
//! still have. A policy is open if it depends on those whether it applies. Resolvers are asked only if the
//! open policies that come before what applies for certain could turn the decision.

use smallvec::SmallVec;

use super::index::{Indexed, Rank, Search};
use super::program::{Child, NodeId, Operation, Run};
use super::slots::{Slot, Slots, Symbol};
use crate::answers::Ask;
use crate::condition::{AttributePath, Operand, Predicate, Test};
use crate::policy::applies;
use crate::rbac::Effect;
use crate::value::Value;

/// The truths that a condition can still have, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Truths(u8);

impl Truths {
    const TRUE: Self = Self(1);
    const FALSE: Self = Self(2);
    const UNDETERMINED: Self = Self(4);
    const NONE: Self = Self(0);
    const ANY: Self = Self(7);

    fn of(truth: Option<bool>) -> Self {
        match truth {
            Some(true) => Self::TRUE,
            Some(false) => Self::FALSE,
            None => Self::UNDETERMINED,
        }
    }

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Self, is_possible: bool) -> Self {
        if is_possible { Self(self.0 | other.0) } else { self }
    }

    fn is_settled(self) -> bool {
        self.0.count_ones() == 1
    }

    fn negated(self) -> Self {
        Self(self.0 & Self::UNDETERMINED.0)
            .with(Self::TRUE, self.has(Self::FALSE))
            .with(Self::FALSE, self.has(Self::TRUE))
    }

    /// Of a conjunction of parts that are independent of each other. Parts that are not make the set too large, and so
    /// a resolver may be asked in vain; never the other way round.
    fn of_all(parts: impl Iterator<Item = Self>) -> Self {
        let (mut false_possible, mut undetermined_possible) = (false, false);
        let (mut true_possible, mut not_false_possible) = (true, true);
        for part in parts {
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

    /// Whether a policy applies; none if that is open.
    fn apply(self, effect: Effect) -> Option<bool> {
        let does = |truths: Self, truth| self.has(truths) && applies(effect, truth);
        let does_not = |truths: Self, truth| self.has(truths) && !applies(effect, truth);
        let all =
            [(Self::TRUE, Some(true)), (Self::FALSE, Some(false)), (Self::UNDETERMINED, None)];
        let can = all.iter().any(|(truths, truth)| does(*truths, *truth));
        let can_fail_to = all.iter().any(|(truths, truth)| does_not(*truths, *truth));
        (can != can_fail_to).then_some(can)
    }
}

impl Run<'_> {
    fn truths(&mut self, node: NodeId) -> Truths {
        let operation = self.operation(node);
        if let Operation::Test(test) = operation
            && self.unasked(test).next().is_some()
        {
            return Truths::ANY;
        }
        // With what was not asked taken for undetermined, a truth that comes out is the only possible one.
        if let Some(truth) = self.truth(node) {
            return Truths::of(Some(truth));
        }
        match operation {
            Operation::All(children) => Truths::of_all(self.each(children)),
            Operation::Any(children) => {
                Truths::of_all(self.each(children).map(Truths::negated)).negated()
            }
            Operation::Not(child) => self.truths(*child).negated(),
            Operation::Test(_) => Truths::UNDETERMINED,
        }
    }

    fn each(&mut self, children: &[Child]) -> impl Iterator<Item = Truths> {
        children.iter().map(|child| self.truths(child.node))
    }

    /// The attributes of a test that were not asked for, and on which its truth depends.
    fn unasked(&self, test: &Test<Slot>) -> impl Iterator<Item = Slot> + use<> {
        let unasked = |slot: &Slot| matches!(self.value(*slot), Some(Value::Unasked));
        // If the attribute is known to be absent, what it is compared with does not matter.
        let right = match &test.predicate {
            Predicate::Compare(_, Operand::Attribute(slot)) => {
                self.value(test.attribute).and(Some(*slot))
            }
            _ => None,
        };
        let slots = [Some(test.attribute).filter(unasked), right.filter(unasked)];
        slots.into_iter().flatten()
    }

    /// Collects the attributes that were not asked for, and on which the truth of `node` depends.
    fn collect_unasked(&mut self, node: NodeId, slots: &mut Vec<Slot>) {
        if self.truths(node).is_settled() {
            return;
        }
        match self.operation(node) {
            Operation::All(children) | Operation::Any(children) => {
                for child in children {
                    self.collect_unasked(child.node, slots);
                }
            }
            Operation::Not(child) => self.collect_unasked(*child, slots),
            Operation::Test(test) => slots.extend(self.unasked(test)),
        }
    }

    /// Whether a policy applies, whatever was not asked for comes to be; none if that is open. A condition that cannot
    /// be read is undetermined.
    pub(super) fn applies(&mut self, policy: Indexed) -> Option<bool> {
        self.truths_of(policy).apply(policy.effect)
    }

    fn truths_of(&mut self, policy: Indexed) -> Truths {
        let truths = policy.condition.map(|condition| self.truths(condition));
        truths.unwrap_or(Truths::UNDETERMINED)
    }
}

/// Finds the first policy that applies for certain, and those before it that are open.
pub(super) struct Undecided<'p, 'r> {
    conditions: &'p [Indexed],
    pub(super) run: Run<'r>,
    /// The smallest rank that applies for certain, of those that were tried.
    pub(super) found: Rank,
    open: SmallVec<[Rank; 32]>,
    /// The smallest rank that would allow, were it not undetermined.
    pub(super) withheld: Rank,
}

impl<'p, 'r> Undecided<'p, 'r> {
    pub(super) fn new(conditions: &'p [Indexed], run: Run<'r>) -> Self {
        Self { conditions, run, found: Rank::MAX, open: SmallVec::new(), withheld: Rank::MAX }
    }

    /// Drops the open policies that come after the one that applies for certain. The others are sorted.
    pub(super) fn drop_what_comes_later(&mut self) {
        let found = self.found;
        self.open.retain(|rank| *rank < found);
        self.open.sort_unstable();
        self.open.dedup();
    }

    /// Drops the open policies that cannot turn the decision, which is `otherwise` if none of them applies.
    pub(super) fn drop_what_turns_nothing(&mut self, otherwise: Effect) {
        // The last one decides only if no other does: if it says `otherwise`, it is the same whether it applies.
        while let Some(last) = self.open.last()
            && self.conditions[*last as usize].effect == otherwise
        {
            self.open.pop();
        }
    }

    /// Whether no policy is open.
    pub(super) fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// What must be asked to settle the open policies.
    pub(super) fn asks(mut self, all: &Slots) -> Vec<Ask> {
        let mut slots = Vec::new();
        for rank in self.open {
            if let Some(condition) = self.conditions[rank as usize].condition {
                self.run.collect_unasked(condition, &mut slots);
            }
        }
        slots.sort_unstable();
        slots.dedup();
        let namespaces = all.namespaces().iter();
        let ask = namespaces.map(|namespace| {
            let attributes = slots.iter().filter_map(|slot| match all.path(*slot) {
                AttributePath::Resolved(path) if path.namespace == namespace.name => {
                    Some(path.name.clone())
                }
                _ => None,
            });
            Ask {
                namespace: namespace.name.clone(),
                resolver: namespace.resolver,
                attributes: attributes.collect(),
            }
        });
        ask.filter(|ask| !ask.attributes.is_empty()).collect()
    }
}

impl<'r> Search<'r> for Undecided<'_, 'r> {
    fn value(&self, slot: Slot) -> Option<Value<'r>> {
        self.run.value(slot)
    }

    fn symbol(&self, slot: Slot) -> Symbol {
        self.run.symbol(slot)
    }

    fn attempt(&mut self, ranks: &[Rank]) {
        for &rank in ranks {
            if rank >= self.found {
                return;
            }
            let policy = self.conditions[rank as usize];
            let truths = self.run.truths_of(policy);
            match truths.apply(policy.effect) {
                Some(true) => {
                    self.found = rank;
                    return;
                }
                Some(false) if truths == Truths::UNDETERMINED => {
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

    /// The set is exactly what comes of every choice of its parts' truths.
    #[test]
    fn sets_of_truths_are_those_of_their_members() {
        let members = |set: Truths| {
            [Some(true), Some(false), None]
                .into_iter()
                .filter(move |truth| set.has(Truths::of(*truth)))
        };
        let conjunction = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        for a in (1..8).map(Truths) {
            let negated = members(a).fold(Truths::NONE, |set, truth| {
                set.with(Truths::of(truth.map(|truth| !truth)), true)
            });
            assert_eq!(a.negated(), negated, "not {a:?}");
            for b in (1..8).map(Truths) {
                let both = members(a)
                    .flat_map(|a| members(b).map(move |b| conjunction(a, b)))
                    .fold(Truths::NONE, |set, truth| set.with(Truths::of(truth), true));
                assert_eq!(Truths::of_all([a, b].into_iter()), both, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn a_policy_is_open_if_its_truths_differ_in_whether_it_applies() {
        let set = |truths: &[Truths]| {
            truths.iter().fold(Truths::NONE, |set, truth| set.with(*truth, true))
        };
        let (yes, no, open) = (Truths::TRUE, Truths::FALSE, Truths::UNDETERMINED);
        for (truths, allow, deny) in [
            (set(&[yes]), Some(true), Some(true)),
            (set(&[no]), Some(false), Some(false)),
            (set(&[open]), Some(false), Some(true)),
            (set(&[yes, open]), None, Some(true)),
            (set(&[no, open]), Some(false), None),
            (set(&[yes, no]), None, None),
            (Truths::ANY, None, None),
        ] {
            assert_eq!(truths.apply(Effect::Allow), allow, "allow, {truths:?}");
            assert_eq!(truths.apply(Effect::Deny), deny, "deny, {truths:?}");
        }
    }
}
