//! Compiles the policies of a plan, one after the other in the order in which they decide.

use uuid::Uuid;

use super::index::Indexed;
use super::program::{Builder, NodeId};
use super::source::Source;
use crate::condition::{Condition, Predicate};
use crate::pattern::{PatternCompiler, PatternFault};
use crate::policy::PlannedPolicy;

/// The parts of a plan that grow with its policies.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) program: Builder,
    pub(super) patterns: PatternCompiler,
    /// The policies with a pattern that is over a budget.
    pub(super) over_budget: Vec<Uuid>,
}

impl Default for Compiler {
    fn default() -> Self {
        let patterns = PatternCompiler::new();
        Self { program: Builder::default(), patterns, over_budget: Vec::new() }
    }
}

impl Compiler {
    /// Splits a policy into what a decision reports of it and what evaluation reads.
    pub(super) fn policy(&mut self, source: Source) -> (PlannedPolicy, Indexed) {
        let Source { policy, condition } = source;
        let condition = condition.and_then(|condition| self.condition(policy.id, condition));
        let indexed = Indexed { effect: policy.effect, condition };
        (policy, indexed)
    }

    /// Adds a condition to the program. Returns its root; `None` if a pattern in it is not a regular expression any more.
    fn condition(&mut self, policy: Uuid, condition: Condition) -> Option<NodeId> {
        self.patterns.begin_policy();
        let within_budget = self.compile_patterns(&condition).ok()?;
        if !within_budget {
            self.over_budget.push(policy);
        }
        Some(self.program.add(condition))
    }

    /// Compiles the patterns of a condition. Returns whether all of them are within the budget.
    ///
    /// # Errors
    /// A pattern is not a regular expression.
    fn compile_patterns(&mut self, condition: &Condition) -> Result<bool, PatternFault> {
        let children = match condition {
            Condition::And(children) | Condition::Or(children) => children,
            Condition::Not(child) => std::slice::from_ref(&**child),
            Condition::Named(named) => match named.meaning() {
                Some(meaning) => std::slice::from_ref(&**meaning),
                None => return Ok(true),
            },
            Condition::Test(test) => match &test.predicate {
                Predicate::Items(items) => std::slice::from_ref(items.child()),
                Predicate::Matches(pattern) => {
                    return match self.patterns.compile(pattern) {
                        Ok(_) => Ok(true),
                        // An invalid pattern breaks the condition. One over the budget leaves only its own test undetermined.
                        Err(fault @ PatternFault::Syntax(_)) => Err(fault),
                        Err(_) => Ok(false),
                    };
                }
                _ => return Ok(true),
            },
        };
        let mut within_budget = true;
        for child in children {
            within_budget &= self.compile_patterns(child)?;
        }
        Ok(within_budget)
    }
}
