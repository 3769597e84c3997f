//! Compiles policies and plans on threads of their own, so that no tenant's patterns delay the checks of others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread::available_parallelism;

use parking_lot::Mutex;
use portcullis_engine::Plan;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::error::OperationError;

/// Most policies of one tenant that wait to be compiled or are being compiled. Each takes at most 80 ms and a body of
/// at most 1 MiB.
const MOST_POLICIES: usize = 16;
/// Most policies over their budget that are remembered as logged. Only databases of version 0.1 have such policies.
const MOST_LOGGED: usize = 10_000;

/// The compilations that run and wait. A tenant compiles one thing at a time, and tenants take turns.
#[derive(Clone, Debug)]
pub struct Compilations {
    all: Arc<Semaphore>,
    by_tenant: Arc<Mutex<HashMap<String, TurnsOfTenant>>>,
    logged: Arc<Mutex<HashSet<Uuid>>>,
}

/// The turns of one tenant, one at a time.
#[derive(Debug)]
struct TurnsOfTenant {
    turns: Arc<Semaphore>,
    /// The number of those who compile or wait for it.
    users: usize,
}

impl Default for Compilations {
    /// Leaves half of the cores to everything else.
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self::at_a_time((cores / 2).max(1))
    }
}

impl Compilations {
    fn at_a_time(most: usize) -> Self {
        Self {
            all: Arc::new(Semaphore::new(most)),
            by_tenant: Arc::default(),
            logged: Arc::default(),
        }
    }

    /// Reads and compiles a policy of `tenant` by `work`. It waits for its turn.
    ///
    /// # Errors
    /// Too many policies of the tenant wait.
    pub async fn policy<T: Send + 'static>(
        &self,
        tenant: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let own = self.own(tenant);
        if own.users > MOST_POLICIES {
            let what = "too many policies of this tenant are being compiled, and nothing was written; try again later";
            return Err(OperationError::NotNow(what.to_owned()));
        }
        Ok(self.run(own, work).await)
    }

    /// Compiles a plan of `tenant` by `work`. It waits for its turn. Logs once for each policy that is over its budget.
    pub async fn plan(&self, tenant: &str, work: impl FnOnce() -> Plan + Send + 'static) -> Plan {
        let plan = self.run(self.own(tenant), work).await;
        for policy in plan.policies_over_budget() {
            if self.is_first(*policy) {
                tracing::warn!(
                    tenant,
                    %policy,
                    "patterns of the policy are too large, and their tests are undetermined; write smaller ones"
                );
            }
        }
        plan
    }

    /// Runs `work` on a thread that no request uses. The turn lasts until the work is done, even if the caller goes
    /// away.
    async fn run<T: Send + 'static>(
        &self,
        own: OwnTurns,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let turn = Turn {
            _of_tenant: Arc::clone(&own.turns).acquire_owned().await.ok(),
            _of_all: Arc::clone(&self.all).acquire_owned().await.ok(),
            _own: own,
        };
        let job = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        match job.await {
            Ok(done) => done,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime stops: whoever waits is dropped, too.
                Err(_) => std::future::pending().await,
            },
        }
    }

    fn own(&self, tenant: &str) -> OwnTurns {
        let mut by_tenant = self.by_tenant.lock();
        let own = by_tenant
            .entry(tenant.to_owned())
            .or_insert_with(|| TurnsOfTenant { turns: Arc::new(Semaphore::new(1)), users: 0 });
        own.users += 1;
        let (turns, users) = (Arc::clone(&own.turns), own.users);
        OwnTurns { compilations: self.clone(), tenant: tenant.to_owned(), turns, users }
    }

    fn is_first(&self, policy: Uuid) -> bool {
        let mut logged = self.logged.lock();
        logged.len() < MOST_LOGGED && logged.insert(policy)
    }
}

/// The right to compile. It ends when it is dropped.
struct Turn {
    _of_tenant: Option<OwnedSemaphorePermit>,
    _of_all: Option<OwnedSemaphorePermit>,
    _own: OwnTurns,
}

/// A user of the turns of one tenant. The last one removes them.
struct OwnTurns {
    compilations: Compilations,
    tenant: String,
    turns: Arc<Semaphore>,
    /// The number of users when this one came, itself included.
    users: usize,
}

impl Drop for OwnTurns {
    fn drop(&mut self) {
        let mut by_tenant = self.compilations.by_tenant.lock();
        match by_tenant.get_mut(&self.tenant) {
            Some(own) if own.users > 1 => own.users -= 1,
            _ => drop(by_tenant.remove(&self.tenant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_tenant_compiles_one_thing_and_others_go_before_its_second() {
        let compilations = Compilations::at_a_time(1);
        let (begun, mut order) = mpsc::unbounded_channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let work = |tenant: &'static str| {
            let begun = begun.clone();
            move || begun.send(tenant).expect("the test waits")
        };
        let first = {
            let begin = work("acme");
            move || {
                begin();
                released.recv().expect("the test releases it");
            }
        };
        // They are polled in this order.
        let (first, second, other, ()) = tokio::join!(
            compilations.policy("acme", first),
            compilations.policy("acme", work("acme")),
            compilations.policy("bolt", work("bolt")),
            async {
                assert_eq!(order.recv().await, Some("acme"));
                release.send(()).expect("the first waits");
            }
        );
        assert!([first, second, other].iter().all(Result::is_ok));
        assert_eq!(order.recv().await, Some("bolt"));
        assert_eq!(order.recv().await, Some("acme"));
        assert!(compilations.by_tenant.lock().is_empty());
    }

    #[tokio::test]
    async fn a_tenant_whose_policies_pile_up_is_refused() {
        let compilations = Compilations::at_a_time(1);
        let waiting: Vec<_> = (0..MOST_POLICIES).map(|_| compilations.own("acme")).collect();
        let refused = compilations.policy("acme", || ()).await;
        assert!(matches!(refused, Err(OperationError::NotNow(_))));
        assert!(compilations.policy("bolt", || ()).await.is_ok());
        drop(waiting);
        assert!(compilations.policy("acme", || ()).await.is_ok());
    }

    #[test]
    fn a_policy_is_logged_once() {
        let compilations = Compilations::default();
        let id = Uuid::from_u128;
        assert!(compilations.is_first(id(1)));
        assert!(!compilations.is_first(id(1)));
        for number in 0..MOST_LOGGED as u128 {
            compilations.is_first(id(number));
        }
        assert_eq!(compilations.logged.lock().len(), MOST_LOGGED);
    }
}
