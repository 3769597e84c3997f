//! Turns to write: one write of a tenant at a time, and no wait for those of others.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::store::Store;
use crate::testing::TestDatabase;
use crate::tx::Tx;

/// Polls `future` once.
fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test(start_paused = true)]
async fn the_writes_of_a_tenant_wait_for_each_other_and_for_no_other_tenant() {
    let turns = WriteTurns::default();
    let first = turns.begin("acme").await.expect("free");
    let (mut second, mut third) = (pin!(turns.begin("acme")), pin!(turns.begin("acme")));
    assert!(poll(second.as_mut()).is_pending() && poll(third.as_mut()).is_pending());
    let other = turns.begin("bolt").await.expect("another tenant");
    assert_eq!(other.tenant(), "bolt");
    drop(first);
    assert!(poll(third.as_mut()).is_pending(), "the second one waits for longer");
    let Poll::Ready(Ok(second)) = poll(second.as_mut()) else { panic!("its turn") };
    drop(second);
    assert!(matches!(poll(third.as_mut()), Poll::Ready(Ok(_))));
}

#[tokio::test(start_paused = true)]
async fn too_many_writes_of_a_tenant_are_refused_and_the_map_empties() {
    let turns = WriteTurns::default();
    let running = turns.begin("acme").await.expect("free");
    let mut waiting: Vec<_> = (1..MAX_PLACES).map(|_| Box::pin(turns.begin("acme"))).collect();
    assert!(waiting.iter_mut().all(|one| poll(one.as_mut()).is_pending()));
    assert!(matches!(turns.begin("acme").await, Err(StoreError::Busy)));
    assert!(turns.begin("bolt").await.is_ok(), "another tenant");
    // The service itself waits all the same.
    let mut own = pin!(turns.begin_patiently("acme"));
    assert!(poll(own.as_mut()).is_pending());
    drop(running);
    waiting.clear();
    let Poll::Ready(Ok(own)) = poll(own.as_mut()) else { panic!("its turn") };
    drop(own);
    assert!(turns.0.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_after_five_seconds() {
    let turns = WriteTurns::default();
    let running = turns.begin("acme").await.expect("free");
    let begun = tokio::time::Instant::now();
    assert!(matches!(turns.begin("acme").await, Err(StoreError::Busy)));
    assert_eq!(begun.elapsed(), MAX_WAIT);
    drop(running);
    assert!(turns.0.lock().is_empty());
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
