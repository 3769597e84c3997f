//! The lines in which requests of tenants wait.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The requests of tenants: how many of each run, and those that wait, in one line for each tenant. A tenant without a
/// request takes no memory.
///
/// This is plain data, behind a lock of its user.
#[derive(Debug)]
pub struct TenantLines<W> {
    tenants: HashMap<Arc<str>, Line<W>>,
    /// The tenants with waiting requests. The first one is the next to be served.
    order: BTreeMap<Rank, Arc<str>>,
    /// The number of changes: the time by which tenants and requests are ordered.
    changes: u64,
    running: usize,
    waiting: usize,
}

/// The place of a tenant in the order: its running requests, and the change since which it waits with this number of them.
type Rank = (usize, u64);

#[derive(Debug)]
struct Line<W> {
    running: usize,
    /// The waiting requests with their tickets, which ascend.
    waiting: VecDeque<(u64, W)>,
    since: u64,
}

/// The numbers of requests of one tenant.
#[derive(Clone, Copy, Debug, Default)]
pub struct TenantCounts {
    pub running: usize,
    pub waiting: usize,
}

impl<W> Default for TenantLines<W> {
    fn default() -> Self {
        let (tenants, order) = (HashMap::new(), BTreeMap::new());
        Self { tenants, order, changes: 0, running: 0, waiting: 0 }
    }
}

impl<W> Default for Line<W> {
    fn default() -> Self {
        Self { running: 0, waiting: VecDeque::new(), since: 0 }
    }
}

impl<W> Line<W> {
    fn rank(&self) -> Rank {
        (self.running, self.since)
    }

    fn counts(&self) -> TenantCounts {
        TenantCounts { running: self.running, waiting: self.waiting.len() }
    }
}

impl<W> TenantLines<W> {
    /// Returns the number of tenants with requests that run or wait.
    pub fn tenants(&self) -> usize {
        self.tenants.len()
    }

    /// Returns the number of running requests of all tenants.
    pub fn running(&self) -> usize {
        self.running
    }

    /// Returns the number of waiting requests of all tenants.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the numbers of requests of `tenant`.
    pub fn counts(&self, tenant: &str) -> TenantCounts {
        self.tenants.get(tenant).map(Line::counts).unwrap_or_default()
    }

    /// Returns the request of `tenant` that waits for longest.
    pub fn first(&self, tenant: &str) -> Option<&W> {
        self.tenants.get(tenant)?.waiting.front().map(|(_, waiter)| waiter)
    }

    /// Counts a running request of `tenant`.
    pub fn begin(&mut self, tenant: &Arc<str>) {
        self.running += 1;
        self.change(tenant, |line, now| {
            line.running += 1;
            line.since = now;
        });
    }

    /// Counts a running request of `tenant` no more.
    pub fn end(&mut self, tenant: &Arc<str>) {
        self.running -= 1;
        self.change(tenant, |line, now| {
            line.running -= 1;
            line.since = now;
        });
    }

    /// Puts a request of `tenant` at the end of its line. Returns its ticket, which is never 0.
    pub fn push(&mut self, tenant: &Arc<str>, waiter: W) -> u64 {
        self.waiting += 1;
        self.change(tenant, |line, now| {
            if line.waiting.is_empty() {
                line.since = now;
            }
            // Changes are counted up, so that the tickets of a line ascend.
            line.waiting.push_back((now, waiter));
            now
        })
    }

    /// Takes the request with this ticket out of the line of `tenant`, if it still waits.
    pub fn remove(&mut self, tenant: &Arc<str>, ticket: u64) -> Option<W> {
        let removed = self.change(tenant, |line, _| {
            let at = line.waiting.binary_search_by_key(&ticket, |(ticket, _)| *ticket).ok()?;
            line.waiting.remove(at)
        });
        let (_, waiter) = removed?;
        self.waiting -= 1;
        Some(waiter)
    }

    /// Takes the next waiting request out of its line, if its tenant has less than `per_tenant` running ones.
    pub fn next(&mut self, per_tenant: usize) -> Option<(Arc<str>, W)> {
        let (&(running, _), tenant) = self.order.first_key_value()?;
        if running >= per_tenant {
            return None;
        }
        let tenant = Arc::clone(tenant);
        let (_, waiter) = self.change(&tenant, |line, now| {
            line.since = now;
            line.waiting.pop_front()
        })?;
        self.waiting -= 1;
        Some((tenant, waiter))
    }

    /// Changes the line of `tenant`, and keeps the order. `change` gets the number of the change.
    fn change<T>(&mut self, tenant: &Arc<str>, change: impl FnOnce(&mut Line<W>, u64) -> T) -> T {
        // Each change has a number of its own, so that no two tenants have the same rank.
        self.changes += 1;
        let line = self.tenants.entry(Arc::clone(tenant)).or_default();
        // Before the change, which may alter the rank under which the tenant is found.
        self.order.remove(&line.rank());
        let changed = change(line, self.changes);
        if !line.waiting.is_empty() {
            self.order.insert(line.rank(), Arc::clone(tenant));
        } else if line.running == 0 {
            self.tenants.remove(tenant);
        }
        changed
    }
}
