//! The outcome of a search for one candidate.

use uuid::Uuid;

use super::values::MatchedRuleId;
use crate::plan::matrix::{MAX_BYTES, OpenDecision, Residual};
use crate::rbac::Effect;

/// The decision on one candidate.
#[derive(Debug)]
pub enum SearchOutcome<'p> {
    /// Allowed, by the policy or rule of this id.
    Allowed(Uuid),
    /// Denied.
    Denied,
    /// Resolvers decide.
    Conditional(SearchDependence<'p>),
}

/// The resolver attributes that decide on a candidate.
#[derive(Debug)]
pub struct SearchDependence<'p> {
    /// The paths of the attributes, in order.
    pub depends_on: Vec<String>,
    /// The policies that the attributes open, with the rest of their conditions.
    pub residual: Residual<'p>,
}

impl SearchOutcome<'_> {
    /// Returns the name of the outcome.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allowed(_) => "allow",
            Self::Denied => "deny",
            Self::Conditional(_) => "conditional",
        }
    }

    /// Returns the outcome if no policy applies.
    pub(super) fn by_rule(rule: Option<MatchedRuleId>) -> Self {
        match rule {
            Some((Effect::Allow, id)) => Self::Allowed(id),
            Some((Effect::Deny, _)) | None => Self::Denied,
        }
    }

    /// Returns the effect of a decision; deny for a candidate that is not decided.
    pub(super) fn effect(&self) -> Effect {
        match self {
            Self::Allowed(_) => Effect::Allow,
            Self::Denied | Self::Conditional(_) => Effect::Deny,
        }
    }
}

impl<'p> SearchDependence<'p> {
    /// Describes a decision; `None` if it is settled.
    pub(super) fn new(mut decision: OpenDecision<'p, '_>) -> Option<Self> {
        let residual = decision.residual(MAX_BYTES).ok()?;
        let requests = decision.attribute_requests();
        let paths = requests.iter().flat_map(|request| {
            request.attributes.iter().map(|name| format!("{}.{name}", request.namespace))
        });
        let mut depends_on: Vec<String> = paths.collect();
        depends_on.sort_unstable();
        Some(Self { depends_on, residual })
    }
}
