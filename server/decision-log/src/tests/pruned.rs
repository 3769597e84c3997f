//! Rows of the manifest about files that are long gone: signed hashes stand in their place.

use portcullis_storage::testing::{TestDatabase, execute, on_every_database};

use super::at_rest::{Place, record};
use super::*;
use crate::{RecordFault, Verification};

on_every_database!(
    rows_about_files_that_are_long_gone_join_into_one,
    what_somebody_does_to_the_row_of_others_is_found,
    a_row_that_nobody_signed_stays,
);

/// Milliseconds since the epoch, so many days after the records.
fn days(days: i64) -> Timestamp {
    Timestamp::from_millis(NOON + days * 24 * 60 * 60 * 1_000)
}

async fn run(place: &Place, sql: &str) {
    execute(place.store(), [sql.to_owned()]).await;
}

async fn verified(place: &Place) -> Verification {
    place.archive().verify().await.expect("reads")
}

async fn sweep(place: &Place, day: i64) {
    place.archive().sweep(days(day)).await.expect("works");
}

/// Two files of `acme`, whose time is over after 7 days, around one of `bolt`, which stays.
async fn three_files(database: &TestDatabase) -> Place {
    let place = Place::of(database).await;
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    for tenant in ["acme", "bolt", "acme"] {
        record(&log, &ids, tenant, 10).await;
        log.seal().await.expect("sealed");
    }
    log.close().await.expect("closes");
    run(&place, "UPDATE decision_parts SET expires_at = 9000000000000 WHERE tenant_id = 'bolt'")
        .await;
    for day in [8, 9] {
        sweep(&place, day).await;
    }
    place
}

async fn rows_about_files_that_are_long_gone_join_into_one(database: TestDatabase) {
    let place = three_files(&database).await;
    sweep(&place, 37).await;
    let told = verified(&place).await;
    assert_eq!((told.rows, told.pruned, told.expired, told.findings), (5, 0, 2, vec![]));
    sweep(&place, 39).await;
    let told = verified(&place).await;
    assert_eq!((told.rows, told.pruned, told.files, told.findings), (1, 4, 1, vec![]));
    // The chain goes on behind them, and the last file goes as well.
    run(&place, "UPDATE decision_parts SET expires_at = 0").await;
    for day in [40, 41, 80] {
        sweep(&place, day).await;
    }
    let told = verified(&place).await;
    assert_eq!((told.rows, told.pruned, told.findings), (0, 6, vec![]));
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    record(&log, &ids, "acme", 10).await;
    log.seal().await.expect("sealed");
    let told = verified(&place).await;
    assert_eq!((told.rows, told.pruned, told.records, told.findings), (1, 6, 10, vec![]));
}

async fn what_somebody_does_to_the_row_of_others_is_found(database: TestDatabase) {
    let place = three_files(&database).await;
    sweep(&place, 39).await;
    let findings = async || verified(&place).await.findings;
    run(&place, "UPDATE decision_files SET records = 2 WHERE seq = 5").await;
    assert_eq!(findings().await, [RecordFault::RowsMissing(3, 3), RecordFault::NotSigned(5)]);
    run(&place, "UPDATE decision_files SET records = 4 WHERE seq = 5").await;
    assert_eq!(findings().await, [RecordFault::RowChanged(5)]);
    run(&place, "UPDATE decision_files SET records = 3, created_at = 7 WHERE seq = 5").await;
    assert_eq!(findings().await, [RecordFault::NotSigned(5)]);
    run(&place, "UPDATE decision_files SET sha256 = mac WHERE seq = 5").await;
    assert_eq!(findings().await, [RecordFault::RowChanged(5)]);
    run(&place, "DELETE FROM decision_files WHERE seq = 1").await;
    let missing = RecordFault::RowsMissing(1, 1);
    assert_eq!(findings().await, [missing, RecordFault::RowChanged(2), RecordFault::RowChanged(5)]);
}

async fn a_row_that_nobody_signed_stays(database: TestDatabase) {
    let place = three_files(&database).await;
    sweep(&place, 39).await;
    // Somebody who can write the database makes the file of `bolt` one that went long ago.
    run(
        &place,
        "INSERT INTO decision_files (seq, cause, replaces, created_at, records, bytes, sha256, hash, mac) \
         SELECT 6, 'expired', path, 0, 0, 0, sha256, hash, mac FROM decision_files WHERE seq = 2",
    )
    .await;
    run(&place, "UPDATE decision_files SET gone_at = 1, deleted = TRUE WHERE seq = 2").await;
    sweep(&place, 80).await;
    let told = verified(&place).await;
    assert_eq!((told.rows, told.pruned), (2, 4));
    assert_eq!(told.findings, [RecordFault::RowChanged(6)]);
}
