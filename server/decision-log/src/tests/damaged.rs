//! Files at rest that are damaged: what is lost is counted, and what follows it is read.

use std::ops::Range;
use std::path::PathBuf;

use bytes::Bytes;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::at_rest::{Place, erase, of_subject, record, texts};
use super::*;
use crate::frame::{self, Kind};
use crate::segment::{HEAD, Segment};
use crate::{DecisionOrder, Lost};

on_every_database!(
    a_damaged_page_costs_its_rows_alone,
    damaged_metadata_cost_their_file_alone,
    a_damaged_record_hides_no_other,
    an_erasure_goes_on_behind_what_is_damaged,
);

/// The records of a file, which have some pages of attributes.
const RECORDS: usize = 600;

/// Brings records with long attributes to rest. Returns the path of their file.
async fn written(place: &Place) -> PathBuf {
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    // The clock of the log stands at noon: records are from before.
    ids.1.store(-10_000, Ordering::Relaxed);
    for number in 0..RECORDS {
        let note = format!("{number:08} ").repeat(100);
        let json = format!(r#"{{"user": {{"note": "{note}"}}}}"#);
        let (json, subject) = (json::parse(json.as_bytes()).expect("valid"), number % 10);
        let (json, subject) = (json.into_owned(), format!("user \"{subject}\""));
        log.append(&denial(ids.next(), &subject, sent(&json)), None).expect("is kept");
    }
    log.flush().await;
    log.seal().await.expect("comes to rest");
    place.files().remove(0)
}

fn metadata(file: &[u8]) -> ParquetMetaData {
    let reader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Required);
    reader.parse_and_finish(&Bytes::from(file.to_vec())).expect("is sound")
}

/// Returns the bytes of the last page of a column, and the number of its rows.
fn last_page(file: &[u8], column: &str) -> (Range<usize>, usize) {
    let metadata = metadata(file);
    let columns = metadata.row_group(0).columns();
    let place = columns.iter().position(|about| about.column_path().string() == column);
    let index = metadata.page_index().expect("is there");
    let index = index.offset_index(0, place.expect("is there")).expect("is there");
    let page = index.page_locations().last().expect("some");
    let number = |number: i64| usize::try_from(number).expect("is positive");
    let start = number(page.offset);
    let bytes = start..start + number(page.compressed_page_size.into());
    (bytes, RECORDS - number(page.first_row_index))
}

/// Overwrites a part of a file.
fn damage(path: &Path, place: Range<usize>) {
    let mut bytes = std::fs::read(path).expect("reads");
    bytes[place].fill(0xff);
    std::fs::write(path, bytes).expect("writes");
}

async fn newest(log: &DecisionLog) -> Vec<String> {
    texts(log, &DecisionSelection::default(), DecisionOrder::NewestFirst).await
}

async fn a_damaged_page_costs_its_rows_alone(database: TestDatabase) {
    let place = Place::of(&database).await;
    let path = written(&place).await;
    let (whole, before) =
        (std::fs::read(&path).expect("reads"), newest(&place.log_of(u64::MAX)).await);
    assert_eq!(before.len(), RECORDS);
    for column in ["attributes", "id", "subject"] {
        let (page, rows) = last_page(&whole, column);
        assert!(rows < RECORDS || column == "subject", "`{column}` has some pages");
        damage(&path, page);
        let (log, metrics) = place.counting_log_in(column, u64::MAX);
        for _ in 0..2 {
            let found = newest(&log).await;
            assert_eq!(found.len(), RECORDS - rows, "`{column}`");
            assert!(found.iter().all(|text| before.contains(text)), "`{column}`");
            assert_eq!(metrics.lost(Lost::Damaged), rows as u64, "`{column}`: each counts once");
        }
        let mut of_subjects = 0;
        for number in 0..10 {
            let person = of_subject(&format!("user \"{number}\""));
            of_subjects += texts(&log, &person, DecisionOrder::NewestFirst).await.len();
        }
        assert_eq!(of_subjects, RECORDS - rows, "`{column}`");
        // As many as are wanted are found behind what is lost: it is there among the first ones.
        let page = DecisionPage { before: None, limit: 40 };
        let unknowing = place.log_in(&format!("{column} listed"), u64::MAX);
        let all = DecisionSelection::default();
        let listed = unknowing.query("acme", &all, page, ReadLimit::none()).await;
        let listed = listed.expect("reads").into;
        assert_eq!((listed.records.len(), listed.more), ((RECORDS - rows).min(40), rows < RECORDS));
        std::fs::write(&path, &whole).expect("writes");
    }
}

async fn damaged_metadata_cost_their_file_alone(database: TestDatabase) {
    let place = Place::of(&database).await;
    let path = written(&place).await;
    let (log, metrics) = place.counting_log_in("other", u64::MAX);
    record(&log, &Numbered::default(), "acme", 7).await;
    log.seal().await.expect("comes to rest");
    let length = std::fs::read(&path).expect("reads").len();
    damage(&path, length - 200..length - 8);
    for _ in 0..2 {
        assert_eq!(newest(&log).await.len(), 7);
        assert_eq!(metrics.lost(Lost::Damaged), RECORDS as u64);
    }
}

async fn a_damaged_record_hides_no_other(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (first, ids) = (place.log_of(u64::MAX), Numbered::default());
    record(&first, &ids, "acme", 10).await;
    let (_, path) = Segment::numbers(&place.buffer("buffer")).expect("lists").remove(0);
    let whole = std::fs::read(path).expect("reads");
    let (head, frames) = whole.split_at(usize::try_from(HEAD).expect("is small"));
    let mut bad = Vec::new();
    frame::begin(&mut bad, (Kind::Async, ids.next(), "acme"), |out| out.extend(b"{\"id\":"));
    frame::finish(&mut bad);
    let other = place.buffer("other");
    std::fs::create_dir(&other).expect("makes");
    std::fs::write(other.join("00000000000000000000.wal"), [head, &bad, frames].concat())
        .expect("writes");
    drop(first);
    let (log, metrics) = place.counting_log_in("other", u64::MAX);
    log.seal().await.expect("comes to rest");
    for _ in 0..2 {
        assert_eq!((newest(&log).await.len(), metrics.lost(Lost::Damaged)), (10, 1));
    }
}

async fn an_erasure_goes_on_behind_what_is_damaged(database: TestDatabase) {
    let place = Place::of(&database).await;
    let path = written(&place).await;
    let (page, rows) = last_page(&std::fs::read(&path).expect("reads"), "id");
    assert!((RECORDS / 10..RECORDS).contains(&rows), "all of the last subject");
    damage(&path, page);
    let (log, metrics) = place.counting_log_in("other", u64::MAX);
    // The damaged rows are of the last subjects. They cannot be found any more, and are gone from the file.
    assert_eq!((erase(&log, "user \"9\"").await, place.files().len()), (0, 2));
    assert_eq!(erase(&log, "user \"0\"").await, RECORDS as u64 / 10);
    assert_eq!(metrics.lost(Lost::Damaged), rows as u64);
    assert_eq!(newest(&log).await.len(), RECORDS - RECORDS / 10 - rows);
    let verified = place.archive().verify().await.expect("reads");
    assert_eq!((verified.erased.len(), verified.findings), (2, vec![]));
}
