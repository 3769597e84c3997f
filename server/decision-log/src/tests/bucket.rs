//! Sealed records in a bucket of a real S3 server.

use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_test_s3::S3Server;
use tempfile::TempDir;

use super::at_rest::{Place, erase, of_subject, record, texts};
use super::*;
use crate::{BucketPlace, DecisionOrder, Lost, RecordFault, RecordPlace};

on_every_database!(
    a_bucket_keeps_finds_erases_and_verifies,
    a_bucket_that_is_down_loses_nothing_that_was_acknowledged,
);

async fn place_in(server: &S3Server, database: &TestDatabase) -> Place {
    let bucket = BucketPlace {
        bucket: "records".to_owned(),
        prefix: "of/tests".to_owned(),
        variables: server.variables().into(),
    };
    let folder = TempDir::new().expect("a folder");
    let files = server.objects().join("of/tests");
    Place::at(database, folder, RecordPlace::Bucket(bucket), files).await
}

async fn a_bucket_keeps_finds_erases_and_verifies(database: TestDatabase) {
    let server = S3Server::start();
    let place = place_in(&server, &database).await;
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    // The clock of the log stands at noon: records are from before.
    ids.1.store(-10_000, Ordering::Relaxed);
    record(&log, &ids, "acme", 50).await;
    let (all, person) = (DecisionSelection::default(), of_subject("user \"3\""));
    let before = texts(&log, &all, DecisionOrder::NewestFirst).await;
    log.seal().await.expect("sealed");
    assert_eq!((place.files().len(), place.buffered()), (1, 1), "an object, and a file that grows");
    assert_eq!(texts(&log, &all, DecisionOrder::NewestFirst).await, before);
    assert_eq!(texts(&log, &person, DecisionOrder::OldestFirst).await.len(), 5);
    assert_eq!(erase(&log, "user \"3\"").await, 5);
    assert!(texts(&log, &person, DecisionOrder::NewestFirst).await.is_empty());
    let verified = place.archive().verify().await.expect("reads");
    assert_eq!((verified.erased.len(), verified.records, verified.findings), (1, 45, vec![]));
    let later = Timestamp::from_millis(NOON + 61_000);
    place.archive().sweep(later).await.expect("works");
    assert_eq!(place.files().len(), 1, "the object from before the erasure is gone");
    std::fs::remove_file(place.files().remove(0)).expect("removes");
    let findings = place.archive().verify().await.expect("reads").findings;
    assert!(matches!(*findings, [RecordFault::Missing(_)]), "{findings:?}");
}

async fn a_bucket_that_is_down_loses_nothing_that_was_acknowledged(database: TestDatabase) {
    let mut server = S3Server::start();
    let place = place_in(&server, &database).await;
    let (log, ids) = (place.log_of(64 * 1024), Numbered::default());
    server.go_down();
    let json = attributes();
    let mut acknowledged = 0;
    let lost = loop {
        let pending = log.append_durably(&denial(ids.next(), "dana", sent(&json)), None);
        match pending.expect("is taken").written().await {
            Ok(()) => acknowledged += 1,
            Err(lost) => break lost,
        }
    };
    assert_eq!(lost, Lost::DiskFull, "the write-ahead file has its bound");
    assert!(log.seal().await.is_err(), "the bucket is down");
    assert_eq!(all(&log).await.len(), acknowledged);
    server.come_back();
    log.seal().await.expect("sealed");
    assert_eq!(place.buffered(), 1, "only the file that grows is left");
    assert_eq!(all(&log).await.len(), acknowledged);
    record(&log, &ids, "acme", 1).await;
    assert_eq!(all(&log).await.len(), acknowledged + 1, "there is room again");
}
