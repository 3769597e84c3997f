//! Modules that requests bring. A request has less time than a module may take to be compiled. So the admission of a
//! module goes on when nobody waits for it any more, and what came of it is there for whoever of the same tenant brings
//! the same module again.

use std::collections::HashMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use portcullis_resolver_host::{CallError, Digest, LoadError, Module};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::service::ResolverService;

/// How long what came of an admission is kept for a tenant that has not come again.
const KEPT: Duration = Duration::from_secs(600);

/// What came of an admission.
pub type Admitted = Result<Arc<Module>, Arc<LoadError>>;

/// The admissions under way, and the last of each tenant for which nobody waited to the end.
#[derive(Default)]
pub struct Admissions(Mutex<HashMap<Key, Admission>>);

/// A tenant and the module that it brings.
type Key = (String, Digest);

struct Admission {
    begun: Instant,
    done: Shared<BoxFuture<'static, Admitted>>,
}

impl ResolverService {
    /// Admits a module. Goes on with it when the future is dropped.
    pub async fn admit_module(&self, tenant: &str, bytes: Bytes) -> Admitted {
        let hashed = bytes.clone();
        let hash = move || Digest(Sha256::digest(&hashed).into());
        let digest = tokio::task::spawn_blocking(hash).await;
        let digest = digest.map_err(|_| Arc::new(LoadError::Host))?;
        let (service, owner) = (self.clone(), tenant.to_owned());
        let work =
            async move { service.parts().registry.admit(&owner, bytes).await.map_err(Arc::new) };
        self.parts().admissions.join((tenant.to_owned(), digest), work).await
    }
}

impl Admissions {
    /// What comes of the admission of `key`, which is `work` if there is none yet.
    async fn join(
        &self,
        key: Key,
        work: impl Future<Output = Admitted> + Send + 'static,
    ) -> Admitted {
        let done = self.begin(&key, work);
        let admitted = done.await;
        // Whoever waited to the end needs it no more.
        self.lock().retain(|other, admission| *other != key || admission.is_under_way());
        admitted
    }

    fn begin(
        &self,
        key: &Key,
        work: impl Future<Output = Admitted> + Send + 'static,
    ) -> Shared<BoxFuture<'static, Admitted>> {
        let now = Instant::now();
        let mut admissions = self.lock();
        admissions.retain(|other, admission| {
            admission.is_under_way()
                || admission.is_settled()
                    && admission.begun + KEPT > now
                    && (other == key || other.0 != key.0)
        });
        let begin = || {
            let work = AssertUnwindSafe(work).catch_unwind();
            let done = work.map(|done| done.unwrap_or_else(|_| Err(Arc::new(LoadError::Host))));
            let done = done.boxed().shared();
            // Whoever asks may go away.
            tokio::spawn(done.clone());
            Admission { begun: now, done }
        };
        admissions.entry(key.clone()).or_insert_with(begin).done.clone()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Admission>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    fn is_under_way(&self) -> bool {
        self.done.peek().is_none()
    }

    /// Whether another attempt would come out the same.
    fn is_settled(&self) -> bool {
        let admitted = self.done.peek();
        admitted.is_some_and(|admitted| admitted.as_ref().err().is_none_or(|error| !is_ours(error)))
    }
}

/// Whether it is the host's condition that a module was not admitted, and says nothing of the module.
pub fn is_ours(error: &LoadError) -> bool {
    use CallError::{Busy, Host};
    matches!(error, LoadError::Host | LoadError::Slow(_) | LoadError::Describe(Busy(_) | Host))
}

impl fmt::Debug for Admissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Admissions").field(&self.lock().len()).finish()
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
    async fn whoever_comes_again_joins_what_is_under_way() {
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
    async fn what_came_of_it_is_kept_for_a_while() {
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
        assert!(admissions.lock().is_empty(), "one of each tenant is kept");
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
        assert!(admissions.lock().is_empty());
    }
}
