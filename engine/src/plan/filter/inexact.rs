//! Policies that a filter cannot show exactly.

use serde::Serialize;
use uuid::Uuid;

use crate::policy::PlannedPolicy;

/// A policy that a filter cannot show exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InexactPolicy {
    /// The id of the policy.
    pub id: Uuid,
    /// The name of the policy.
    pub name: String,
    /// The reasons, one for each test.
    pub reasons: Vec<String>,
}

impl InexactPolicy {
    pub(crate) fn new(policy: &PlannedPolicy, reasons: Vec<String>) -> Self {
        Self { id: policy.id, name: policy.name.to_string(), reasons }
    }
}
