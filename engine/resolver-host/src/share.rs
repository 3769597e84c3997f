//! Shares: the instances and compilations that each tenant may have.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// The instances that one tenant may use, for the calls of all its resolvers and for loading its modules, and its turn
/// at the compiler. So a tenant whose calls hang, or whose modules take long to compile, starves only itself.
#[derive(Clone, Debug)]
pub struct InstanceShare {
    pub(crate) instances: Arc<Semaphore>,
    /// One permit: a tenant compiles one module at a time, and waits for its next turn behind all other tenants.
    pub(crate) compiling: Arc<Semaphore>,
}

impl InstanceShare {
    /// Makes a share of this many instances.
    pub(crate) fn of(instances: usize) -> Self {
        Self {
            instances: Arc::new(Semaphore::new(instances)),
            compiling: Arc::new(Semaphore::new(1)),
        }
    }

    /// Returns whether only the caller has this share: no resolver, no running call and no compilation has it.
    pub fn is_unused(&self) -> bool {
        Arc::strong_count(&self.instances) == 1 && Arc::strong_count(&self.compiling) == 1
    }
}
