//! The reasons why the entities of a tenant cannot be had.

use std::sync::Arc;

use portcullis_storage::StoreError;

/// The reason why the entities of a tenant cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EntitiesError {
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    /// The store was not read within `MAX_STALENESS`.
    #[error("the entities were not compared with the database within MAX_STALENESS")]
    TooStale,
    /// The store lost changes after this revision or with it. An epoch has begun, and the next check learns of it.
    #[error("the database lost changes of entities")]
    Lost(u64),
    /// Too many loads run.
    #[error("too many directories are being loaded")]
    TooManyLoads,
    /// The entities take more than the share of a tenant.
    #[error("the entities of the tenant take more memory than the service has for one tenant")]
    TooLarge,
}
