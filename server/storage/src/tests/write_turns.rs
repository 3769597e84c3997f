//! Turns to write: one write of a tenant at a time, and no wait for those of others.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::store::Store;
use crate::testing::TestDatabase;
use crate::transactions::error::StoreError;
use crate::transactions::tx::Tx;

/// Polls `future` once.
fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn too_many_writes_of_a_tenant_are_refused_and_the_service_itself_waits() {
    let Some(database) = TestDatabase::sqlite() else { return };
    let store = database.open().await;
    let mut turns: Vec<_> = (0..64).map(|_| Box::pin(store.turn("acme"))).collect();
    let mut begun = turns.iter_mut().map(|turn| poll(turn.as_mut()));
    let Some(Poll::Ready(Ok(first))) = begun.next() else { panic!("it is free") };
    assert!(begun.all(|turn| turn.is_pending()));
    assert!(matches!(store.turn("acme").await, Err(StoreError::Busy)));
    assert!(store.turn("bolt").await.is_ok(), "another tenant");
    let own = store.patient_turn("acme");
    drop((first, turns));
    drop(own.await);
    assert_eq!(store.writers(), 0);
}

/// Writes of one tenant that wait.
const MANY: usize = 40;

/// Makes [`MANY`] writes of tenant `a` wait for another one, then a write of tenant `b`. Returns the number of writes that
/// came before that of `b`.
async fn writes_before_another<F>(store: &Store, begin: impl Fn(Store, &'static str) -> F) -> usize
where
    F: Future<Output = Tx> + Send + 'static,
{
    let first = store.write("a", 0).await.expect("begins");
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut writers = Vec::new();
    for tenant in std::iter::repeat_n("a", MANY).chain(["b"]) {
        let (log, tx) = (Arc::clone(&log), begin(store.clone(), tenant));
        writers.push(tokio::spawn(async move {
            let tx = tx.await;
            log.lock().push(tenant);
            tx.end().await.expect("ends");
        }));
        // It begins to wait before the next one. Nothing else runs on this thread.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    assert!(log.lock().is_empty(), "the first write holds the write lock");
    first.end().await.expect("ends");
    for writer in writers {
        writer.await.expect("no panic");
    }
    let position = log.lock().iter().position(|tenant| *tenant == "b");
    position.expect("it ran")
}

#[tokio::test]
async fn a_write_does_not_wait_for_the_queue_of_another_tenant() {
    let Some(database) = TestDatabase::sqlite() else { return };
    let store = database.open().await;
    let begin = |store: Store, tenant| async move { store.write(tenant, 0).await.expect("begins") };
    assert_eq!(writes_before_another(&store, begin).await, 0);
}

#[tokio::test]
async fn without_turns_it_waits_for_all_of_them() {
    let Some(database) = TestDatabase::sqlite() else { return };
    let store = database.open().await;
    let begin = |store: Store, tenant| async move { store.write_as(tenant).await.expect("begins") };
    assert_eq!(writes_before_another(&store, begin).await, MANY);
}

#[tokio::test]
async fn the_writes_of_a_tenant_take_one_connection() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = database.open().await;
    let first = store.write("a", 0).await.expect("begins");
    let mut waiting: Vec<_> = (0..MANY).map(|_| Box::pin(store.write("a", 0))).collect();
    assert!(waiting.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
    // There are fewer connections than waiting writes.
    let other = store.write("b", 0).await.expect("finds a connection");
    other.end().await.expect("ends");
    drop(first);
}
