//! The admission of modules that requests bring. A module can take longer to compile than a request may last.
//! Therefore the admission continues when its caller gives up, and the result is kept for the same tenant, which can
//! bring the same module again.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use portcullis_fairness::run_apart;
use portcullis_resolver_host::{Digest, LoadError, Module};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::failure::is_transient;
use crate::registry::Registry;
use crate::single_flight::{Flight, SingleFlight};

/// The time for which the result of an admission is kept for a tenant that does not ask again.
const KEPT: Duration = Duration::from_secs(600);

/// The number of kept results. Each holds a compiled module.
const MAX_KEPT: usize = 64;

/// The result of an admission.
pub type Admitted = Result<Arc<Module>, Arc<LoadError>>;

/// The admissions under way, and for each tenant the last one whose result no caller fetched.
#[derive(Debug, Default)]
pub(crate) struct Admissions(SingleFlight<Key, Admitted>);

/// A tenant and the digest of the module that it brings.
type Key = (String, Digest);

impl Admissions {
    /// Admits a module for `tenant`. The admission continues when the future is dropped.
    pub(crate) async fn admit(
        &self,
        registry: &Arc<Registry>,
        tenant: &str,
        bytes: Bytes,
    ) -> Admitted {
        let hashed = bytes.clone();
        // A large module takes milliseconds to hash.
        let digest = run_apart(move || Digest(Sha256::digest(&hashed).into()));
        let digest = digest.await.map_err(|_| Arc::new(LoadError::Host))?;
        let (registry, owner) = (Arc::clone(registry), tenant.to_owned());
        let work = async move { registry.runtime.admit(&owner, bytes).await.map_err(Arc::new) };
        self.join((tenant.to_owned(), digest), work).await
    }

    /// Returns the number of admissions in memory: those under way, and the kept results.
    pub(crate) fn entries(&self) -> usize {
        self.0.len()
    }

    /// Returns the result of the admission of `key`. If none is under way or kept, it begins with `work`.
    async fn join(
        &self,
        key: Key,
        work: impl Future<Output = Admitted> + Send + 'static,
    ) -> Admitted {
        let now = Instant::now();
        // A `Cell`, because `begin` takes an `Fn`.
        let others = Cell::new(0);
        let admission = self.0.begin(
            key.clone(),
            |_| work,
            |other, admission| {
                if !is_settled(admission) || admission.begun() + KEPT <= now {
                    return false;
                }
                if other.0 == key.0 {
                    // One result for each tenant: the new admission replaces it.
                    return *other == key;
                }
                others.set(others.get() + 1);
                others.get() < MAX_KEPT
            },
        );
        let admitted = admission.finished().await.unwrap_or_else(|| Err(Arc::new(LoadError::Host)));
        // A caller that waited to the end does not ask again.
        self.0.forget(&key);
        admitted
    }
}

/// Whether another attempt would have the same result.
fn is_settled(admission: &Flight<Admitted>) -> bool {
    match admission.value() {
        Some(Ok(_)) => true,
        Some(Err(error)) => !is_transient(error),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_secs(25);

    fn key(tenant: &str) -> Key {
        (tenant.to_owned(), Digest([7; 32]))
    }

    fn faulty(why: &str) -> Admitted {
        Err(Arc::new(LoadError::Compile(why.to_owned())))
    }

    fn why(admitted: Admitted) -> String {
        admitted.expect_err("it is faulty").to_string()
    }

    async fn unasked() -> Admitted {
        panic!("the one before it is still there")
    }

    /// The admission of `key("acme")`, for which nobody waits any more; the sender ends it.
    async fn abandoned(admissions: &Admissions) -> oneshot::Sender<Admitted> {
        let (end, ended) = oneshot::channel();
        let work = async { ended.await.expect("an end") };
        assert!(timeout(SOON, admissions.join(key("acme"), work)).await.is_err());
        end
    }

    #[tokio::test(start_paused = true)]
    async fn a_repeated_admission_joins_the_running_one() {
        let admissions = Admissions::default();
        let end = abandoned(&admissions).await;
        assert!(timeout(SOON, admissions.join(key("acme"), unasked())).await.is_err());
        let other = admissions.join(key("bolt"), async { faulty("another") });
        assert!(why(other.await).contains("another"));
        end.send(faulty("the first")).expect("it goes on");
        assert!(why(admissions.join(key("acme"), unasked()).await).contains("the first"));
        let anew = admissions.join(key("acme"), async { faulty("the second") });
        assert!(why(anew.await).contains("the second"), "it has been fetched");
    }

    #[tokio::test(start_paused = true)]
    async fn the_outcome_of_an_admission_is_kept_for_a_while() {
        let admissions = Admissions::default();
        abandoned(&admissions).await.send(faulty("the first")).expect("it goes on");
        tokio::time::sleep(SOON).await;
        assert!(why(admissions.join(key("acme"), unasked()).await).contains("the first"));

        abandoned(&admissions).await.send(faulty("the second")).expect("it goes on");
        tokio::time::sleep(KEPT).await;
        let anew = admissions.join(key("acme"), async { faulty("the third") });
        assert!(why(anew.await).contains("the third"));

        abandoned(&admissions).await.send(faulty("the fourth")).expect("it goes on");
        tokio::time::sleep(SOON).await;
        let _ = admissions.join(("acme".to_owned(), Digest([8; 32])), async { faulty("") }).await;
        assert!(admissions.0.len() == 0, "one of each tenant is kept");
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_results_are_kept() {
        let admissions = Admissions::default();
        for number in 0..2 * MAX_KEPT {
            let key = (format!("tenant-{number}"), Digest([7; 32]));
            let (end, ended) = oneshot::channel();
            let work = async { ended.await.expect("an end") };
            assert!(timeout(SOON, admissions.join(key, work)).await.is_err());
            end.send(faulty("unasked")).expect("it goes on");
            tokio::task::yield_now().await;
        }
        // The last one is not settled for those that came before it.
        assert!(admissions.0.len() <= MAX_KEPT + 1, "{}", admissions.0.len());
    }

    #[tokio::test(start_paused = true)]
    async fn the_condition_of_the_host_is_not_kept() {
        let admissions = Admissions::default();
        let slow = Err(Arc::new(LoadError::Slow(SOON)));
        abandoned(&admissions).await.send(slow).expect("it goes on");
        tokio::time::sleep(SOON).await;
        let anew = admissions.join(key("acme"), async { faulty("the second") });
        assert!(why(anew.await).contains("the second"));
    }

    #[tokio::test]
    async fn a_panic_is_the_hosts_own_fault() {
        let admissions = Admissions::default();
        let error = admissions.join(key("acme"), async { panic!("a fault") }).await;
        assert!(matches!(*error.expect_err("it failed"), LoadError::Host));
        assert!(admissions.0.len() == 0);
    }
}
