//! The turns of plan loads: how many run at once, and in which order.

use std::sync::Arc;
use std::time::Duration;

use portcullis_plan_cache::{KeyUse, PerKey};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits on the loads of plans.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadLimits {
    /// The most loads at the same time.
    pub(super) at_once: usize,
    /// The most loads of one tenant at the same time.
    pub(super) of_tenant: usize,
    /// The most loads of one tenant that run or wait.
    pub(super) waiting_of_tenant: usize,
    /// The longest wait for a turn.
    pub(super) wait: Duration,
}

impl LoadLimits {
    /// Returns the limits for a machine of so many cores. A load is work of the processor: one tenant gets at most half
    /// of the cores, so that the checks of others find a free one, and at most half of the turns. All loads take at most
    /// half of the connections to PostgreSQL, which are 16. A load takes milliseconds, so that a thousand of one tenant
    /// wait for seconds; a client that has waited for 5 s tries again.
    pub(super) fn for_cores(cores: usize) -> Self {
        Self {
            at_once: (2 * cores).clamp(4, 8),
            of_tenant: (cores / 2).clamp(1, 4),
            waiting_of_tenant: 1_024,
            wait: Duration::from_secs(5),
        }
    }
}

/// The turns of loads. A load takes a turn of its tenant first and then one of all: so at most a few loads of each
/// tenant stand in the queue of all, which serves them in order, and a load waits for a few loads of each other tenant at
/// most.
#[derive(Debug)]
pub(super) struct LoadTurns {
    limits: LoadLimits,
    all: Arc<Semaphore>,
    tenants: PerKey<Box<str>, Semaphore>,
}

/// The permission to load a plan, until it is dropped.
#[derive(Debug)]
pub(super) struct LoadTurn {
    _of_all: OwnedSemaphorePermit,
    _of_tenant: OwnedSemaphorePermit,
    _tenant: KeyUse<Box<str>, Semaphore>,
}

impl LoadTurns {
    pub(super) fn new(limits: LoadLimits) -> Self {
        let all = Arc::new(Semaphore::new(limits.at_once));
        Self { limits, all, tenants: PerKey::default() }
    }

    /// Waits for a turn of `tenant`. Returns `None` if too many loads of the tenant wait, or if the wait takes too long.
    pub(super) async fn begin(&self, tenant: &str) -> Option<LoadTurn> {
        let LoadLimits { of_tenant, waiting_of_tenant, wait, .. } = self.limits;
        let own = || Semaphore::new(of_tenant);
        let tenant = self.tenants.enter_within(tenant.into(), waiting_of_tenant, own)?;
        let turns = async {
            let of_tenant = tenant.value().acquire_owned().await;
            let of_all = Arc::clone(&self.all).acquire_owned().await;
            of_tenant.ok().zip(of_all.ok())
        };
        let (of_tenant, of_all) = tokio::time::timeout(wait, turns).await.ok().flatten()?;
        Some(LoadTurn { _of_all: of_all, _of_tenant: of_tenant, _tenant: tenant })
    }

    /// Returns the number of tenants with loads that run or wait.
    pub(super) fn len(&self) -> usize {
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
    const LIMITS: LoadLimits = LoadLimits {
        at_once: 4,
        of_tenant: 1,
        waiting_of_tenant: 200,
        wait: Duration::from_secs(5),
    };

    async fn load(turns: &LoadTurns, tenant: &str) -> bool {
        let turn = turns.begin(tenant).await;
        tokio::time::sleep(LOAD).await;
        turn.is_some()
    }

    /// Begins so many loads of a noisy tenant, and returns once they wait.
    async fn begin_many(turns: &Arc<LoadTurns>, count: usize) {
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
    async fn wait_of_another(limits: LoadLimits) -> Duration {
        let turns = Arc::new(LoadTurns::new(limits));
        begin_many(&turns, 100).await;
        let began = Instant::now();
        assert!(turns.begin("quiet").await.is_some());
        began.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_does_not_wait_for_those_of_another_tenant() {
        assert_eq!(wait_of_another(LIMITS).await, Duration::ZERO);
        let full = LoadLimits { at_once: 1, ..LIMITS };
        assert_eq!(wait_of_another(full).await, LOAD, "one at most");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_share_it_waits_for_all_of_them() {
        let all = LoadLimits { of_tenant: 100, ..LIMITS };
        assert!(wait_of_another(all).await >= 24 * LOAD, "the control must wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_that_waits_too_long_or_behind_too_many_gives_up() {
        let turns = Arc::new(LoadTurns::new(LIMITS));
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
        let turns = LoadTurns::new(LIMITS);
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
            let limits = LoadLimits::for_cores(cores);
            assert_eq!((limits.at_once, limits.of_tenant), (at_once, of_tenant), "{cores}");
        }
    }
}
