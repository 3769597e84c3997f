//! Policies compiled together: their conditions as one program, with an index.

use uuid::Uuid;

use super::compiler::Compiler;
use super::index::{self, Index, Indexed, Rank};
use super::program::Program;
use super::slots::Slots;
use super::source::Source;
use super::written::Written;
use crate::policy::PlannedPolicy;
use crate::resolution::ResolverRef;

/// Policies, compiled.
#[derive(Debug)]
pub(super) struct Abac {
    /// Highest priority first, then denies, then the smallest id: the first that applies decides.
    pub(super) policies: Box<[PlannedPolicy]>,
    /// The effect and condition of each policy, kept apart because most checks read nothing else.
    pub(super) conditions: Box<[Indexed]>,
    pub(super) index: Index,
    pub(super) program: Program,
    pub(super) slots: Slots,
    /// The policies with a pattern that is over a budget.
    pub(super) over_budget: Box<[Uuid]>,
    pub(super) written: Written,
}

impl Abac {
    /// Compiles policies in any order. Binds each namespace to the resolver that `resolver` returns for it.
    pub(super) fn compile(
        mut sources: Vec<Source>,
        resolver: impl Fn(&str) -> Option<ResolverRef>,
    ) -> Self {
        sources.sort_unstable_by_key(|source| source.policy.order());
        let written = Written::of(&sources);
        let mut compiler = Compiler::default();
        let (policies, conditions): (Vec<PlannedPolicy>, Vec<Indexed>) =
            sources.into_iter().map(|source| compiler.policy(source)).unzip();
        let Compiler { program, patterns, over_budget } = compiler;
        let roots = conditions.iter().filter_map(|indexed| indexed.condition);
        let (mut program, mut slots) = program.finish(roots, &patterns);
        let (index, implied) = index::build(&program, &slots, &conditions);
        // The index has checked these tests for nearly every policy that it finds.
        for (root, test) in implied {
            program.evaluate_last(root, test);
        }
        slots.bind(resolver);
        Self {
            policies: policies.into(),
            conditions: conditions.into(),
            index,
            program,
            slots,
            over_budget: over_budget.into(),
            written,
        }
    }

    /// Returns the policy of a rank as it was before it was compiled.
    pub(super) fn source(&self, rank: Rank) -> Source {
        let root = self.conditions[rank as usize].condition;
        let condition = match self.written.get(rank) {
            // A condition that does not compile stays so.
            Some(written) => root.map(|_| written.clone()),
            None => {
                root.map(|root| self.program.condition(root, &|slot| self.slots.path(slot).clone()))
            }
        };
        Source { policy: self.policies[rank as usize].clone(), condition }
    }

    /// Returns the number of steps that every value may take without reaching the limit of a run.
    pub(super) fn max_steps_of_value(&self) -> usize {
        let roots = self.conditions.iter().filter_map(|indexed| indexed.condition);
        self.program.max_steps_of_value(roots)
    }

    /// Returns the bytes of the policies with all that they own.
    pub(super) fn weight(&self) -> usize {
        let names: usize = self.policies.iter().map(|policy| policy.name.len()).sum();
        size_of::<Self>()
            + size_of_val::<[PlannedPolicy]>(&self.policies)
            + size_of_val::<[Indexed]>(&self.conditions)
            + names
            + self.index.weight()
            + self.program.weight()
            + self.slots.weight()
            + size_of_val::<[Uuid]>(&self.over_budget)
            + self.written.weight()
    }
}
