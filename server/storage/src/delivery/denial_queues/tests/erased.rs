//! Denials of a person that is erased, wherever they are.

use super::*;
use crate::decisions::decision_erasures::{self, Taken};
use crate::decisions::denied_persons::DeniedPersons;
use crate::deletions::erased_denials;

on_every_database!(
    denials_of_a_person_go_from_every_table,
    a_worker_goes_on_when_delivered_denials_go,
    a_dropped_number_outlives_the_denial_that_should_report_it,
);

/// Erases the denials of the subjects that end in `7`, up to an instant, as of two persons: the subjects before `50`, and the
/// others. Returns what the erasures of both counted.
async fn erase_each(store: &Store, until: i64) -> [(i64, i64); 2] {
    const PERSONS: [&[u8]; 2] = [b"lower", b"upper"];
    let until = Timestamp::from_millis(until);
    let erased_at = PERSONS.map(|person| (person.to_vec(), until)).into();
    let codes_of = |subject: &str| match subject.parse::<u32>() {
        Ok(number) if number % 10 == 7 => {
            vec![Vec::new(), PERSONS[usize::from(number >= 50)].to_vec()]
        }
        _ => vec![Vec::new()],
    };
    let persons = DeniedPersons { erased_at: &erased_at, codes_of: &codes_of };
    let mut tx = store.write_as(TENANT).await.expect("begins");
    for person in PERSONS {
        decision_erasures::begin(&mut tx, person, until, i64::MAX).await.expect("works");
    }
    tx.commit().await.expect("commits");
    erased_denials::erase(store, TENANT, persons).await.expect("works");
    let mut tx = store.write_all().await.expect("begins");
    for erasure in decision_erasures::pending(&mut tx, 10).await.expect("works") {
        decision_erasures::end(&mut tx, &erasure, until).await.expect("works");
    }
    tx.commit().await.expect("commits");
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let mut taken = [(0, 0); 2];
    for (person, taken) in PERSONS.iter().zip(&mut taken) {
        let all = decision_erasures::take(&mut tx, person).await.expect("works");
        let Taken { deliveries, sent, .. } = all.expect("it ended");
        *taken = (deliveries, sent);
    }
    tx.commit().await.expect("commits");
    taken
}

/// As [`erase_each`], of both persons together.
async fn erase(store: &Store, until: i64) -> (i64, i64) {
    let [(lower, lower_sent), (upper, upper_sent)] = erase_each(store, until).await;
    (lower + upper, lower_sent + upper_sent)
}

async fn denials_of_a_person_go_from_every_table(database: TestDatabase) {
    const EVENTS: &str = "SELECT count(*) FROM webhook_events WHERE tenant_id = $1";
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..100).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 80).await;
    let records: Vec<_> = (0..70)
        .map(|index| match index {
            7 | 17 | 20 => failed_attempt(&jobs[index], index as u128),
            _ => attempt(&jobs[index], index as u128),
        })
        .collect();
    recorded(&store, &queue, &jobs.iter().zip(&records).collect::<Vec<_>>(), T0).await;
    assert_eq!(erase(&store, T0 - 1).await, (0, 0), "later ones stay");
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((33, 0), [30, 3, 67]));
    assert_eq!(erase_each(&store, T0).await, [(5, 5), (5, 2)]);
    assert_eq!((counted(&store, 1).await, stored(&store).await), ((28, 0), [27, 1, 62]));
    assert_eq!(erase(&store, T0).await, (0, 0), "nothing is left");

    // The worker that made attempts meanwhile writes nothing, because places changed.
    let mut tx = store.write_as(TENANT).await.expect("begins");
    assert!(!delivery_queues::renew(&mut tx, &queue, &terms(T0)).await.expect("works"));
    tx.end().await.expect("ends");
    let queue = claim(&store, true, T0).await;
    let next = firsts(&store, &queue, 1_000).await;
    let kept: Vec<_> = jobs[70..].iter().filter(|job| job.event != jobs[77].event).collect();
    let events = |jobs: &[&jobs::Job]| jobs.iter().map(|job| job.event).collect::<Vec<_>>();
    assert_eq!(events(&next.iter().take(9).collect::<Vec<_>>()), events(&kept));
    assert_eq!(next.len(), 27);
    let all = listed(&store, Page::FIRST).await;
    assert_eq!(all.len(), 63, "no attempt of hers is listed");
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let events = fetch_optional!(tx, (i64,), EVENTS, TENANT).expect("works");
    assert_eq!(events, Some((1,)));
}

async fn a_worker_goes_on_when_delivered_denials_go(database: TestDatabase) {
    let store = opened(&database, 1_000, 1).await;
    deny(&store, 0..10).await;
    let queue = claim(&store, true, T0).await;
    let jobs = firsts(&store, &queue, 10).await;
    let records: Vec<_> = (0..).zip(&jobs).map(|(number, job)| attempt(job, number)).collect();
    recorded(&store, &queue, &jobs.iter().zip(&records).collect::<Vec<_>>(), T0).await;
    assert_eq!((erase(&store, T0).await, stored(&store).await), ((1, 1), [0, 0, 9]));
    let mut tx = store.write_as(TENANT).await.expect("begins");
    assert!(delivery_queues::renew(&mut tx, &queue, &terms(T0)).await.expect("works"));
    tx.end().await.expect("ends");
}

async fn a_dropped_number_outlives_the_denial_that_should_report_it(database: TestDatabase) {
    let store = opened(&database, 2, 1).await;
    assert_eq!(deny(&store, 6..9).await, 1);
    let queue = claim(&store, true, T0).await;
    let mut tx = store.write_as(TENANT).await.expect("begins");
    let (_, subject, dropped) = next(&mut tx, &queue).await;
    tx.commit().await.expect("commits");
    assert_eq!((&*subject, dropped), ("7", Some(1)));
    assert_eq!(erase(&store, T0).await, (1, 0));
    assert_eq!(counted(&store, 1).await, (1, 1));
}
