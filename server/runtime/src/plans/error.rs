//! The reasons why there is no plan to decide with.

use std::sync::Arc;

use portcullis_storage::StoreError;
use strum::{Display, IntoStaticStr};

use crate::entity_tables::EntitiesError;

/// A history that has revisions of its own.
#[derive(Clone, Copy, Debug, Display, IntoStaticStr, PartialEq, Eq)]
#[strum(serialize_all = "lowercase")]
pub enum Counted {
    /// Rules, policies and all else of a plan.
    Policy,
    /// Entities and relations.
    Entities,
}

/// There is no plan to decide with.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlanError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    /// Plans in memory may lag behind the store by more than `MAX_STALENESS`.
    #[error("the database did not answer requests for changes within MAX_STALENESS")]
    TooStale,
    /// The store does not have the revision that the check requires.
    #[error("the request requires revision {at_least}, but the database has {latest}")]
    NoSuchRevision { at_least: u64, latest: u64 },
    /// The store does not have the revision of the entities that the check requires.
    #[error("the request requires revision {at_least} of the entities")]
    NoSuchEntities { at_least: u64 },
    /// The check requires a revision of a history that the database lost.
    #[error(
        "the request requires revision {at_least} of the {of}, which the database lost; it has {latest}"
    )]
    RevisionLost { of: Counted, at_least: u64, latest: u64 },
    /// The load waited too long, because others of the same tenant use its share.
    #[error("too many plans of this tenant are being loaded")]
    TooManyLoads,
    /// The plan needs the entities of the tenant.
    #[error(transparent)]
    Entities(#[from] EntitiesError),
}

impl From<StoreError> for PlanError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}
