//! The outcome of a cell.

use std::sync::Arc;

use super::residual::Residual;
use crate::rbac::Effect;

/// The decision on every request that fits a cell.
#[derive(Clone, Debug)]
pub enum Outcome<'p> {
    /// Each is allowed.
    Allow,
    /// Each is denied.
    Deny,
    /// The unknown attributes decide.
    Depends(Arc<Residual<'p>>),
}

impl From<Effect> for Outcome<'_> {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}
