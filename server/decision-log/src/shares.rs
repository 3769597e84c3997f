//! The shares of tenants in a bounded room. A tenant may take as much as is still free, so that there is room for every other
//! one: one alone gets half, two a third each.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// Accounts of a room. Tenants with the same account share its part, which is rare, and nobody can choose an account.
const ACCOUNTS: usize = 4_096;

/// Makes accounts. Its keys are random.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The account of a tenant in every room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Account(usize);

impl Account {
    pub(crate) fn of(tenant: &str) -> Self {
        // The remainder is less than `ACCOUNTS`.
        Self((HASHER.hash_one(tenant) % ACCOUNTS as u64) as usize)
    }
}

/// The bytes of a room that are taken, in all and by each account.
#[derive(Debug)]
pub(crate) struct Shares {
    most: u64,
    taken: u64,
    accounts: Box<[u64]>,
}

impl Shares {
    /// Returns an empty room of `most` bytes.
    pub(crate) fn new(most: u64) -> Self {
        Self { most, taken: 0, accounts: vec![0; ACCOUNTS].into() }
    }

    /// Takes bytes for an account. Returns whether there is room for them; if not, nothing is taken.
    pub(crate) fn take(&mut self, account: Account, bytes: u64) -> bool {
        let own = self.accounts.get(account.0).copied().unwrap_or_default();
        let has_room = own.saturating_add(bytes) <= self.most.saturating_sub(self.taken);
        if has_room {
            self.add(account, bytes);
        }
        has_room
    }

    /// Counts bytes that are there, whether there is room for them or not.
    pub(crate) fn add(&mut self, account: Account, bytes: u64) {
        self.taken = self.taken.saturating_add(bytes);
        if let Some(own) = self.accounts.get_mut(account.0) {
            *own = own.saturating_add(bytes);
        }
    }

    /// Gives bytes back that were taken.
    pub(crate) fn give_back(&mut self, account: Account, bytes: u64) {
        self.taken = self.taken.saturating_sub(bytes);
        if let Some(own) = self.accounts.get_mut(account.0) {
            *own = own.saturating_sub(bytes);
        }
    }

    /// Gives everything back.
    pub(crate) fn clear(&mut self) {
        self.taken = 0;
        self.accounts.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_takes_no_more_than_it_leaves() {
        let (one, other, third) = (Account(1), Account(2), Account(3));
        let mut room = Shares::new(100);
        let fill = |room: &mut Shares, account| (0..200).filter(|_| room.take(account, 1)).count();
        assert_eq!(fill(&mut room, one), 50);
        assert_eq!(fill(&mut room, other), 25);
        assert_eq!(fill(&mut room, third), 13);
        assert!(!room.take(one, 1) && room.take(Account(4), 12));
        room.give_back(one, 50);
        assert_eq!(fill(&mut room, one), 25, "others have 50");
        room.clear();
        assert_eq!(fill(&mut room, one), 50);
    }
}
