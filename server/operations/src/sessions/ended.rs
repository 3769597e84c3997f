//! The deletion of sessions and links that ended.

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_storage::{Store, StoreError, session_links, sessions};

/// The pause between two deletions. A row that ended lets nobody in meanwhile.
const PAUSE: Duration = Duration::from_secs(60);
/// The most rows of one transaction, so that other writers wait a short time only.
const BATCH: i64 = 500;

/// Deletes what ended, of every tenant, again and again.
pub async fn delete_for_ever(store: Store, clock: Clock) {
    loop {
        if let Err(error) = delete(&store, clock.now().into()).await {
            tracing::warn!(%error, "cannot delete the sessions that ended");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn delete(store: &Store, now: Timestamp) -> Result<(), StoreError> {
    // A look needs no turn of a writer.
    let has_ended = store.read_all(async |tx| {
        Ok::<_, StoreError>(
            sessions::has_ended(tx, now).await? || session_links::has_expired(tx, now).await?,
        )
    });
    if !has_ended.await? {
        return Ok(());
    }
    loop {
        let mut tx = store.write_all().await?;
        let deleted = sessions::delete_ended(&mut tx, now, BATCH).await?
            + session_links::delete_expired(&mut tx, now, BATCH).await?;
        tx.commit().await?;
        if deleted == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::session::{SessionLink, SessionRecord};
    use portcullis_storage::testing::TestDatabase;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn what_ended_leaves_the_database() {
        let at = Timestamp::from_millis;
        let database = TestDatabase::sqlite().expect("a database");
        let store = database.open().await;
        let session = |id: u128, ends_at| SessionRecord {
            id: Uuid::from_u128(id),
            tenant_id: "acme".to_owned(),
            subject: "ann".to_owned(),
            provider_id: None,
            issuer: None,
            login_subject: None,
            login_session: None,
            tokens: vec![1],
            created_at: at(0),
            used_at: at(0),
            ends_at,
            token_ends_at: None,
            refreshing_until: None,
        };
        let link = |id: u128, expires_at| SessionLink {
            id: Uuid::from_u128(id),
            tenant_id: "acme".to_owned(),
            subject: "ann".to_owned(),
            roles: Vec::new(),
            created_at: at(0),
            expires_at,
        };
        let mut tx = store.write("acme", 0).await.expect("begins");
        for (id, end) in [(1, at(1_000)), (2, at(2_000))] {
            let hash = [u8::try_from(id).expect("small"); 32];
            sessions::insert(&mut tx, &session(id, end), &hash).await.expect("works");
            session_links::insert(&mut tx, &link(id, end), &hash).await.expect("works");
        }
        tx.commit().await.expect("commits");
        for (now, left) in [(999, 2), (1_000, 1), (2_000, 0)] {
            delete(&store, at(now)).await.expect("works");
            let mut tx = store.begin_read_all().await.expect("begins");
            let mut found = 0;
            for hash in [[1; 32], [2; 32]] {
                let session = sessions::find_anywhere(&mut tx, &hash).await.expect("works");
                let link = session_links::find(&mut tx, &hash, at(0)).await.expect("works");
                assert_eq!(session.is_some(), link.is_some());
                found += usize::from(session.is_some());
            }
            assert_eq!(found, left, "at {now}");
        }
    }
}
