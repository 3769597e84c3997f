//! The requests of one class that wait for places, in one queue for each tenant. The queues take turns, so that a tenant
//! with many waiting requests delays its own alone.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::rate::Moment;

/// A request that waits for a place of type `P`.
#[derive(Debug)]
pub(crate) struct Waiter<P> {
    pub(crate) since: Moment,
    pub(crate) place: oneshot::Sender<P>,
}

/// The waiting requests of one class, and the places that tenants have when many are taken.
#[derive(Debug)]
pub(crate) struct WaitingRequests<P> {
    tenants: HashMap<Arc<str>, TenantRequests<P>>,
    /// The tenants with waiting requests, in the order of their turns.
    turns: VecDeque<Arc<str>>,
    /// The counted places of all tenants.
    counted: usize,
}

#[derive(Debug)]
struct TenantRequests<P> {
    /// The counted places of the tenant.
    running: usize,
    waiters: VecDeque<Waiter<P>>,
}

impl<P> Default for TenantRequests<P> {
    fn default() -> Self {
        Self { running: 0, waiters: VecDeque::new() }
    }
}

impl<P> Default for WaitingRequests<P> {
    fn default() -> Self {
        Self { tenants: HashMap::new(), turns: VecDeque::new(), counted: 0 }
    }
}

impl<P> WaitingRequests<P> {
    /// Returns the number of waiting requests of `tenant`, and the instant since which the oldest waits.
    pub(crate) fn waiting(&self, tenant: &str) -> (usize, Option<Moment>) {
        let Some(requests) = self.tenants.get(tenant) else { return (0, None) };
        (requests.waiters.len(), requests.waiters.front().map(|waiter| waiter.since))
    }

    /// Returns the number of counted places of `tenant`.
    pub(crate) fn running(&self, tenant: &str) -> usize {
        self.tenants.get(tenant).map_or(0, |requests| requests.running)
    }

    /// Returns the number of counted places of all tenants.
    pub(crate) fn counted(&self) -> usize {
        self.counted
    }

    /// Counts a place of `tenant`.
    pub(crate) fn begin(&mut self, tenant: &Arc<str>) {
        self.of(tenant).running += 1;
        self.counted += 1;
    }

    /// Counts one place less of `tenant`.
    pub(crate) fn end(&mut self, tenant: &str) {
        if let Some(requests) = self.tenants.get_mut(tenant) {
            requests.running = requests.running.saturating_sub(1);
            self.counted = self.counted.saturating_sub(1);
        }
        self.forget_if_idle(tenant);
    }

    /// Adds a waiting request of `tenant`.
    pub(crate) fn push(&mut self, tenant: &Arc<str>, waiter: Waiter<P>) {
        let requests = self.of(tenant);
        requests.waiters.push_back(waiter);
        if requests.waiters.len() == 1 {
            self.turns.push_back(Arc::clone(tenant));
        }
    }

    /// Drops waiting requests whose sender is gone, and returns their number.
    pub(crate) fn drop_gone(&mut self) -> usize {
        let mut dropped = 0;
        for requests in self.tenants.values_mut() {
            let before = requests.waiters.len();
            requests.waiters.retain(|waiter| !waiter.place.is_closed());
            dropped += before - requests.waiters.len();
        }
        let tenants = &self.tenants;
        self.turns.retain(|tenant| {
            tenants.get(tenant).is_some_and(|requests| !requests.waiters.is_empty())
        });
        self.tenants.retain(|_, requests| requests.running > 0 || !requests.waiters.is_empty());
        dropped
    }

    /// Takes the next waiting request whose tenant has less than `share` counted places. The tenants take turns.
    pub(crate) fn next(&mut self, share: usize) -> Option<(Arc<str>, Waiter<P>)> {
        for _ in 0..self.turns.len() {
            let tenant = self.turns.pop_front()?;
            let requests = self.tenants.get_mut(&tenant)?;
            if requests.running >= share {
                self.turns.push_back(tenant);
                continue;
            }
            let waiter = requests.waiters.pop_front()?;
            if !requests.waiters.is_empty() {
                self.turns.push_back(Arc::clone(&tenant));
            }
            return Some((tenant, waiter));
        }
        None
    }

    /// Forgets `tenant` if it has neither counted places nor waiting requests.
    pub(crate) fn forget_if_idle(&mut self, tenant: &str) {
        let is_idle =
            |requests: &TenantRequests<P>| requests.running == 0 && requests.waiters.is_empty();
        if self.tenants.get(tenant).is_some_and(is_idle) {
            self.tenants.remove(tenant);
        }
    }

    /// Returns whether no tenant is counted.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.tenants.is_empty() && self.turns.is_empty()
    }

    fn of(&mut self, tenant: &Arc<str>) -> &mut TenantRequests<P> {
        self.tenants.entry(Arc::clone(tenant)).or_default()
    }
}
