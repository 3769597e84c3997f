//! What hand-written Rust can do with the workloads: the limit that engines are held against.
//!
//! It begins with the same strings and attribute pairs as an engine, and ends with a boolean. On the way
//! it does less, and is no product: no wildcard, no id and no reason of what decided, no third value for
//! what is absent (a policy then simply does not apply), no check of its input, and policies of one shape
//! only.

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
    /// Takes what the workload's rules and policies need to be decided by.
    pub fn new(workload: &Workload) -> Self {
        Self {
            rules: RuleTable::new(&workload.rules),
            policies: PolicyIndex::new(&workload.policies),
        }
    }

    /// Whether `ask` is allowed.
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

/// Strings as small numbers.
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
