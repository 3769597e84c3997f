//! Queues that wake: when a queue of segments is due.

use super::*;

on_every_database!(
    a_queue_that_an_earlier_version_released_wakes,
    a_released_queue_of_segments_is_due,
);

async fn due_at(store: &Store) -> Option<i64> {
    const SQL: &str = "SELECT due_at FROM webhook_lanes WHERE denials";
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    fetch_optional!(tx, (Option<i64>,), SQL).expect("works").expect("a queue").0
}

async fn a_queue_that_an_earlier_version_released_wakes(database: TestDatabase) {
    const RELEASE: &str = "UPDATE webhook_lanes SET due_at = NULL";
    const SUSPEND: &str = "UPDATE tenants SET suspended_at = $1";
    let store = opened(&database, 6, 1).await;
    for (denied, suspended_at, expected) in
        [(false, None, None), (true, Some(1), None), (true, None, Some(0_i64))]
    {
        if denied {
            deny(&store, 0..1).await;
        }
        let mut tx = store.write_all().await.expect("begins");
        execute!(tx, RELEASE).expect("works");
        execute!(tx, SUSPEND, suspended_at).expect("works");
        wake_forgotten(&mut tx).await.expect("works");
        execute!(tx, SUSPEND, None::<i64>).expect("works");
        tx.commit().await.expect("commits");
        assert_eq!(due_at(&store).await, expected, "{denied} {suspended_at:?}");
    }
}

async fn a_released_queue_of_segments_is_due(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    deny(&store, 0..2).await;
    let queue = claim(&store, true, T0).await;
    for expected in [Some(0), None] {
        let mut tx = store.write_as(TENANT).await.expect("begins");
        let now = Timestamp::from_millis(T0);
        let jobs = jobs::next_firsts(&mut tx, queue.id(), 1).await.expect("works");
        let made = (&jobs[0], &attempt(&jobs[0], 1));
        deliveries::record_attempts(&mut tx, &queue, &[made], now).await.expect("works");
        delivery_queues::release(&mut tx, &queue, false, now).await.expect("works");
        tx.commit().await.expect("commits");
        assert_eq!(due_at(&store).await, expected);
    }
    deny(&store, 2..3).await;
    let mut tx = store.write_all().await.expect("begins");
    delivery_queues::pause(&mut tx, TENANT).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!(due_at(&store).await, None);
    let mut tx = store.write_all().await.expect("begins");
    delivery_queues::resume(&mut tx, TENANT).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!(due_at(&store).await, Some(0));
}
