//! Turns that are fair between tenants: a tenant has one at a time, and all tenants together have a few.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of all tenants.
#[derive(Debug)]
pub(crate) struct Turns {
    all: Arc<Semaphore>,
    /// One permit for each tenant that has a turn or waits for one.
    own: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The turn of a tenant. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct TenantTurn {
    _all: Option<OwnedSemaphorePermit>,
    _own: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Returns turns of which at most `most` are taken at a time.
    pub(crate) fn of(most: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(most)), own: Mutex::default() }
    }

    /// Waits for the turn of `tenant`: first behind its own turns, and then behind one of each other tenant.
    pub(crate) async fn take(&self, tenant: &str) -> TenantTurn {
        let own = self.own(tenant).acquire_owned().await;
        let all = Arc::clone(&self.all).acquire_owned().await;
        // Nobody closes the semaphores.
        TenantTurn { _all: all.ok(), _own: own.ok() }
    }

    fn own(&self, tenant: &str) -> Arc<Semaphore> {
        let mut own = self.own.lock();
        if let Some(found) = own.get(tenant) {
            return Arc::clone(found);
        }
        own.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        Arc::clone(own.entry(tenant.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_tenant_with_many_turns_leaves_one_to_each_other_tenant() {
        let turns = Turns::of(2);
        let first = turns.take("acme").await;
        let mut second = Box::pin(turns.take("acme"));
        let mut third = Box::pin(turns.take("acme"));
        assert!((&mut second).now_or_never().is_none() && (&mut third).now_or_never().is_none());
        let other = turns.take("bolt").now_or_never().expect("a turn is free");
        let mut last = Box::pin(turns.take("cord"));
        assert!((&mut last).now_or_never().is_none(), "all turns are taken");
        drop(first);
        // `cord` asked before the second turn of `acme` was in the line of all tenants.
        assert!((&mut second).now_or_never().is_none());
        let last = (&mut last).now_or_never().expect("it is the next in line");
        drop((other, last));
        assert!((&mut second).now_or_never().is_some());
    }

    #[tokio::test]
    async fn only_tenants_that_wait_or_have_a_turn_take_memory() {
        let turns = Turns::of(2);
        for number in 0..1_000 {
            drop(turns.take(&format!("tenant-{number}")).await);
        }
        let turn = turns.take("acme").await;
        assert_eq!(turns.own.lock().len(), 1);
        drop(turn);
    }
}
