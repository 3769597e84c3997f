//! The limit: which denials are dropped, and what is reported of them.

use super::*;

on_every_database!(
    the_oldest_denials_beyond_the_limit_are_dropped_and_reported,
    without_a_limit_nothing_is_dropped,
    a_transaction_that_is_rolled_back_drops_nothing,
    other_events_are_not_behind_denials,
    a_dropped_delivery_passes_on_what_it_should_report,
    an_attempt_of_a_dropped_delivery_is_forgotten,
    a_settled_denial_frees_its_place_and_a_redelivered_one_takes_one,
    an_event_stays_until_no_webhook_waits_for_it,
    webhooks_get_their_deliveries_in_batches,
    settled_denials_over_the_limit_are_dropped_oldest_first,
    what_an_earlier_version_kept_goes_in_bounded_steps,
);

async fn the_oldest_denials_beyond_the_limit_are_dropped_and_reported(database: TestDatabase) {
    let store = opened(&database, 3, 1).await;
    assert_eq!(deny(&store, 0..3).await, 0);
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((3, 0), [3, 0, 0]));
    assert_eq!(deny(&store, 3..5).await, 2);
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((3, 2), [3, 0, 0]));
    // Another process counts on.
    store.close().await;
    let limits = StoreLimits { waiting_denials: 3, ..StoreLimits::default() };
    let store = database.open().await.with_limits(limits);
    assert_eq!(deny(&store, 5..6).await, 1);
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (job, subject, dropped) = next(&mut tx, &queue).await;
    assert_eq!((&*subject, dropped), ("3", Some(3)));
    tx.commit().await.expect("commits");
    // Each attempt sends the same bytes.
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (again, _, dropped) = next(&mut tx, &queue).await;
    assert_eq!((again.body(), dropped), (job.body(), Some(3)));
    tx.end().await.expect("ends");
    delivered(&store, &queue, &job, 100).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (_, subject, dropped) = next(&mut tx, &queue).await;
    assert_eq!((&*subject, dropped), ("4", None), "each dropped denial is reported once");
}

async fn without_a_limit_nothing_is_dropped(database: TestDatabase) {
    let store = opened(&database, u32::MAX, 1).await;
    assert_eq!(deny(&store, 0..50).await, 0);
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((50, 0), [50, 0, 0]));
}

async fn a_transaction_that_is_rolled_back_drops_nothing(database: TestDatabase) {
    let store = opened(&database, 3, 1).await;
    deny(&store, 0..3).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    (3..6).for_each(|subject| tx.record(denial(subject)));
    crate::delivery::events::write(&mut tx).await.expect("works");
    assert_eq!(tx.writes.dropped_denials, 3);
    tx.end().await.expect("ends");
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((3, 0), [3, 0, 0]));
}

async fn other_events_are_not_behind_denials(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..500).await;
    let held = claim(&store, true, T0).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    tx.record(Event::test(id(1), Timestamp::from_millis(T0)));
    tx.commit().await.expect("commits");
    let other = claim(&store, false, T0).await;
    assert_eq!((held.webhook, other.webhook), (id(1), id(1)));
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let job = jobs::next_firsts(&mut tx, other.id(), 1).await.expect("works").remove(0);
    assert_eq!(job.event_type, "webhook.test");
    let queue = QueueId { webhook: id(1), denials: true };
    let job = jobs::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
    assert_eq!(job.event_type, "access.denied");
}

async fn a_dropped_delivery_passes_on_what_it_should_report(database: TestDatabase) {
    let store = opened(&database, 2, 1).await;
    deny(&store, 0..5).await;
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    assert_eq!(next(&mut tx, &queue).await.2, Some(3));
    tx.commit().await.expect("commits");
    // Nobody made the attempt, and now the delivery goes, too.
    deny(&store, 5..6).await;
    assert_eq!(counted(&store, 1).await, (2, 4));
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (_, subject, dropped) = next(&mut tx, &queue).await;
    assert_eq!((&*subject, dropped), ("4", Some(4)));
}

async fn an_attempt_of_a_dropped_delivery_is_forgotten(database: TestDatabase) {
    let store = opened(&database, 1, 1).await;
    deny(&store, 0..1).await;
    let queue = claim(&store, true, T0).await;
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let job = jobs::next_firsts(&mut tx, queue.id(), 1).await.expect("works").remove(0);
    tx.end().await.expect("ends");
    deny(&store, 1..2).await;
    delivered(&store, &queue, &job, 100).await;
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((1, 1), [1, 0, 0]));
}

async fn a_settled_denial_frees_its_place_and_a_redelivered_one_takes_one(database: TestDatabase) {
    let store = opened(&database, 2, 1).await;
    deny(&store, 0..2).await;
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (job, ..) = next(&mut tx, &queue).await;
    tx.end().await.expect("ends");
    // The answer to the first commit may be lost, so the same attempt comes twice.
    delivered(&store, &queue, &job, 100).await;
    delivered(&store, &queue, &job, 100).await;
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((1, 0), [1, 0, 1]));
    assert_eq!(deny(&store, 2..3).await, 0, "there is room");
    let redeliver = async || {
        let mut tx = store.write(TENANT, T0).await.expect("begins");
        let now = Timestamp::from_millis(T0);
        let event = deliveries::redeliver(&mut tx, id(1), job.delivery, now).await;
        tx.commit().await.expect("commits");
        event.expect("works")
    };
    assert_eq!(redeliver().await, Some(job.event));
    assert_eq!(counted(&store, 1).await, (3, 0));
    redeliver().await;
    assert_eq!(counted(&store, 1).await, (3, 0), "it waits already");
    assert_eq!(deny(&store, 3..4).await, 2);
    assert_eq!(counted(&store, 1).await, (2, 2));
    assert_eq!(redeliver().await, None, "it was the oldest");
    // The attempts of what was dropped go with it.
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let page = Page { after: Uuid::nil(), limit: 10 };
    let attempts = attempts::list(&mut tx, id(1), page).await.expect("works");
    assert!(attempts.records.is_empty());
}

