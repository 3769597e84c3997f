//! The memory that request bodies may take together.

use portcullis_engine::resolver_contract::MODULE_BYTES;
use portcullis_limits::{MemoryAccount, MemoryBudget, MemoryCharge, MemoryMetrics};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::machine::cores;
use portcullis_runtime::turns::WorkQueue;

use crate::large_bodies;

/// Largest upload, in bytes: the largest module, the manifest and the multipart form.
pub const MAX_UPLOAD: usize = MODULE_BYTES + (1 << 20);
/// Smallest budget, and smallest share of a tenant, in bytes: a tenant may send two uploads at a time.
const SMALLEST: usize = 2 * MAX_UPLOAD;

/// The memory that request bodies may take, in all and of one tenant. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BodyBudget {
    memory: MemoryBudget,
    /// Most bytes of the body of an apply.
    largest_apply: usize,
    large: WorkQueue,
}

impl BodyBudget {
    /// Returns a budget of `most` bytes, and at least two uploads. The body of an apply has at most `largest_apply` bytes.
    pub fn new(most: u64, largest_apply: u64, metrics: MemoryMetrics) -> Self {
        let memory = MemoryBudget::new(most.max(SMALLEST as u64), SMALLEST, metrics);
        let largest_apply = usize::try_from(largest_apply).unwrap_or(usize::MAX);
        Self { memory, largest_apply, large: WorkQueue::for_large_bodies(cores()) }
    }

    /// Returns the most bytes of the body of an apply.
    pub fn largest_apply(&self) -> usize {
        self.largest_apply
    }

    /// Returns a charge without bytes.
    pub fn charge(&self, account: MemoryAccount) -> MemoryCharge {
        self.memory.charge(account)
    }

    /// Waits for the turn of a large body.
    ///
    /// # Errors
    /// Too many large bodies of the account wait, or the wait takes too long.
    pub async fn take_turn(&self, account: MemoryAccount) -> Result<(), OperationError> {
        let turn = large_bodies::take_turn(&self.large, &account.number().to_string()).await;
        turn.inspect_err(|_| self.memory.count_refusal())
    }
}

#[cfg(test)]
mod tests {
    use portcullis_limits::Spent;

    use super::*;

    #[test]
    fn the_smallest_budget_has_room_for_uploads() {
        let budget = BodyBudget::new(0, 0, MemoryMetrics::default());
        let mut charge = budget.charge(MemoryAccount::for_tenant("acme"));
        assert_eq!(charge.grow_to(SMALLEST), Ok(()));
        assert_eq!(charge.grow_to(SMALLEST + 1), Err(Spent));
    }
}
