//! Who may use how many of the instances.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// What one tenant may use of the instances: all its resolvers together, however often they are bound, and the
/// loading of its modules. A tenant whose calls hang then starves nobody but itself.
#[derive(Clone, Debug)]
pub struct Share(pub(crate) Arc<Semaphore>);

impl Share {
    /// A share of so many instances.
    pub(crate) fn of(instances: usize) -> Self {
        Self(Arc::new(Semaphore::new(instances)))
    }

    /// Whether nobody has it but whoever asks: no resolver, and no call.
    pub fn is_unused(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }
}
