//! The search for a check with which conditions have wanted truths.

use super::outcomes::Demand;
use super::scope::Scope;
use super::values;
use crate::condition::{Condition, Operand, Predicate, Test};
use crate::truths::TruthSet;

/// A condition, and the truths that it may have: with or without true, with or without false, never all and never
/// undetermined alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal<'c> {
    pub(super) condition: &'c Condition,
    pub(super) truths: TruthSet,
}

/// The search takes more steps than it may.
#[derive(Debug)]
pub(super) struct OutOfSteps;

/// A search for one check.
pub(super) struct Search<'c, 's> {
    scope: Scope<'c>,
    /// The number of steps that may still be taken.
    steps: &'s mut usize,
    demands: Vec<Demand<'c>>,
    /// The goals that one of several children reaches, in the order in which they are tried.
    open: Vec<Goal<'c>>,
}

impl<'c, 's> Search<'c, 's> {
    pub(super) fn new(scope: Scope<'c>, steps: &'s mut usize) -> Self {
        Self { scope, steps, demands: Vec::new(), open: Vec::new() }
    }

    /// Returns whether a check may reach all goals at the same time. If not, no check does.
    pub(super) fn finds(mut self, goals: &[Goal<'c>]) -> Result<bool, OutOfSteps> {
        for goal in goals {
            if !self.assume(*goal)? {
                return Ok(false);
            }
        }
        self.reaches_open(0)
    }

    /// Adds the demands of a goal. Returns false if they contradict those before.
    fn assume(&mut self, goal: Goal<'c>) -> Result<bool, OutOfSteps> {
        let children = match goal.condition {
            Condition::Test(test) => return self.demand(Demand { test, truths: goal.truths }),
            Condition::Not(child) => {
                return self.assume(Goal { condition: child, truths: goal.truths.negated() });
            }
            Condition::Named(named) => {
                return match named.meaning() {
                    Some(meaning) => self.assume(Goal { condition: meaning, ..goal }),
                    // Any truth is possible.
                    None => Ok(true),
                };
            }
            Condition::And(children) | Condition::Or(children) => children,
        };
        if !goal.needs_every_child() {
            // Choices come last, when every demand that needs none is known.
            self.open.push(goal);
            return Ok(true);
        }
        for child in children {
            if !self.assume(Goal { condition: child, truths: goal.truths })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reaches the open goals from `next` on, by trying the children of each.
    fn reaches_open(&mut self, next: usize) -> Result<bool, OutOfSteps> {
        let Some(Goal { condition, truths }) = self.open.get(next).copied() else {
            return Ok(true);
        };
        let (Condition::And(children) | Condition::Or(children)) = condition else {
            return Ok(false);
        };
        let (demands, open) = (self.demands.len(), self.open.len());
        for child in children {
            if self.assume(Goal { condition: child, truths })? && self.reaches_open(next + 1)? {
                return Ok(true);
            }
            // The next child begins without what this one demanded.
            self.demands.truncate(demands);
            self.open.truncate(open);
        }
        Ok(false)
    }

    /// Adds a demand. Returns false if no value of its attribute meets all demands on it.
    fn demand(&mut self, demand: Demand<'c>) -> Result<bool, OutOfSteps> {
        self.demands.push(demand);
        let path = &demand.test.attribute;
        let of_path = self.demands.iter().filter(|demand| demand.test.attribute == *path);
        let together: Vec<Demand<'c>> = of_path.copied().collect();
        let cost = cost(&together).saturating_add(self.demands.len());
        *self.steps = self.steps.checked_sub(cost).ok_or(OutOfSteps)?;
        Ok(values::exists(path, &self.scope, &together))
    }
}

impl Goal<'_> {
    /// Returns whether every child must have the truths of the goal; if not, one child is enough.
    fn needs_every_child(self) -> bool {
        let deciding = match self.condition {
            Condition::Or(_) => TruthSet::FALSE,
            _ => TruthSet::TRUE,
        };
        self.truths.has(deciding)
    }
}

/// Returns the most evaluations of tests that judging these demands takes.
fn cost(demands: &[Demand<'_>]) -> usize {
    let literals: usize = demands.iter().map(|demand| literals(demand.test)).sum();
    // Every literal is a value to try, and so is the space before and after it. The kinds of values are the rest.
    demands.len().saturating_mul(3 * literals + 8)
}

fn literals(test: &Test) -> usize {
    match &test.predicate {
        Predicate::Compare(_, Operand::List(list)) => list.len(),
        Predicate::IpIn(networks) => networks.iter().count(),
        _ => 1,
    }
}
