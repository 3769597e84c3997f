//! Hand-written Rust for the workloads: the limit that engines are compared with.
//!
//! The input is the same strings and attribute pairs as for an engine, and the result is a boolean. The code does
//! less than a product: it has no wildcard, no id and no reason of the decision, no third value for an absent
//! attribute (the policy does not apply), no validation of its input, and policies of one shape only.

mod policies;
mod rules;
mod walks;

use std::collections::HashMap;

use ahash::RandomState;

use crate::ask::Ask;
use crate::model::Workload;
use policies::PolicyIndex;
use rules::RuleTable;

pub use walks::{Closures, Tree};

type Hashed<K, V> = HashMap<K, V, RandomState>;

/// The limit of W1 to W4: rules in one hash table; policies by resource and department, sorted so that
/// the first that matches decides.
pub struct Limit {
    rules: RuleTable,
    policies: PolicyIndex,
}

impl Limit {
    /// Builds the tables from the rules and policies of a workload.
    pub fn new(workload: &Workload) -> Self {
        Self {
            rules: RuleTable::new(&workload.rules),
            policies: PolicyIndex::new(&workload.policies),
        }
    }

    /// Returns whether `ask` is allowed.
    pub fn allows(&self, ask: &Ask<'_>) -> bool {
        let by_policy = self.policies.decide(ask);
        if by_policy == Some(false) {
            return false;
        }
        match self.rules.decide(ask) {
            Some(by_rule) => by_rule,
            None => by_policy == Some(true),
        }
    }
}

/// A small number for each string.
#[derive(Default)]
struct Symbols(Hashed<Box<str>, u32>);

impl Symbols {
    fn intern(&mut self, text: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(text.into()).or_insert(next)
    }

    fn get(&self, text: &str) -> Option<u32> {
        self.0.get(text).copied()
    }
}
