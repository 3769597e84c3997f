//! Audit records of refused credentials. A caller can send thousands in a second, so that only some get a record of their
//! own, and the others are counted (`docs/semantics.md`, section 6.11).

use portcullis_model::Timestamp;
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::ids::Ids;
use portcullis_storage::{Store, StoreError, audit};
use tokio::sync::mpsc;

use crate::audit_window::AuditWindow;

/// The most refusals that wait for the database.
const QUEUE: usize = 64;
/// The actor of a refused credential: it proves nobody.
const NOBODY: &str = "-";

/// The refused credentials that get an audit record. An attack of a day has 43,200 records at most.
#[derive(Debug)]
pub struct Refusals {
    windows: [AuditWindow; 3],
    sender: mpsc::Sender<Refusal>,
    receiver: tokio::sync::Mutex<mpsc::Receiver<Refusal>>,
}

/// A refusal that gets an audit record.
#[derive(Debug)]
struct Refusal {
    origin: Origin,
    at: Timestamp,
    count: i64,
}

impl Default for Refusals {
    fn default() -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        Self { windows: Default::default(), sender, receiver: receiver.into() }
    }
}

impl Refusals {
    /// Notes that a credential was refused at `at`. `request` names its kind and the request that sent it. Never waits.
    pub fn note(&self, request: Origin, at: Timestamp) {
        let window = self.window(request.credential);
        let Some(count) = window.count(at) else { return };
        let origin = Origin { actor: NOBODY.to_owned(), ..request };
        if self.sender.try_send(Refusal { origin, at, count }).is_err() {
            // The database is slow or down.
            window.give_back(count);
        }
    }

    /// Writes the audit records for as long as the process runs. One task at a time does it.
    pub async fn write_for_ever(&self, store: &Store, ids: &Ids) {
        let mut receiver = self.receiver.lock().await;
        while let Some(refusal) = receiver.recv().await {
            self.write_or_count(store, ids, &refusal).await;
        }
    }

    /// Writes an audit record. If that fails, a later record counts its refusals.
    async fn write_or_count(&self, store: &Store, ids: &Ids, refusal: &Refusal) {
        if let Err(error) = write(store, ids, refusal).await {
            tracing::warn!(%error, "cannot write the audit record of a refused credential");
            self.window(refusal.origin.credential).give_back(refusal.count);
        }
    }

    /// Returns the window of this kind of credential.
    fn window(&self, credential: CredentialKind) -> &AuditWindow {
        let [tokens, service_keys, admin_keys] = &self.windows;
        match credential {
            CredentialKind::ServiceKey => service_keys,
            CredentialKind::AdminKey => admin_keys,
            _ => tokens,
        }
    }
}

async fn write(store: &Store, ids: &Ids, refusal: &Refusal) -> Result<(), StoreError> {
    let Refusal { origin, at, count } = refusal;
    let mut tx = store.write_all().await?;
    audit::insert_refusal(&mut tx, ids.next(*at), origin, *at, *count).await?;
    tx.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use portcullis_storage::testing::TestDatabase;

    use super::*;
    use crate::audit_window::{RECORDS_PER_WINDOW, WINDOW_MILLIS};

    fn noted(refusals: &Refusals, credential: CredentialKind, millis: i64) {
        refusals.note(Origin::new("", credential), Timestamp::from_millis(millis));
    }

    fn counts(refusals: &mut Refusals) -> Vec<i64> {
        let receiver = refusals.receiver.get_mut();
        std::iter::from_fn(|| receiver.try_recv().ok()).map(|refusal| refusal.count).collect()
    }

    #[test]
    fn a_flood_gets_few_records_and_each_refusal_is_counted() {
        let mut refusals = Refusals::default();
        for n in 0..10_000 {
            noted(&refusals, CredentialKind::AdminKey, 1_000_000 + n);
        }
        assert_eq!(counts(&mut refusals), [1; RECORDS_PER_WINDOW as usize]);
        noted(&refusals, CredentialKind::AdminKey, 1_000_000 + WINDOW_MILLIS);
        assert_eq!(counts(&mut refusals), [10_000 - i64::from(RECORDS_PER_WINDOW) + 1]);
    }

    #[test]
    fn a_flood_of_one_kind_hides_no_other_kind() {
        let mut refusals = Refusals::default();
        for _ in 0..100 {
            noted(&refusals, CredentialKind::Token, 0);
        }
        counts(&mut refusals);
        noted(&refusals, CredentialKind::AdminKey, 0);
        noted(&refusals, CredentialKind::ServiceKey, 0);
        assert_eq!(counts(&mut refusals), [1, 1]);
    }

    #[test]
    fn a_full_queue_loses_no_count() {
        let mut refusals = Refusals::default();
        for window in 0..10 {
            for _ in 0..RECORDS_PER_WINDOW {
                noted(&refusals, CredentialKind::Token, window * WINDOW_MILLIS);
            }
        }
        let queued: i64 = counts(&mut refusals).iter().sum();
        assert_eq!(queued, 64, "the queue is full, and nobody waited");
        noted(&refusals, CredentialKind::Token, 10 * WINDOW_MILLIS);
        assert_eq!(counts(&mut refusals), [100 - 64 + 1]);
    }

    #[tokio::test]
    async fn a_failed_write_loses_no_count() {
        let database = TestDatabase::sqlite().expect("a directory");
        let store = database.open().await;
        let mut refusals = Refusals::default();
        for _ in 0..5 {
            noted(&refusals, CredentialKind::ServiceKey, 0);
        }
        store.close().await;
        while let Ok(refusal) = refusals.receiver.get_mut().try_recv() {
            refusals.write_or_count(&store, &Ids::new(), &refusal).await;
        }
        noted(&refusals, CredentialKind::ServiceKey, WINDOW_MILLIS);
        noted(&refusals, CredentialKind::Token, WINDOW_MILLIS);
        assert_eq!(counts(&mut refusals), [6, 1]);
    }
}
