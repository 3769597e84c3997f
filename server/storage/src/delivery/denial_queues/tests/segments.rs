//! Denials in rows of many: attempts, deliveries made again, pages, and what is kept of them.

use super::*;

on_every_database!(
    an_attempt_that_fails_takes_its_denial_alone_out_of_the_segment,
    an_outcome_is_recorded_once,
    a_delivered_denial_is_delivered_again,
    pages_of_attempts_have_those_of_rows_and_of_denials,
    denials_in_rows_of_an_earlier_version_come_first,
    a_batch_has_many_small_segments,
    ids_ascend_also_when_no_event_has_a_row,
    delivered_denials_are_kept_for_the_retention,
    a_webhook_goes_with_its_denials,
);

async fn an_attempt_that_fails_takes_its_denial_alone_out_of_the_segment(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    // More than one segment.
    deny(&store, 0..100).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 80).await;
    assert_eq!(jobs.len(), 80);
    let records: Vec<_> = (0..70)
        .map(|index| match index {
            3 | 66 => failed_attempt(&jobs[index], index as u128),
            _ => attempt(&jobs[index], index as u128),
        })
        .collect();
    // Several at once may end in another order.
    let made: Vec<_> = jobs.iter().zip(&records).rev().collect();
    recorded(&store, &queue, &made, T0).await;
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((32, 0), [30, 2, 68]));
    let next = firsts(&store, &queue, 1_000).await;
    let expected: Vec<_> = jobs[70..].iter().map(|job| job.event).collect();
    assert_eq!(next.iter().map(|job| job.event).take(10).collect::<Vec<_>>(), expected);
    assert_eq!(next.len(), 30);
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let retries = jobs::next_retries(&mut tx, queue.id(), &terms(RETRY), 9).await.expect("works");
    tx.end().await.expect("ends");
    let of = |jobs: &[&jobs::Job]| -> Vec<_> {
        jobs.iter().map(|job| (job.delivery, job.event, job.failures, job.body())).collect()
    };
    let expected: Vec<_> =
        of(&[&jobs[3], &jobs[66]]).into_iter().map(|(d, e, _, body)| (d, e, 1, body)).collect();
    assert_eq!(of(&retries.iter().collect::<Vec<_>>()), expected);
    // In the list each attempt stands once.
    let list = listed(&store, Page::FIRST).await;
    let mut deliveries: Vec<_> = list.iter().map(|one| one.delivery_id).collect();
    deliveries.sort_unstable();
    assert_eq!(deliveries, jobs[..70].iter().map(|job| job.delivery).collect::<Vec<_>>());
    assert_eq!(list.iter().filter(|one| one.state == DeliveryState::Retrying).count(), 2);
}

async fn an_outcome_is_recorded_once(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..10).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 5).await;
    let records = [attempt(&jobs[0], 1), failed_attempt(&jobs[1], 2)];
    let made: Vec<_> = jobs.iter().zip(&records).collect();
    // The answer to the first commit may be lost.
    for _ in 0..2 {
        recorded(&store, &queue, &made, T0).await;
        assert_eq!((counted(&store, 1).await, stored(&store).await), ((9, 0), [8, 1, 1]));
        assert_eq!(listed(&store, Page::FIRST).await.len(), 2);
    }
}

async fn a_delivered_denial_is_delivered_again(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..3).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 3).await;
    let records: Vec<_> = jobs.iter().zip(1..).map(|(job, number)| attempt(job, number)).collect();
    recorded(&store, &queue, &jobs.iter().zip(&records).collect::<Vec<_>>(), T0).await;
    let before = listed(&store, Page::FIRST).await;
    for (done, job) in jobs.iter().enumerate() {
        let mut tx = store.write(TENANT, T0).await.expect("begins");
        let now = Timestamp::from_millis(T0);
        let event = deliveries::redeliver(&mut tx, id(1), job.delivery, now).await;
        assert_eq!(event.expect("works"), Some(job.event));
        tx.commit().await.expect("commits");
        let done = i64::try_from(done).expect("small");
        assert_eq!(counted(&store, 1).await, (done + 1, 0));
        assert_eq!(stored(&store).await, [0, done + 1, 2 - done]);
        assert_eq!(listed(&store, Page::FIRST).await, before, "the list stays");
    }
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    let now = Timestamp::from_millis(T0);
    let other = deliveries::redeliver(&mut tx, id(1), id(77), now).await.expect("works");
    assert_eq!(other, None);
    let again = jobs::next_retries(&mut tx, queue.id(), &terms(T0), 9).await.expect("works");
    let bytes = |jobs: &[jobs::Job]| -> Vec<_> {
        jobs.iter().map(|job| (job.delivery, job.body(), job.failures)).collect()
    };
    assert_eq!(bytes(&again), bytes(&jobs));
}

