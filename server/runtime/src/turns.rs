//! The turns of work that costs much CPU time: how much of it runs at once, and in which order.

use std::sync::Arc;
use std::time::Duration;

use portcullis_plan_cache::{KeyUse, PerKey};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of one kind of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnLimits {
    /// The most pieces of work at the same time.
    pub(crate) at_once: usize,
    /// The most pieces of work of one tenant at the same time.
    pub(crate) of_tenant: usize,
    /// The most pieces of work of one tenant that run or wait.
    pub(crate) waiting_of_tenant: usize,
    /// The longest wait for a turn.
    pub(crate) wait: Duration,
}

impl TurnLimits {
    /// Returns the limits of plan loads on a machine of so many cores. A load is work of the processor: one tenant gets at most half
    /// of the cores, so that the checks of others find a free one, and at most half of the turns. All loads take at most
    /// half of the connections to PostgreSQL, which are 16. A load takes milliseconds, so that a thousand of one tenant
    /// wait for seconds; a client that has waited for 5 s tries again.
    pub(crate) fn of_loads(cores: usize) -> Self {
        Self {
            at_once: (2 * cores).clamp(4, 8),
            of_tenant: (cores / 2).clamp(1, 4),
            waiting_of_tenant: 1_024,
            wait: Duration::from_secs(5),
        }
    }

    /// Returns the limits of the compilation of policies, which leaves half of the cores to everything else. A policy
    /// takes at most 80 ms, and a body of at most 1 MiB while it waits.
    pub(crate) fn of_compilations(cores: usize) -> Self {
        Self {
            at_once: (cores / 2).max(1),
            of_tenant: 1,
            waiting_of_tenant: 16,
            wait: Duration::from_secs(5),
        }
    }

    /// Returns the limits of large bodies, which leave half of the cores to everything else. A body of 8 MiB takes up to half
    /// a second. The memory for bodies bounds how many wait.
    pub(crate) fn of_large_bodies(cores: usize) -> Self {
        Self {
            at_once: (cores / 2).max(1),
            of_tenant: (cores / 4).max(1),
            waiting_of_tenant: 1_024,
            wait: Duration::from_secs(5),
        }
    }

    /// Returns the limits of exports, which read while their clients take them. They use at most half of the connections that
    /// read SQLite.
    pub(crate) fn of_exports() -> Self {
        Self { at_once: 2, of_tenant: 1, waiting_of_tenant: 32, wait: Duration::from_secs(20) }
    }

    /// Returns the limits of searches, which leave half of the cores to everything else. A page takes up to a second, and
    /// a body of up to 8 MiB while it waits.
    pub(crate) fn of_searches(cores: usize) -> Self {
        Self {
            at_once: (cores / 2).max(1),
            of_tenant: (cores / 4).max(1),
            waiting_of_tenant: 16,
            wait: Duration::from_secs(5),
        }
    }
}

/// The turns of one kind of work. A piece of work takes a turn of its tenant first and then one of all: so at most a few
/// pieces of each tenant stand in the queue of all, which serves them in order, and a piece waits for a few pieces of each
/// other tenant at most.
#[derive(Debug)]
pub(crate) struct Turns {
    limits: TurnLimits,
    all: Arc<Semaphore>,
    tenants: PerKey<Box<str>, Semaphore>,
}

/// The permission to do a piece of work, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
    _tenant: KeyUse<Box<str>, Semaphore>,
}

impl Turns {
    pub(crate) fn new(limits: TurnLimits) -> Self {
        let all = Arc::new(Semaphore::new(limits.at_once));
        Self { limits, all, tenants: PerKey::default() }
    }

