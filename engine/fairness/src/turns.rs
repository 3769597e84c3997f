//! Turns that are fair between tenants.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::lines::TenantLines;

/// The limits of a [`TurnQueue`].
#[derive(Clone, Copy, Debug)]
pub struct TurnLimits {
    /// The most turns at the same time.
    pub at_once: usize,
    /// The most turns of one tenant at the same time.
    pub per_tenant: usize,
    /// While fewer turns are taken, a tenant gets more than `per_tenant`, and more than `at_once` run. Whoever has less than its
    /// part does not wait for such turns to end. With 0 there are none.
    pub lent_below: usize,
    /// The most requests of one tenant that have a turn or wait for one.
    pub pending_per_tenant: usize,
    /// The most requests of all tenants that wait.
    pub waiting: usize,
    /// The longest wait; `None` if whoever waits limits it.
    pub wait: Option<Duration>,
}

/// The reason why a request gets no turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefusal {
    #[error("too many requests of the tenant have a turn or wait for one")]
    TenantFull,
    #[error("too many requests wait for a turn")]
    Full,
    #[error("the wait for a turn takes too long")]
    Late,
}

/// Turns of requests, of which a limited number runs at the same time. The next turn goes to the tenant that has the fewest,
/// and among those to the one that waits for longest. Turns that nobody else waits for may be lent. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TurnQueue(Arc<SharedTurns>);

#[derive(Debug)]
struct SharedTurns {
    limits: TurnLimits,
    /// A request is told when its turn begins.
    lines: Mutex<Lines>,
}

/// The requests, and how many turns their tenants have beyond `per_tenant`.
#[derive(Debug, Default)]
struct Lines {
    requests: TenantLines<oneshot::Sender<()>>,
    lent: usize,
}

/// A turn of a tenant. It ends when it is dropped.
#[derive(Debug)]
pub struct Turn {
    queue: TurnQueue,
    tenant: Arc<str>,
    /// The ticket with which the request waits or waited, or 0.
    ticket: u64,
}

impl TurnLimits {
    /// No limits.
    pub const NONE: Self = Self {
        at_once: usize::MAX,
        per_tenant: usize::MAX,
        lent_below: 0,
        pending_per_tenant: usize::MAX,
        waiting: usize::MAX,
        wait: None,
    };
}

impl TurnQueue {
    pub fn new(limits: TurnLimits) -> Self {
        Self(Arc::new(SharedTurns { limits, lines: Mutex::default() }))
    }

    /// Waits for a turn of `tenant`.
    ///
    /// # Errors
    /// Too many requests wait, or the wait takes too long.
    pub async fn begin(&self, tenant: &str) -> Result<Turn, TurnRefusal> {
        // The lock ends with this block, before the wait.
        let (turn, begun) = {
            let mut lines = self.0.lines.lock();
            self.0.must_have_room(&lines, tenant)?;
            self.enter(&mut lines, tenant)
        };
        match self.0.limits.wait {
            // A request that is late drops its turn, and so leaves its line.
            Some(wait) => timeout(wait, begun).await.map_err(|_| TurnRefusal::Late)?,
            None => begun.await,
        }
        Ok(turn)
    }

    /// Waits for a turn of `tenant`, however long that takes and however many requests wait. For work whose amount the
    /// service itself limits.
    pub async fn begin_patiently(&self, tenant: &str) -> Turn {
        let (turn, begun) = self.enter(&mut self.0.lines.lock(), tenant);
        begun.await;
        turn
    }

    /// Returns the number of tenants with requests that have a turn or wait for one.
    pub fn tenants(&self) -> usize {
        self.0.lines.lock().requests.tenants()
    }

    /// Returns the number of turns that are taken.
    pub fn taken(&self) -> usize {
        self.0.lines.lock().requests.running()
    }

    /// Adds a request of `tenant`. Returns its turn, and what ends when the turn begins.
    fn enter(&self, lines: &mut Lines, tenant: &str) -> (Turn, impl Future<Output = ()> + use<>) {
        let tenant = Arc::from(tenant);
        let (mut ticket, mut begins) = (0, None);
        if self.0.may_begin(lines, &tenant) {
            self.0.take(lines, &tenant);
        } else {
            let (begun, receiver) = oneshot::channel();
            (ticket, begins) = (lines.requests.push(&tenant, begun), Some(receiver));
        }
        let begun = async {
            if let Some(begins) = begins {
                // The queue keeps the sender until then.
                let _ = begins.await;
            }
        };
        (Turn { queue: self.clone(), tenant, ticket }, begun)
    }
}

impl SharedTurns {
    /// Returns whether a turn of `tenant` may begin now. Then no other request may: it would have begun before.
    fn may_begin(&self, lines: &Lines, tenant: &str) -> bool {
        let has_part = lines.requests.counts(tenant).running < self.limits.per_tenant;
        has_part && self.has_own(lines) || self.may_lend(lines)
    }

    /// Returns whether a tenant may have a turn of its part.
    fn has_own(&self, lines: &Lines) -> bool {
        // Each lent turn runs, so the difference is never below 0.
        lines.requests.running() - lines.lent < self.limits.at_once
    }

    fn may_lend(&self, lines: &Lines) -> bool {
        lines.requests.running() < self.limits.lent_below
    }

    fn must_have_room(&self, lines: &Lines, tenant: &str) -> Result<(), TurnRefusal> {
        let counts = lines.requests.counts(tenant);
        if counts.running + counts.waiting >= self.limits.pending_per_tenant {
            return Err(TurnRefusal::TenantFull);
        }
        let is_full = lines.requests.waiting() >= self.limits.waiting;
        // A request that begins at once does not wait, so that a full queue does not refuse it.
        match is_full && !self.may_begin(lines, tenant) {
            true => Err(TurnRefusal::Full),
            false => Ok(()),
        }
    }

    /// Begins the turns that may begin.
    fn serve(&self, lines: &mut Lines) {
        while let Some((tenant, begun)) = self.next(lines) {
            self.take(lines, &tenant);
            // Whoever gave up in this moment drops the turn.
            let _ = begun.send(());
        }
    }

    fn next(&self, lines: &mut Lines) -> Option<(Arc<str>, oneshot::Sender<()>)> {
        let part = if self.has_own(lines) { self.limits.per_tenant } else { 0 };
        let most = if self.may_lend(lines) { usize::MAX } else { part };
        lines.requests.next(most)
    }

    fn take(&self, lines: &mut Lines, tenant: &Arc<str>) {
        let is_lent = lines.requests.counts(tenant).running >= self.limits.per_tenant;
        lines.lent += usize::from(is_lent);
        lines.requests.begin(tenant);
    }

    fn give_back(&self, lines: &mut Lines, tenant: &Arc<str>) {
        // Counted before the turn ends: the last one beyond the part is the lent one.
        let is_lent = lines.requests.counts(tenant).running > self.limits.per_tenant;
        lines.lent -= usize::from(is_lent);
        lines.requests.end(tenant);
    }
}

impl Turn {
    /// Returns the tenant whose turn it is.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }
}

impl Drop for Turn {
    /// Ends the turn, or the wait for it.
    fn drop(&mut self) {
        let shared = &self.queue.0;
        let mut lines = shared.lines.lock();
        // A ticket that is in no line was served: the request has its turn.
        if self.ticket == 0 || lines.requests.remove(&self.tenant, self.ticket).is_none() {
            shared.give_back(&mut lines, &self.tenant);
        }
        shared.serve(&mut lines);
    }
}

#[cfg(test)]
mod tests;
