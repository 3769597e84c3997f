//! Two logs that share a database: each reads what the other one has not sealed.

use std::time::Duration;

use portcullis_storage::testing::TestDatabase;
use portcullis_storage::{Notice, Store};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::at_rest::{Place, of_subject, record, texts};
use super::*;
use crate::DecisionOrder;

/// Passes the notices of the database on to the log, as the service does.
fn listen(tasks: &mut JoinSet<()>, store: &Store, log: &DecisionLog) {
    let (store, log) = (store.clone(), log.clone());
    tasks.spawn(async move {
        let mut notices = store.notices(log.number()).await.expect("listens").expect("PostgreSQL");
        loop {
            match notices.next().await.expect("a notice") {
                Some(Notice::Question(question)) => log.answer(&question).await,
                Some(Notice::Answer(question, replica)) => log.hear(question, replica),
                _ => {}
            }
        }
    });
}

#[tokio::test]
async fn what_is_too_much_for_an_answer_comes_to_rest() {
    let Some(database) = TestDatabase::postgres() else { return };
    let place = Place::of(&database).await;
    let (here, there) = (place.log_in("here", u64::MAX), place.log_in("there", u64::MAX));
    let mut tasks = JoinSet::new();
    for log in [&here, &there] {
        listen(&mut tasks, place.store(), log);
    }
    let (all, ids) = (DecisionSelection::default(), Numbered::default());
    record(&there, &ids, "acme", 20).await;
    let found = async || texts(&here, &all, DecisionOrder::NewestFirst).await.len();
    // The other log may not listen yet, or be slow.
    let heard = async || {
        let heard = async {
            loop {
                match found().await {
                    0 => tokio::task::yield_now().await,
                    records => return records,
                }
            }
        };
        timeout(Duration::from_secs(30), heard).await.expect("the other log answers")
    };
    assert_eq!((heard().await, place.files().len()), (20, 0), "they were sent");
    record(&there, &ids, "bolt", 5).await;
    record(&there, &ids, "acme", 12_000).await;
    assert_eq!(heard().await, 12_020);
    assert!(!place.files().is_empty(), "more than 4 MiB are not sent");
    assert_eq!(
        texts(&here, &of_subject("user \"3\""), DecisionOrder::OldestFirst).await.len(),
        1_202
    );
}
