//! Files that are written anew, or go, while somebody reads.

use std::ops::ControlFlow;
use std::path::Path;

use portcullis_storage::decision_files;
use portcullis_storage::testing::{TestDatabase, execute, on_every_database};
use tokio::runtime::Handle;

use super::at_rest::{Place, erase, record};
use super::*;
use crate::{DecisionOrder, DecisionSpan, QueryError, RawRecord, Verification};

on_every_database!(
    a_visit_goes_on_with_the_file_that_took_the_place_of_another,
    a_visit_goes_on_without_a_file_that_is_gone,
    a_file_that_is_lost_is_an_error,
    verification_beside_the_service_finds_no_fault,
);

/// The records of each file, of ten subjects.
const EACH: usize = 30;
const FILES: usize = 3;

/// Returns a log with sealed files.
async fn written(place: &Place) -> DecisionLog {
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    // The clock of the log stands at noon: records are from before.
    ids.1.store(-10_000, Ordering::Relaxed);
    for _ in 0..FILES {
        record(&log, &ids, "acme", EACH).await;
        log.seal().await.expect("sealed");
    }
    log
}

/// Visits all records, and does `change` at the first one. Returns their ids.
async fn visit(
    log: &DecisionLog,
    order: DecisionOrder,
    change: impl AsyncFn() + Send + 'static,
) -> Result<Vec<Uuid>, QueryError> {
    let (all, span) =
        (DecisionSelection::default(), DecisionSpan { order, ..DecisionSpan::default() });
    let add = move |ids: &mut Vec<Uuid>, record: RawRecord<'_>| {
        if ids.is_empty() {
            Handle::current().block_on(change());
        }
        ids.push(record.id);
        ControlFlow::Continue(())
    };
    Ok(log.visit("acme", &all, span, ReadLimit::none(), Vec::new(), add).await?.into)
}

fn remove(files: &[impl AsRef<Path>]) {
    files.iter().for_each(|file| std::fs::remove_file(file).expect("removes"));
}

async fn a_visit_goes_on_with_the_file_that_took_the_place_of_another(database: TestDatabase) {
    for (order, subject) in [(DecisionOrder::NewestFirst, 3), (DecisionOrder::OldestFirst, 4)] {
        let place = Place::of(&database).await;
        let log = written(&place).await;
        let before = visit(&log, order, async || ()).await.expect("reads");
        let (inside, files) = (log.clone(), place.files());
        let erase = async move || {
            let erased = erase(&inside, &format!("user \"{subject}\"")).await;
            assert_eq!(erased, (FILES * EACH / 10) as u64);
            remove(&files);
        };
        let found = visit(&log, order, erase).await.expect("reads");
        // The first file was read before.
        let is_erased = |place: usize| {
            place >= EACH
                && place % 10 == {
                    match order {
                        DecisionOrder::NewestFirst => 9 - subject,
                        DecisionOrder::OldestFirst => subject,
                    }
                }
        };
        let kept = before.iter().enumerate().filter(|(place, _)| !is_erased(*place));
        assert_eq!(found, kept.map(|(_, id)| *id).collect::<Vec<_>>(), "in order, each once");
        execute(place.store(), ["DELETE FROM decision_parts".to_owned()]).await;
    }
}

async fn a_visit_goes_on_without_a_file_that_is_gone(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, store, files) = (written(&place).await, place.store().clone(), place.files());
    let expire = async move || {
        execute(&store, ["DELETE FROM decision_parts".to_owned()]).await;
        remove(&files);
    };
    let found = visit(&log, DecisionOrder::NewestFirst, expire).await.expect("reads");
    assert_eq!(found.len(), EACH, "the first file was read before");
}

async fn a_file_that_is_lost_is_an_error(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, files) = (written(&place).await, place.files());
    let found = visit(&log, DecisionOrder::NewestFirst, async move || remove(&files)).await;
    assert!(matches!(found, Err(QueryError::Read(_))), "{found:?}");
}

async fn verification_beside_the_service_finds_no_fault(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, archive, files) = (written(&place).await, place.archive(), place.files());
    let chain = async |tx: &mut _| archive.verify_chain(tx).await;
    let (mut found, present) = place.store().read_all(chain).await.expect("reads");
    assert_eq!(present.len(), FILES);
    // Two are written anew and one expires before they are read.
    let path = present[0].path.clone().expect("has one");
    execute(place.store(), [format!("DELETE FROM decision_parts WHERE path = '{path}'")]).await;
    archive.sweep(Timestamp::from_millis(NOON)).await.expect("works");
    erase(&log, "user \"3\"").await;
    remove(&files);
    for row in &present {
        archive.verify_file(row, &mut found).await.expect("reads");
    }
    assert_eq!(found, Verification { rows: FILES as u64, ..Verification::default() });
    let mut tx = place.store().begin_read_all().await.expect("begins");
    let last = decision_files::last(&mut tx).await.expect("reads").expect("some");
    tx.end().await.expect("ends");
    let last = last.path.expect("has one");
    assert_eq!(archive.verify().await.expect("reads").findings, []);
    let file = place.files().into_iter().find(|file| file.ends_with(&last)).expect("is there");
    remove(&[file]);
    let findings = archive.verify().await.expect("reads").findings;
    assert_eq!(findings, [crate::RecordFault::Missing(last)]);
}
