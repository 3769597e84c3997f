//! Shares: the number of instances that each tenant may use.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// The instances that one tenant may use, for the calls of all its resolvers and for loading its modules. So a tenant
/// whose calls hang starves only itself.
#[derive(Clone, Debug)]
pub struct InstanceShare(pub(crate) Arc<Semaphore>);

impl InstanceShare {
    /// Makes a share of this many instances.
    pub(crate) fn of(instances: usize) -> Self {
        Self(Arc::new(Semaphore::new(instances)))
    }

    /// Returns whether only the caller has this share: no resolver and no running call has it.
    pub fn is_unused(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}
