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
use super::slots::{Slot, Slots};
use crate::condition::{AttributePath, Test};
use crate::rbac::Effect;
use crate::resolution::AttributeRequest;
use crate::truths::TruthSet;
use crate::value::AttributeValue;

impl Run<'_> {
    /// Returns the truths that a node can still have.
    fn truths(&mut self, node: NodeId) -> TruthSet {
        let operation = self.operation(node);
        if let Operation::Test(test) = operation
            && self.not_requested(test).next().is_some()
        {
            return TruthSet::ANY;
        }
        // The run takes an attribute that was not requested as undetermined. A truth that comes out nevertheless does
        // not depend on it.
        if let Some(truth) = self.truth(node) {
            return TruthSet::from_truth(Some(truth));
        }
        match operation {
            Operation::All(children) => TruthSet::conjunction(self.each(children)),
            Operation::Any(children) => {
                // De Morgan: a OR b is NOT (NOT a AND NOT b).
                TruthSet::conjunction(self.each(children).map(TruthSet::negated)).negated()
            }
            Operation::Not(child) => self.truths(*child).negated(),
            Operation::Test(_) => TruthSet::UNDETERMINED,
        }
    }

    fn each(&mut self, children: &[Child]) -> impl Iterator<Item = TruthSet> {
        children.iter().map(|child| self.truths(child.node))
    }

    /// Returns the attributes of a test that were not requested and on which its truth depends.
    pub(super) fn not_requested(&self, test: &Test<Slot>) -> impl Iterator<Item = Slot> + use<> {
        // The right side does not matter if the left side is known to be absent.
        let others = match self.value(test.attribute) {
            Some(_) => test.predicate.other_attributes(),
            None => &[],
        };
        let both = std::iter::once(&test.attribute).chain(others).copied();
        let open =
            both.filter(|slot| matches!(self.value(*slot), Some(AttributeValue::NotRequested)));
        open.collect::<SmallVec<[Slot; 4]>>().into_iter()
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

    fn truths_of(&mut self, policy: Indexed) -> TruthSet {
        let truths = policy.condition.map(|condition| self.truths(condition));
        truths.unwrap_or(TruthSet::UNDETERMINED)
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
    fn run(&self) -> &Run<'r> {
        &self.run
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
                // Only an allow: a deny applies where it is undetermined.
                Some(false) if truths == TruthSet::UNDETERMINED => {
                    self.withheld = self.withheld.min(rank);
                }
                Some(false) => {}
                // May be here twice, until `drop_outranked`.
                None => self.open.push(rank),
            }
        }
    }
}
