//! The limit: hand-written Rust for the workloads, with which engines are compared.
//!
//! It starts with the same strings and attribute pairs as an engine, and returns a boolean. It does less than an engine:
//! it has no wildcards, no id and no reason, no third truth value for absent attributes (such a policy does not apply),
//! no validation, and policies of one shape only.

mod policies;
mod rules;
mod walks;

use std::collections::HashMap;

use ahash::RandomState;

use crate::model::Workload;
use crate::plain_request::PlainRequest;
use policies::PolicyIndex;
use rules::RuleTable;

pub use walks::{Closures, Tree};

type Hashed<K, V> = HashMap<K, V, RandomState>;

/// The limit of W1 to W4: rules in one hash table, and policies by resource and department, sorted so that the first match
/// decides.
pub struct Limit {
    rules: RuleTable,
    policies: PolicyIndex,
}

impl Limit {
    /// Prepares the workload's rules and policies.
    pub fn new(workload: &Workload) -> Self {
        Self {
            rules: RuleTable::new(&workload.rules),
            policies: PolicyIndex::new(&workload.policies),
        }
    }

    /// Returns whether `request` is allowed.
    pub fn allows(&self, request: &PlainRequest<'_>) -> bool {
        let by_policy = self.policies.decide(request);
        if by_policy == Some(false) {
            return false;
        }
        match self.rules.decide(request) {
            Some(by_rule) => by_rule,
            None => by_policy == Some(true),
        }
    }
}

/// Maps strings to small numbers.
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
