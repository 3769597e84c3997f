//! A policy before it is compiled.

use crate::condition::Condition;
use crate::policy::{PlannedPolicy, Policy};

/// A policy before it is compiled.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) policy: PlannedPolicy,
    /// `None` if the stored condition does not compile.
    pub(super) condition: Option<Condition>,
}

impl From<Policy> for Source {
    fn from(policy: Policy) -> Self {
        let Policy { id, name, effect, priority, condition, .. } = policy;
        let policy = PlannedPolicy { id, name: name.into(), effect, priority };
        Self { policy, condition: condition.ok() }
    }
}