async fn an_event_stays_until_no_webhook_waits_for_it(database: TestDatabase) {
    let store = opened(&database, 2, 2).await;
    deny(&store, 0..2).await;
    // The first attempts of both webhooks fail, so that their deliveries of one event get rows.
    let mut queue = claim(&store, true, T0).await;
    for webhook in [1, 2] {
        queue.webhook = id(webhook);
        let mut tx = store.begin_read(TENANT).await.expect("begins");
        let (job, ..) = next(&mut tx, &queue).await;
        tx.end().await.expect("ends");
        let record = failed_attempt(&job, webhook);
        recorded(&store, &queue, &[(&job, &record)], T0).await;
    }
    const EVENTS: &str = "SELECT count(*) FROM webhook_events";
    let events = async || {
        let mut tx = store.begin_read(TENANT).await.expect("begins");
        fetch_optional!(tx, (i64,), EVENTS).expect("works").expect("a row").0
    };
    assert_eq!((stored(&store).await, events().await), ([2, 2, 0], 1));
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let gone = drop_oldest(&mut tx, id(1), 1).await.expect("works");
    delivery_rows::delete_unsent(&mut tx, &gone).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!((stored(&store).await, events().await), ([2, 1, 0], 1), "the other one waits");
    assert_eq!(deny(&store, 2..4).await, 3, "one of the first webhook, two of the other");
    assert_eq!((stored(&store).await, events().await), ([4, 0, 0], 0));
}

async fn webhooks_get_their_deliveries_in_batches(database: TestDatabase) {
    let store = opened(&database, 1_000, 37).await;
    deny(&store, 0..3).await;
    assert_eq!(stored(&store).await, [3 * 37, 0, 0]);
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    for webhook in 1..=37 {
        let queue = QueueId { webhook: id(webhook), denials: true };
        let job = jobs::next_firsts(&mut tx, queue, 1).await.expect("works").remove(0);
        assert_eq!(job.event_type, "access.denied", "{webhook}");
    }
}

async fn settled_denials_over_the_limit_are_dropped_oldest_first(database: TestDatabase) {
    let store = opened(&database, 5, 1).await;
    let (mut queue, mut newest) = (None, Vec::new());
    for first in (0..5 + u32::try_from(SETTLED_SLACK).expect("small")).step_by(5) {
        deny(&store, first..first + 5).await;
        if queue.is_none() {
            queue = Some(claim(&store, true, T0).await);
        }
        let queue = queue.as_ref().expect("claimed");
        let mut tx = store.write_as(TENANT).await.expect("begins");
        let jobs = jobs::next_firsts(&mut tx, queue.id(), 5).await.expect("works");
        let records: Vec<_> = jobs.iter().map(|job| attempt(job, job.event.as_u128())).collect();
        let made: Vec<_> = jobs.iter().zip(&records).collect();
        let now = Timestamp::from_millis(T0 + i64::from(first));
        deliveries::record_attempts(&mut tx, queue, &made, now).await.expect("works");
        tx.commit().await.expect("commits");
        newest = jobs.iter().map(|job| job.event).collect();
    }
    assert_eq!(stored(&store).await, [0, 0, 5]);
    let mut kept: Vec<_> =
        listed(&store, Page::FIRST).await.iter().map(|one| one.event_id).collect();
    kept.reverse();
    assert_eq!(kept, newest);
}

async fn what_an_earlier_version_kept_goes_in_bounded_steps(database: TestDatabase) {
    const SETTLE: &str = "UPDATE webhook_deliveries SET due_at = NULL, settled_at = numbered.n \
        FROM (SELECT id, row_number() OVER (ORDER BY event_id) AS n FROM webhook_deliveries) numbered \
        WHERE numbered.id = webhook_deliveries.id";
    const LANE: &str = "UPDATE webhook_lanes SET settled = $1 WHERE denials";
    const COUNT: &str = "SELECT settled FROM webhook_lanes WHERE denials";
    let (kept, total) = (5, MAX_DELETED + 600);
    let store = opened(&database, u32::MAX, 1).await;
    deny(&store, 0..u32::try_from(total).expect("small")).await;
    as_earlier(&store).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    execute!(tx, SETTLE).expect("works");
    execute!(tx, LANE, total).expect("works");
    tx.commit().await.expect("commits");
    let limits = StoreLimits { waiting_denials: kept, ..StoreLimits::default() };
    let store = store.with_limits(limits);
    // Each settlement counts one more, though none of these settles a delivery.
    for (rest, counted) in [(600, 600), (5, 5), (5, 6)] {
        let mut tx = store.write_as(TENANT).await.expect("begins");
        settled(&mut tx, id(1), 1).await.expect("works");
        let count = fetch_optional!(tx, (i64,), COUNT).expect("works").expect("a queue");
        tx.commit().await.expect("commits");
        assert_eq!((stored(&store).await, count), ([0, rest, 0], (counted,)));
    }
}
