//! Compiles policies on threads of their own, so that no tenant's patterns delay the requests of others.

use crate::error::OperationError;
use crate::turns::{TurnLimits, Turns};

/// The compilations that run and wait. A tenant compiles one policy at a time, and tenants take turns.
#[derive(Debug)]
pub struct Compilations(Turns);

impl Default for Compilations {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Turns::new(TurnLimits::of_compilations(cores)))
    }
}

impl Compilations {
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

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_tenant_compiles_one_policy_and_others_go_before_its_second() {
        let compilations = Compilations(Turns::new(TurnLimits::of_compilations(1)));
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
}
