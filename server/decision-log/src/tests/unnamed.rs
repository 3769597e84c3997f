//! Files that are stored and that the manifest does not name, and processes that write the manifest at the same time.

use std::time::Duration;

use bytes::Bytes;
use portcullis_storage::decision_uploads;
use portcullis_storage::testing::{TestDatabase, on_every_database};
use tokio::time::timeout;

use super::at_rest::{Place, record};
use super::*;
use crate::at_rest::chain::{self, Event};
use crate::at_rest::uploads;
use crate::{Archive, ArchiveError};

on_every_database!(
    a_file_that_is_not_named_is_removed,
    a_file_that_is_named_stays,
    a_file_that_is_being_removed_is_not_named,
);

const PATH: &str = "tenant=acme/date=2026-05-19/file.parquet";
const MINUTE: i64 = 60_000;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(NOON + minutes * MINUTE)
}

async fn store(archive: &Archive) -> Result<(), ArchiveError> {
    uploads::store(archive, PATH, Bytes::from_static(b"records"), at(0)).await
}

async fn name(archive: &Archive) -> Result<(), ArchiveError> {
    let mut tx = archive.store().write_all().await?;
    uploads::name(&mut tx, PATH).await?;
    Ok(tx.commit().await.map(drop)?)
}

async fn a_file_that_is_not_named_is_removed(database: TestDatabase) {
    let place = Place::of(&database).await;
    let archive = place.archive();
    store(&archive).await.expect("is stored");
    archive.sweep(at(59)).await.expect("works");
    assert_eq!(place.files().len(), 1, "its process may be slow");
    archive.sweep(at(61)).await.expect("works");
    assert!(place.files().is_empty());
    assert!(matches!(name(&archive).await, Err(ArchiveError::Unnamed)), "it is too late");
    store(&archive).await.expect("is stored anew");
    name(&archive).await.expect("is named");
}

async fn a_file_that_is_named_stays(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = place.log_of(u64::MAX);
    record(&log, &Numbered::default(), "acme", 10).await;
    log.seal().await.expect("sealed");
    let path = place.files().remove(0);
    let archive = place.archive();
    // Another process stored the same file, and found that it is named.
    let mut tx = place.store().write_all().await.expect("begins");
    let rest = path.ancestors().find(|folder| folder.ends_with("rest")).expect("the folder");
    let relative = path.strip_prefix(rest).expect("is in it").to_str().expect("text");
    assert!(decision_uploads::begin(&mut tx, relative, at(0)).await.expect("is noted"));
    tx.commit().await.expect("is kept");
    archive.sweep(at(61)).await.expect("works");
    assert_eq!((place.files(), all(&log).await.len()), (vec![path], 10));
    let left = async |tx: &mut _| decision_uploads::left(tx, at(61), 10).await;
    assert!(place.store().read_all(left).await.expect("reads").is_empty());
}

async fn a_file_that_is_being_removed_is_not_named(database: TestDatabase) {
    let place = Place::of(&database).await;
    let archive = place.archive();
    store(&archive).await.expect("is stored");
    // A process that is about to delete the file is killed.
    let mut tx = place.store().write_all().await.expect("begins");
    assert!(decision_uploads::leave(&mut tx, PATH, at(1)).await.expect("is noted"));
    tx.commit().await.expect("is kept");
    assert!(matches!(name(&archive).await, Err(ArchiveError::Unnamed)));
    assert!(matches!(store(&archive).await, Err(ArchiveError::Unnamed)), "it would be deleted");
    archive.sweep(at(0)).await.expect("goes on");
    assert!(place.files().is_empty());
    store(&archive).await.expect("is stored anew");
}

#[tokio::test]
async fn two_processes_append_to_the_chain_one_after_the_other() {
    let Some(database) = TestDatabase::postgres() else { return };
    let place = Place::of(&database).await;
    let archive = place.archive();
    let event = || Event {
        cause: "expired",
        path: None,
        replaces: None,
        at: NOON,
        records: 0,
        bytes: 0,
        sha256: Vec::new(),
    };
    let mut first = place.store().write_all().await.expect("begins");
    chain::append(&mut first, archive.keys(), [event()]).await.expect("is appended");
    let mut second = place.store().write_all().await.expect("begins");
    let keys = archive.keys().clone();
    let append = async move {
        chain::append(&mut second, &keys, [event()]).await.expect("is appended");
        second.commit().await.expect("is kept");
    };
    tokio::pin!(append);
    assert!(timeout(Duration::from_millis(100), &mut append).await.is_err(), "it waits");
    first.commit().await.expect("is kept");
    append.await;
    let verified = archive.verify().await.expect("reads");
    assert_eq!((verified.rows, verified.findings), (2, vec![]));
}