    /// Waits for a turn of `tenant`. Returns `None` if too many pieces of work of the tenant wait, or if the wait takes too long.
    pub(crate) async fn begin(&self, tenant: &str) -> Option<Turn> {
        let TurnLimits { of_tenant, waiting_of_tenant, wait, .. } = self.limits;
        let own = || Semaphore::new(of_tenant);
        let tenant = self.tenants.enter_within(tenant.into(), waiting_of_tenant, own)?;
        let turns = async {
            let of_tenant = tenant.value().acquire_owned().await;
            let of_all = Arc::clone(&self.all).acquire_owned().await;
            of_tenant.ok().zip(of_all.ok())
        };
        let (of_tenant, of_all) = tokio::time::timeout(wait, turns).await.ok().flatten()?;
        Some(Turn { _of_all: of_all, _of_tenant: of_tenant, _tenant: tenant })
    }

    /// Returns the number of tenants with work that runs or waits.
    pub(crate) fn len(&self) -> usize {
        self.tenants.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::Instant;

    use super::*;

    /// The time that a load takes.
    const LOAD: Duration = Duration::from_millis(10);
    const LIMITS: TurnLimits = TurnLimits {
        at_once: 4,
        of_tenant: 1,
        waiting_of_tenant: 200,
        wait: Duration::from_secs(5),
    };

    async fn load(turns: &Turns, tenant: &str) -> bool {
        let turn = turns.begin(tenant).await;
        tokio::time::sleep(LOAD).await;
        turn.is_some()
    }

    /// Begins so many loads of a noisy tenant, and returns once they wait.
    async fn begin_many(turns: &Arc<Turns>, count: usize) {
        let begun = Arc::new(AtomicUsize::new(0));
        for _ in 0..count {
            let (turns, begun) = (Arc::clone(turns), Arc::clone(&begun));
            tokio::spawn(async move {
                begun.fetch_add(1, Ordering::Relaxed);
                load(&turns, "noisy").await
            });
        }
        while begun.load(Ordering::Relaxed) < count {
            tokio::task::yield_now().await;
        }
    }

    /// Returns how long a load of another tenant waits behind 100 loads of one.
    async fn wait_of_another(limits: TurnLimits) -> Duration {
        let turns = Arc::new(Turns::new(limits));
        begin_many(&turns, 100).await;
        let began = Instant::now();
        assert!(turns.begin("quiet").await.is_some());
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_does_not_wait_for_those_of_another_tenant() {
        assert_eq!(wait_of_another(LIMITS).await, Duration::ZERO);
        let full = TurnLimits { at_once: 1, ..LIMITS };
        assert_eq!(wait_of_another(full).await, LOAD, "one at most");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_share_it_waits_for_all_of_them() {
        let all = TurnLimits { of_tenant: 100, ..LIMITS };
        assert!(wait_of_another(all).await >= 24 * LOAD, "the control must wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_that_waits_too_long_or_behind_too_many_gives_up() {
        let turns = Arc::new(Turns::new(LIMITS));
        let held = turns.begin("noisy").await.expect("a turn");
        let began = Instant::now();
        assert!(turns.begin("noisy").await.is_none());
        assert_eq!(began.elapsed(), LIMITS.wait);
        begin_many(&turns, LIMITS.waiting_of_tenant - 1).await;
        let began = Instant::now();
        assert!(turns.begin("noisy").await.is_none());
        assert_eq!(began.elapsed(), Duration::ZERO, "too many wait already");
        assert!(turns.begin("quiet").await.is_some());
        drop(held);
        tokio::time::sleep(LOAD * 200).await;
        assert!(turns.begin("noisy").await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn tenants_that_callers_invent_leave_nothing_behind() {
        let turns = Turns::new(LIMITS);
        for number in 0..10_000 {
            assert!(turns.begin(&format!("tenant-{number}")).await.is_some());
        }
        assert_eq!(turns.len(), 0);
        assert_eq!(turns.all.available_permits(), LIMITS.at_once);
    }

    #[test]
    fn a_tenant_has_at_most_half_of_the_turns() {
        for (cores, at_once, of_tenant) in [(1, 4, 1), (2, 4, 1), (4, 8, 2), (8, 8, 4), (64, 8, 4)]
        {
            let limits = TurnLimits::of_loads(cores);
            assert_eq!((limits.at_once, limits.of_tenant), (at_once, of_tenant), "{cores}");
        }
    }
}
