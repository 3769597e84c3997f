//! Reduces a condition to the part that unknown attributes decide.
//!
//! Only whether a policy applies matters. An allow applies if its condition is true, so undetermined is as false there; a
//! deny applies unless its condition is false, so undetermined is as true. A negation swaps the two. With that, known
//! parts are constants and drop out, and what remains applies for exactly the same values.

use crate::condition::Condition;
use crate::plan::program::{Child, NodeId, Operation, Run, as_written};
use crate::plan::slots::Slots;
use crate::policy::applies;
use crate::rbac::Effect;

/// Reduces the conditions of one residual.
pub(super) struct Simplifier<'s, 'r> {
    run: &'s mut Run<'r>,
    slots: &'s Slots,
    /// The bytes that further conditions may take.
    left: usize,
}

/// The rest of a condition.
enum Simplified {
    /// Whether a policy applies by it is known.
    Settled(bool),
    Open(Condition),
}

impl<'s, 'r> Simplifier<'s, 'r> {
    /// Starts with `max_bytes`, the maximum size of all conditions in bytes of memory.
    pub(in crate::plan) fn new(run: &'s mut Run<'r>, slots: &'s Slots, max_bytes: usize) -> Self {
        Self { run, slots, left: max_bytes }
    }

    /// Returns the residual condition of an open policy with this effect. `None` if it is too large.
    pub(super) fn residual(&mut self, condition: NodeId, effect: Effect) -> Option<Condition> {
        match self.simplify(condition, effect)? {
            Simplified::Open(condition) => Some(condition),
            // A settled condition is of no open policy.
            Simplified::Settled(_) => None,
        }
    }

    /// Reduces a part of a condition: the result applies under `effect` if and only if the part does.
    fn simplify(&mut self, node: NodeId, effect: Effect) -> Option<Simplified> {
        let operation = self.run.operation(node);
        if let Operation::Test(test) = operation
            && self.run.not_requested(test).next().is_some()
        {
            let test = test.clone().map(&mut |slot| self.slots.path(slot).clone());
            self.take(operation.weight() + test.attribute.weight())?;
            return Some(Simplified::Open(Condition::Test(test).expanded()));
        }
        // The run takes an unknown attribute as undetermined. A truth that comes out nevertheless does not depend on it.
        let truth = self.run.truth(node);
        match operation {
            _ if truth.is_some() => Some(Simplified::Settled(applies(effect, truth))),
            // Nothing of it is open, so it is undetermined for every value.
            Operation::Test(_) => Some(Simplified::Settled(applies(effect, None))),
            Operation::Not(child) => {
                // A negation applies under one effect if and only if its child does not under the other.
                let child = self.simplify(*child, opposite(effect))?;
                Some(match child {
                    Simplified::Settled(applies) => Simplified::Settled(!applies),
                    Simplified::Open(Condition::Not(inner)) => Simplified::Open(*inner),
                    Simplified::Open(child) => Simplified::Open(Condition::Not(Box::new(child))),
                })
            }
            Operation::All(children) => self.join(children, effect, false),
            Operation::Any(children) => self.join(children, effect, true),
        }
    }

    /// Reduces AND (`deciding` is false) or OR (`deciding` is true). A child that is settled as `deciding` decides; other
    /// settled children drop out.
    fn join(&mut self, children: &[Child], effect: Effect, deciding: bool) -> Option<Simplified> {
        let mut open = Vec::new();
        for child in as_written(children) {
            match (self.simplify(child, effect)?, deciding) {
                (Simplified::Settled(applies), _) if applies == deciding => {
                    return Some(Simplified::Settled(deciding));
                }
                (Simplified::Settled(_), _) => {}
                (Simplified::Open(Condition::And(inner)), false)
                | (Simplified::Open(Condition::Or(inner)), true) => open.extend(inner),
                (Simplified::Open(child), _) => open.push(child),
            }
        }
        if open.len() > 1 {
            // The node itself. Its children have taken theirs.
            self.take(0)?;
            let joined = if deciding { Condition::Or } else { Condition::And };
            return Some(Simplified::Open(joined(open.into())));
        }
        // Without an open child, each is settled as the truth that does not decide.
        Some(open.pop().map_or(Simplified::Settled(!deciding), Simplified::Open))
    }

    /// Takes the bytes of a node from what is left. `None` if they do not fit.
    fn take(&mut self, heap_bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(size_of::<Condition>() + heap_bytes)?;
        Some(())
    }
}

fn opposite(effect: Effect) -> Effect {
    match effect {
        Effect::Allow => Effect::Deny,
        Effect::Deny => Effect::Allow,
    }
}