async fn pages_of_attempts_have_those_of_rows_and_of_denials(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    let (mut queue, mut number) = (None, 0);
    for batch in 0..5_usize {
        deny(&store, 0..7).await;
        if queue.is_none() {
            queue = Some(claim(&store, true, T0).await);
        }
        let queue = queue.as_ref().expect("claimed");
        let jobs = firsts(&store, queue, 7).await;
        let record = |(index, job): (usize, &jobs::Job)| {
            number += 1;
            let id = Uuid::from_u128(((T0 as u128) << 80) + number);
            match index == batch {
                true => AttemptRecord { id, ..failed_attempt(job, 0) },
                false => AttemptRecord { id, ..attempt(job, 0) },
            }
        };
        let records: Vec<_> = jobs.iter().enumerate().map(record).collect();
        recorded(&store, queue, &jobs.iter().zip(&records).collect::<Vec<_>>(), T0).await;
    }
    let all = listed(&store, Page::FIRST).await;
    assert!(all.len() == 35 && all.is_sorted_by(|a, b| a.id > b.id));
    for limit in [1, 2, 3, 10, 34, 35, 36] {
        let (mut pages, mut after) = (Vec::new(), Uuid::nil());
        loop {
            let mut tx = store.begin_read(TENANT).await.expect("begins");
            let page = Page { after, limit };
            let page = attempts::list(&mut tx, id(1), page).await.expect("works");
            assert!(page.records.len() <= usize::try_from(limit).expect("small"));
            pages.extend(page.records);
            if !page.more {
                break;
            }
            after = pages.last().expect("a record").id;
        }
        assert_eq!(pages, all, "{limit}");
    }
}

async fn denials_in_rows_of_an_earlier_version_come_first(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    deny(&store, 0..3).await;
    as_earlier(&store).await;
    deny(&store, 3..6).await;
    let queue = claim(&store, true, T0).await;
    let subjects = |jobs: Vec<jobs::Job>| -> Vec<String> {
        let body = |job: &jobs::Job| serde_json::from_slice::<serde_json::Value>(&job.body());
        let subject = |job| body(job).expect("JSON")["data"]["subject"].as_str().map(str::to_owned);
        jobs.iter().map(|job| subject(job).expect("a subject")).collect()
    };
    assert_eq!(subjects(firsts(&store, &queue, 9).await), ["0", "1", "2"]);
    assert_eq!(deny(&store, 6..8).await, 2);
    assert_eq!(subjects(firsts(&store, &queue, 9).await), ["2"]);
    assert_eq!(deny(&store, 8..10).await, 2);
    assert_eq!(subjects(firsts(&store, &queue, 9).await), ["4", "5", "6", "7", "8", "9"]);
    assert_eq!(counted(&store, 1).await, (6, 4));
}

async fn a_batch_has_many_small_segments(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    for subject in 0..12 {
        deny(&store, subject..subject + 1).await;
    }
    let queue = claim(&store, true, T0).await;
    for (limit, expected) in [(1, 1), (8, 8), (9, 9), (12, 12), (13, 12)] {
        assert_eq!(firsts(&store, &queue, limit).await.len(), expected, "{limit}");
    }
}

async fn ids_ascend_also_when_no_event_has_a_row(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    let mut last = Uuid::nil();
    for at in [T0, T0 - 60_000, T0] {
        let mut tx = store.write(TENANT, at).await.expect("begins");
        let mut event = denial(1);
        event.at = Timestamp::from_millis(at);
        tx.record(event);
        let written = crate::delivery::events::write(&mut tx).await.expect("works");
        tx.commit().await.expect("commits");
        assert!(written[0] > last, "{at}");
        last = written[0];
    }
}

async fn delivered_denials_are_kept_for_the_retention(database: TestDatabase) {
    let store = opened(&database, 6, 1).await;
    deny(&store, 0..4).await;
    let queue = claim(&store, true, T0).await;
    for now in [T0, T0 + 1] {
        let job = firsts(&store, &queue, 1).await.remove(0);
        recorded(&store, &queue, &[(&job, &attempt(&job, 1))], now).await;
    }
    for (before, kept) in [(T0, 2), (T0 + 1, 1), (T0 + 2, 0)] {
        let mut tx = store.write_all().await.expect("begins");
        let before = Timestamp::from_millis(before);
        while crate::deletions::retention::prune(&mut tx, before, 10).await.expect("works") > 0 {}
        tx.commit().await.expect("commits");
        assert_eq!(stored(&store).await, [2, 0, kept]);
    }
}

async fn a_webhook_goes_with_its_denials(database: TestDatabase) {
    let store = opened(&database, 6, 2).await;
    deny(&store, 0..4).await;
    let mut queue = claim(&store, true, T0).await;
    queue.webhook = id(1);
    let job = firsts(&store, &queue, 1).await.remove(0);
    delivered(&store, &queue, &job, 1).await;
    let mut tx = store.write(TENANT, T0).await.expect("begins");
    assert!(webhooks::delete(&mut tx, id(1)).await.expect("works"));
    tx.commit().await.expect("commits");
    assert_eq!(stored(&store).await, [4, 0, 0], "of the other webhook");
}
