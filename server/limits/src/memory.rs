//! Memory that requests or their answers may take together, and the share of each tenant and each address.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use crate::address::counted;

/// Accounts of a budget. Tenants and addresses with the same account share a quarter of the budget; with so many accounts
/// that is rare, and nobody can choose an account.
const ACCOUNTS: usize = 4_096;

/// Makes accounts. Its keys are random, and the same for all budgets of the process.
static ACCOUNT_HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The account of a tenant or an address, in every budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccount(usize);

impl MemoryAccount {
    /// Returns the account of `tenant`. The operator has the account of the empty text.
    pub fn for_tenant(tenant: &str) -> Self {
        Self::hashed((0_u8, tenant))
    }

    /// Returns the account of an address, or of its /64.
    pub fn for_address(address: IpAddr) -> Self {
        Self::hashed((1_u8, counted(address)))
    }

    /// Returns the number of the account.
    pub fn number(self) -> usize {
        self.0
    }

    fn hashed(of: impl Hash) -> Self {
        // The remainder is less than `ACCOUNTS`.
        Self((ACCOUNT_HASHER.hash_one(of) % ACCOUNTS as u64) as usize)
    }
}

/// The metrics of a budget.
#[derive(Clone, Debug, Default)]
pub struct MemoryMetrics {
    /// Bytes that are charged.
    pub bytes: Gauge,
    /// Charges that were refused.
    pub refused: Counter,
}

/// Memory, in all and of one account. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MemoryBudget(Arc<BudgetParts>);

#[derive(Debug)]
struct BudgetParts {
    most: i64,
    /// Most bytes of one account.
    share: usize,
    accounts: Box<[AtomicUsize]>,
    metrics: MemoryMetrics,
}

/// Charged memory. It is free again when the charge is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    budget: MemoryBudget,
    account: MemoryAccount,
    bytes: usize,
}

/// The memory of a budget, or the share of an account, is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl MemoryBudget {
    /// Returns a budget of `most` bytes. An account has a quarter of it, so that no tenant takes the memory of all, but
    /// always `least_share` bytes.
    pub fn new(most: u64, least_share: usize, metrics: MemoryMetrics) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self(Arc::new(BudgetParts {
            most: i64::try_from(most).unwrap_or(i64::MAX),
            share: (most / 4).max(least_share),
            accounts: (0..ACCOUNTS).map(|_| AtomicUsize::new(0)).collect(),
            metrics,
        }))
    }

    /// Returns a charge without bytes.
    pub fn charge(&self, account: MemoryAccount) -> MemoryCharge {
        MemoryCharge { budget: self.clone(), account, bytes: 0 }
    }

    /// Refuses whoever has an account that has no room for one more byte.
    ///
    /// # Errors
    /// The budget, or the share of the account, is spent.
    pub fn must_have_room(&self, account: MemoryAccount) -> Result<(), Spent> {
        self.charge(account).grow_to(1)
    }

    /// Counts a request that is refused for another reason than its bytes.
    pub fn count_refusal(&self) {
        self.0.metrics.refused.inc();
    }
}

impl BudgetParts {
    fn account(&self, account: MemoryAccount) -> Option<&AtomicUsize> {
        self.accounts.get(account.0)
    }

    /// Adds bytes to an account. Returns whether it had room for them.
    fn add(&self, account: MemoryAccount, bytes: usize) -> bool {
        // The gauge is what is counted, so that a charge costs one shared counter and not two.
        let used = self.metrics.bytes.inc_by(bytes as i64).saturating_add(bytes as i64);
        let own = self.account(account);
        let own =
            own.map_or(0, |own| own.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes));
        used <= self.most && own <= self.share
    }

    fn release(&self, account: MemoryAccount, bytes: usize) {
        if let Some(own) = self.account(account) {
            own.fetch_sub(bytes, Ordering::Relaxed);
        }
        self.metrics.bytes.dec_by(bytes as i64);
    }
}

impl MemoryCharge {
    /// Returns the bytes that are charged.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns a charge of `bytes` beside this one.
    ///
    /// # Errors
    /// The budget, or the share of the account, is spent.
    pub fn beside(&self, bytes: usize) -> Result<Self, Spent> {
        let mut charge = self.budget.charge(self.account);
        charge.grow_to(bytes).map(|()| charge)
    }

