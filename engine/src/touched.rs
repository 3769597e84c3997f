//! The part of a tenant's rules that a change touches, so that plans that do not depend on it stay.

use uuid::Uuid;

use crate::resource::ResourcePattern;

/// The resources whose decisions a change may alter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    pub resources: ResourcePattern,
    /// The RBAC rule that changed, if nothing else did.
    pub rule: Option<Uuid>,
    /// The ABAC policy that changed, if nothing else did.
    pub policy: Option<Uuid>,
}

impl Touched {
    /// Returns what a change of one RBAC rule touches.
    pub fn by_rule(rule: Uuid, resources: ResourcePattern) -> Self {
        Self { resources, rule: Some(rule), policy: None }
    }

    /// Returns what a change of one ABAC policy touches.
    pub fn by_policy(policy: Uuid, resources: ResourcePattern) -> Self {
        Self { resources, rule: None, policy: Some(policy) }
    }
}

impl From<ResourcePattern> for Touched {
    /// Returns what any other change touches.
    fn from(resources: ResourcePattern) -> Self {
        Self { resources, rule: None, policy: None }
    }
}
