//! The memory that request bodies may take together.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use portcullis_engine::resolver_contract::MODULE_BYTES;
use portcullis_operations::edge_metrics::BodyMetrics;
use portcullis_operations::error::OperationError;
use portcullis_operations::large_bodies::LargeBodies;

use crate::large_bodies;

/// Largest upload, in bytes: the largest module, the manifest and the multipart form.
pub(crate) const MAX_UPLOAD: usize = MODULE_BYTES + (1 << 20);
/// Smallest budget, in bytes: a tenant may send two uploads at a time.
const SMALLEST: usize = 2 * MAX_UPLOAD;
/// Accounts of tenants. Tenants with the same account share a quarter of the budget; with so many accounts that is rare,
/// and no tenant can choose its account.
const ACCOUNTS: usize = 4_096;

/// The memory that request bodies may take, in all and of one tenant. Cheap to clone.
#[derive(Clone, Debug)]
pub struct BodyBudget(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: i64,
    /// Most bytes of the body of an apply.
    largest_apply: usize,
    /// Most bytes of one account: a quarter, so that no tenant takes the memory of all.
    share: usize,
    accounts: Box<[AtomicUsize]>,
    large: LargeBodies,
    hasher: RandomState,
    metrics: BodyMetrics,
}

/// The account of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account(usize);

/// The memory of one body. It is free again when the charge is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    budget: BodyBudget,
    account: Account,
    bytes: usize,
}

/// The memory for bodies is spent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Spent;

impl BodyBudget {
    /// Returns a budget of `most` bytes, and at least two uploads. The body of an apply has at most `largest_apply` bytes.
    pub fn new(most: u64, largest_apply: u64, metrics: BodyMetrics) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX).max(SMALLEST);
        Self(Arc::new(Shared {
            most: i64::try_from(most).unwrap_or(i64::MAX),
            largest_apply: usize::try_from(largest_apply).unwrap_or(usize::MAX),
            share: (most / 4).max(SMALLEST),
            accounts: (0..ACCOUNTS).map(|_| AtomicUsize::new(0)).collect(),
            large: LargeBodies::default(),
            hasher: RandomState::new(),
            metrics,
        }))
    }

    /// Returns the most bytes of the body of an apply.
    pub(crate) fn largest_apply(&self) -> usize {
        self.0.largest_apply
    }

    /// Returns the account of `tenant`. The operator and callers without a tenant have the account of the empty text.
    pub(crate) fn account(&self, tenant: &str) -> Account {
        // The remainder is less than `ACCOUNTS`.
        Account((self.0.hasher.hash_one(tenant) % ACCOUNTS as u64) as usize)
    }

    /// Returns a charge without bytes.
    pub(crate) fn charge(self, account: Account) -> Charge {
        Charge { budget: self, account, bytes: 0 }
    }
}

impl Shared {
    fn account(&self, account: Account) -> Option<&AtomicUsize> {
        self.accounts.get(account.0)
    }

    fn release(&self, account: Account, bytes: usize) {
        if let Some(own) = self.account(account) {
            own.fetch_sub(bytes, Ordering::Relaxed);
        }
        self.metrics.bytes.dec_by(bytes as i64);
    }
}

impl Charge {
    /// Waits for the turn of a large body.
    ///
    /// # Errors
    /// Too many large bodies of the account wait, or the wait takes too long.
    pub(crate) async fn take_turn(&self) -> Result<(), OperationError> {
        let shared = &self.budget.0;
        let turn = large_bodies::take_turn(&shared.large, &self.account.0.to_string()).await;
        turn.inspect_err(|_| drop(shared.metrics.refused.inc()))
    }

    /// Raises the charge to `bytes`.
    ///
    /// # Errors
    /// The budget, or the share of the account, is spent.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), Spent> {
        let Some(more) = bytes.checked_sub(self.bytes).filter(|more| *more > 0) else {
            return Ok(());
        };
        let shared = &self.budget.0;
        // The gauge is what is counted, so that a body costs one shared counter and not two.
        let used = shared.metrics.bytes.inc_by(more as i64).saturating_add(more as i64);
        let own = shared.account(self.account);
        let own = own.map_or(0, |own| own.fetch_add(more, Ordering::Relaxed).saturating_add(more));
        if used > shared.most || own > shared.share {
            shared.release(self.account, more);
            shared.metrics.refused.inc();
            return Err(Spent);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.0.release(self.account, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn budget(mib: usize) -> BodyBudget {
        BodyBudget::new((mib * MIB) as u64, 0, BodyMetrics::default())
    }

    /// Returns charges of 1 MiB of one account until the budget refuses.
    fn fill(budget: &BodyBudget, account: usize) -> Vec<Charge> {
        let charge = || {
            let mut charge = budget.clone().charge(Account(account));
            charge.grow_to(MIB).ok().map(|()| charge)
        };
        std::iter::from_fn(charge).collect()
    }

    #[test]
    fn a_tenant_has_a_quarter_and_all_have_the_whole() {
        let budget = budget(160);
        let held: Vec<Vec<Charge>> = (0..5).map(|account| fill(&budget, account)).collect();
        let counts: Vec<usize> = held.iter().map(Vec::len).collect();
        assert_eq!(counts, [40, 40, 40, 40, 0]);
        assert_eq!(budget.0.metrics.bytes.get(), 160 * MIB as i64);
        assert_eq!(budget.0.metrics.refused.get(), 5);
        drop(held);
        assert_eq!(budget.0.metrics.bytes.get(), 0);
        assert!(budget.0.accounts.iter().all(|own| own.load(Ordering::Relaxed) == 0));
        assert_eq!(fill(&budget, 4).len(), 40);
    }

    #[test]
    fn the_smallest_budget_has_room_for_uploads() {
        let budget = budget(0);
        let account = budget.account("acme");
        let mut charge = budget.charge(account);
        assert_eq!(charge.grow_to(SMALLEST), Ok(()));
        assert_eq!(charge.grow_to(MIB), Ok(()), "a charge does not shrink");
        assert_eq!(charge.grow_to(SMALLEST + 1), Err(Spent));
        assert_eq!(charge.bytes, SMALLEST);
    }

    #[test]
    fn every_tenant_has_one_account() {
        let budget = budget(64);
        assert_eq!(budget.account("acme"), budget.account("acme"));
        let different = (0..64).map(|n| budget.account(&n.to_string()).0);
        assert!(different.collect::<std::collections::BTreeSet<_>>().len() > 32);
    }
}
