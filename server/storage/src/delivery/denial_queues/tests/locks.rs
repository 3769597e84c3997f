//! The order of locks on PostgreSQL. SQLite has one writer at a time, and no order.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Barrier;

use super::*;
use crate::deletions::retention;

/// From now on, a statement of the transaction that waits for a lock fails.
async fn wait_for_no_lock(tx: &mut Tx) {
    execute!(tx, "SET LOCAL lock_timeout = '50ms'").expect("works");
}

/// Begins the transaction of a delivery worker, which holds `queue`.
async fn serving(store: &Store, queue: &DeliveryQueue) -> Tx {
    let mut tx = store.write_as(TENANT).await.expect("begins");
    assert!(delivery_queues::renew(&mut tx, queue, &terms(T0)).await.expect("works"));
    tx
}

#[tokio::test]
async fn a_denied_check_and_a_failed_attempt_do_not_wait_for_each_other() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = opened(&database, 100, 1).await;
    deny(&store, 0..1).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 1).await;
    let mut worker = serving(&store, &queue).await;
    let mut check = store.write(TENANT, T0).await.expect("begins");
    check.record(denial(1));
    // The worker holds the queue that the check needs, and adds an event to the tenant that the check holds.
    let record = async {
        let attempt = failed_attempt(&jobs[0], 1);
        let made = [(&jobs[0], &attempt)];
        deliveries::record_attempts(&mut worker, &queue, &made, Timestamp::from_millis(T0)).await?;
        worker.commit().await
    };
    let (recorded, committed) = tokio::join!(record, check.commit());
    recorded.expect("the attempt is recorded");
    committed.expect("the event is stored");
    assert_eq!(stored(&store).await, [1, 1, 0]);
}

#[tokio::test]
async fn an_event_that_gets_a_delivery_now_is_left_alone() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = opened(&database, 100, 2).await;
    let moved = |delivery, event| MovedDenial {
        delivery: id(delivery),
        event: id(event),
        body: b"{}".to_vec(),
    };
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let denials = vec![moved(11, 1), moved(12, 2)];
    denial_segments::insert_rows(&mut tx, id(1), denials).await.expect("works");
    tx.commit().await.expect("commits");
    let mut worker = store.write_as(TENANT).await.expect("begins");
    let added = vec![moved(22, 2)];
    denial_segments::insert_rows(&mut worker, id(2), added).await.expect("works");
    let mut tx = store.write_as(TENANT).await.expect("begins");
    wait_for_no_lock(&mut tx).await;
    deliveries::delete_of(&mut tx, id(1)).await.expect("works");
    delivery_rows::delete_unsent(&mut tx, &[id(2), id(1)]).await.expect("waits for nobody");
    tx.commit().await.expect("commits");
    worker.commit().await.expect("its event is there");
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let events = fetch_all!(tx, (Uuid,), "SELECT id FROM webhook_events").expect("works");
    assert_eq!(events, [(id(2),)]);
}

#[tokio::test]
async fn the_retention_leaves_alone_what_others_use() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = opened(&database, 100, 1).await;
    deny(&store, 0..2).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 1).await;
    recorded(&store, &queue, &[(&jobs[0], &failed_attempt(&jobs[0], 1))], T0).await;
    // The queue and each table of rows are in use, and the queue looks forgotten.
    let mut used = store.write_as(TENANT).await.expect("begins");
    execute!(used, "UPDATE webhook_lanes SET due_at = NULL").expect("works");
    for sql in [
        "SELECT id FROM webhook_attempts FOR UPDATE",
        "SELECT id FROM webhook_deliveries FOR UPDATE",
        "SELECT id FROM webhook_events FOR UPDATE",
    ] {
        assert_eq!(fetch_all!(used, (Uuid,), sql).expect("works").len(), 1, "{sql}");
    }
    let far = Timestamp::from_millis(RETRY + RETRY);
    let mut tx = store.write_all().await.expect("begins");
    wait_for_no_lock(&mut tx).await;
    assert_eq!(retention::prune(&mut tx, far, 100).await.expect("waits for nobody"), 0);
    tx.end().await.expect("ends");
    used.end().await.expect("ends");
    let mut tx = store.write_all().await.expect("begins");
    assert_eq!(retention::prune(&mut tx, far, 100).await.expect("works"), 1, "the attempt");
}

/// Locks both queues in this order; the first two transactions wait for each other in between.
async fn lock_both(
    store: &Store,
    queues: [u128; 2],
    (runs, between): (&AtomicUsize, &Barrier),
) -> Result<(), StoreError> {
    const LOCK: &str = "UPDATE webhook_lanes SET slow = TRUE WHERE webhook_id = $1";
    let mut tx = store.write_as(TENANT).await?;
    execute!(tx, LOCK, id(queues[0]))?;
    if runs.fetch_add(1, Ordering::SeqCst) < 2 {
        between.wait().await;
    }
    execute!(tx, LOCK, id(queues[1]))?;
    tx.commit().await.map(drop)
}

#[tokio::test]
async fn a_transaction_that_a_deadlock_undid_is_repeated() {
    let Some(database) = TestDatabase::postgres() else { return };
    let store = opened(&database, 100, 2).await;
    let (runs, between) = (AtomicUsize::new(0), Barrier::new(2));
    let (store, runs, between) = (&store, &runs, &between);
    let lock = |queues| store.repeated(move || lock_both(store, queues, (runs, between)));
    let (one, other) = tokio::join!(lock([1, 2]), lock([2, 1]));
    one.expect("it ends");
    other.expect("it ends");
    let conflicts = store.conflicts();
    // A repetition may be faster than the one that waits, and the two wait for each other again.
    assert!(conflicts >= 1, "they waited for each other");
    assert_eq!(u64::try_from(runs.load(Ordering::SeqCst)), Ok(2 + conflicts));
}

#[tokio::test]
async fn a_conflict_without_an_end_is_an_error() {
    const SQL: &str = "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$";
    let Some(database) = TestDatabase::postgres() else { return };
    let store = opened(&database, 100, 0).await;
    let runs = AtomicUsize::new(0);
    let conflict = || async {
        runs.fetch_add(1, Ordering::SeqCst);
        let mut tx = store.write_as(TENANT).await?;
        execute!(tx, SQL)?;
        tx.end().await
    };
    assert!(store.repeated(conflict).await.expect_err("no end").is_conflict());
    assert_eq!((store.conflicts(), runs.load(Ordering::SeqCst)), (8, 9));
    let wrong = || async {
        let mut tx = store.write_as(TENANT).await?;
        execute!(tx, "SELECT 1 / 0")?;
        tx.end().await
    };
    assert!(!store.repeated(wrong).await.expect_err("no answer").is_conflict());
    assert_eq!(store.conflicts(), 8, "only a conflict is repeated");
}