    /// Raises the charge to `bytes`.
    ///
    /// # Errors
    /// The budget, or the share of the account, is spent.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Spent> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let shared = &self.budget.0;
        // `add` counts before it compares, so that two threads never get the same last bytes.
        if !shared.add(self.account, more) {
            shared.release(self.account, more);
            shared.metrics.refused.inc();
            return Err(Spent);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Raises the charge to `bytes`, also if that is more than there is. For what cannot be refused any more.
    pub fn overdraw_to(&mut self, bytes: usize) {
        self.budget.0.add(self.account, bytes.saturating_sub(self.bytes));
        self.bytes = self.bytes.max(bytes);
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.budget.0.release(self.account, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn budget(mib: usize, least_share: usize) -> MemoryBudget {
        MemoryBudget::new((mib * MIB) as u64, least_share, MemoryMetrics::default())
    }

    /// Returns charges of 1 MiB of one account until the budget refuses.
    fn fill(budget: &MemoryBudget, account: usize) -> Vec<MemoryCharge> {
        let charge = || {
            let mut charge = budget.charge(MemoryAccount(account));
            charge.grow_to(MIB).ok().map(|()| charge)
        };
        std::iter::from_fn(charge).collect()
    }

    #[test]
    fn an_account_has_a_quarter_and_all_have_the_whole() {
        let budget = budget(160, 0);
        let held: Vec<Vec<MemoryCharge>> = (0..5).map(|account| fill(&budget, account)).collect();
        let counts: Vec<usize> = held.iter().map(Vec::len).collect();
        assert_eq!(counts, [40, 40, 40, 40, 0]);
        assert_eq!(budget.0.metrics.bytes.get(), 160 * MIB as i64);
        assert_eq!(budget.0.metrics.refused.get(), 5);
        assert_eq!(budget.must_have_room(MemoryAccount(4)), Err(Spent));
        drop(held);
        assert_eq!(budget.0.metrics.bytes.get(), 0);
        assert!(budget.0.accounts.iter().all(|own| own.load(Ordering::Relaxed) == 0));
        assert_eq!(fill(&budget, 4).len(), 40);
    }

    #[test]
    fn a_share_may_have_a_least_size() {
        let mut charge = budget(160, 100 * MIB).charge(MemoryAccount(0));
        assert_eq!(charge.grow_to(100 * MIB), Ok(()));
        assert_eq!(charge.grow_to(MIB), Ok(()), "a charge does not shrink");
        assert_eq!(charge.grow_to(100 * MIB + 1), Err(Spent));
        assert_eq!(charge.bytes, 100 * MIB);
    }

    #[test]
    fn memory_that_is_always_granted_reduces_the_rest() {
        let budget = budget(4, 0);
        let mut overdrawn = budget.charge(MemoryAccount(0));
        overdrawn.overdraw_to(5 * MIB);
        overdrawn.overdraw_to(MIB);
        assert_eq!(budget.0.metrics.bytes.get(), 5 * MIB as i64);
        assert_eq!(budget.must_have_room(MemoryAccount(1)), Err(Spent));
        drop(overdrawn);
        assert_eq!(budget.must_have_room(MemoryAccount(0)), Ok(()));
        assert_eq!(budget.0.metrics.bytes.get(), 0);
    }

    #[test]
    fn tenants_and_addresses_have_accounts_of_their_own() {
        let (tenant, address) = (MemoryAccount::for_tenant, |text: &str| {
            MemoryAccount::for_address(text.parse().unwrap())
        });
        assert_eq!(tenant("acme"), tenant("acme"));
        assert_eq!(address("2001:db8::1"), address("2001:db8::2"), "one client");
        let different = (0..64).map(|n| tenant(&n.to_string()).0);
        assert!(different.collect::<std::collections::BTreeSet<_>>().len() > 32);
        let of_both = (0..64).map(|n| format!("192.0.2.{n}"));
        assert!(of_both.filter(|text| tenant(text) == address(text)).count() < 32);
    }
}
