//! The facts beside content and bundle that a plan depends on.

use std::collections::HashSet;

use portcullis_model::Authorship;
use portcullis_model::ids::Ids;
use portcullis_resolvers::OperatorResolver;
use uuid::Uuid;

use super::ready::ReadyResolver;

/// The facts beside content and bundle that a plan depends on.
#[derive(Clone, Copy, Debug)]
pub struct PlanContext<'c> {
    pub tenant: &'c str,
    /// The owner whose objects the bundle replaces; `None` is the operator, who owns all and marks none.
    pub owner: Option<&'c str>,
    /// Whether objects of the owner go that the bundle does not name.
    pub prune: bool,
    /// Whether objects of other owners are taken over.
    pub force: bool,
    /// The domain of the rules of default roles.
    pub domain: &'c str,
    pub by: &'c Authorship,
    pub ids: &'c Ids,
    /// The resolvers of the bundle.
    pub resolvers: &'c [ReadyResolver],
    pub operator: &'c [OperatorResolver],
    /// The webhooks whose secrets are other ones than the bundle has.
    pub changed_secrets: &'c HashSet<Uuid>,
}
