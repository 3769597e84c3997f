//! Compiles policies on threads of their own, so that no tenant's patterns delay the requests of others.

use portcullis_engine::Plan;
use std::collections::HashSet;

use parking_lot::Mutex;
use uuid::Uuid;

use crate::error::OperationError;
use crate::turns::{TurnLimits, Turns};

/// Most policies over their budget that are remembered as logged. Only databases of version 0.1 have such policies.
const MOST_LOGGED: usize = 10_000;

/// The compilations that run and wait. A tenant compiles one policy at a time, and tenants take turns.
#[derive(Debug)]
pub struct Compilations(Turns);

impl Compilations {
    pub(crate) fn for_cores(cores: usize) -> Self {
        Self(Turns::new(TurnLimits::of_compilations(cores)))
    }

    /// Reads and compiles a policy of `tenant` by `work`, on a thread that no request uses. It waits for its turn. The
    /// turn lasts until the work is done, even if the caller goes away.
    ///
    /// # Errors
    /// Too many policies of the tenant wait, or the process stops.
    pub async fn policy<T: Send + 'static>(
        &self,
        tenant: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let Some(turn) = self.0.begin(tenant).await else {
            let what = "too many policies of this tenant are being compiled, and nothing was written; try again later";
            return Err(OperationError::NotNow(what.to_owned()));
        };
        let job = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        match job.await {
            Ok(done) => Ok(done),
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(OperationError::Unavailable("the service", "shutting down".into())),
            },
        }
    }

    /// Returns the number of tenants whose policies are compiled or wait.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The policies over their budget that the log has named.
#[derive(Debug, Default)]
pub(crate) struct OverBudgetLog(Mutex<HashSet<Uuid>>);

impl OverBudgetLog {
    /// Writes a line for each policy of `plan` that is over its budget, once for each policy.
    pub(crate) fn report(&self, tenant: &str, plan: &Plan) {
        for policy in plan.policies_over_budget() {
            if self.is_first(policy) {
                tracing::warn!(
                    tenant,
                    %policy,
                    "patterns of the policy are too large, and their tests are undetermined; write smaller ones"
                );
            }
        }
    }

    fn is_first(&self, policy: Uuid) -> bool {
        let mut logged = self.0.lock();
        logged.len() < MOST_LOGGED && logged.insert(policy)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_tenant_compiles_one_policy_and_others_go_before_its_second() {
        let compilations = Compilations::for_cores(1);
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
        assert_eq!(compilations.len(), 0);
    }

    #[test]
    fn a_policy_is_logged_once() {
        let log = OverBudgetLog::default();
        let id = Uuid::from_u128;
        assert!(log.is_first(id(1)));
        assert!(!log.is_first(id(1)));
        for number in 0..MOST_LOGGED as u128 {
            log.is_first(id(number));
        }
        assert_eq!(log.0.lock().len(), MOST_LOGGED);
    }
}
