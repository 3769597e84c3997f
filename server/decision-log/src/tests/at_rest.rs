//! Sealed records: the same answers as before, in files that the manifest names.

use std::path::PathBuf;
use std::time::Duration;

use portcullis_storage::encryption::KeyRing;
use portcullis_storage::testing::{TestDatabase, execute, on_every_database};
use portcullis_storage::{Store, decision_erasures};
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;
use crate::segment::Segment;
use crate::wanted::Wanted;
use crate::{Archive, DecisionOrder, DecisionSpan, RecordFault, RecordPlace, sign_manifest_anew};

on_every_database!(
    answers_are_the_same_before_and_after_records_come_to_rest,
    pages_of_a_list_follow_each_other_at_rest,
    a_query_by_subject_reads_a_small_part,
    a_repeated_seal_makes_no_duplicate,
    an_erased_person_is_gone_and_the_chain_says_so,
    a_file_that_is_written_anew_has_no_erased_person,
    a_manifest_is_proved_by_a_new_key,
    what_somebody_changes_is_found,
    old_records_go,
    records_of_a_deleted_tenant_do_not_come_to_rest,
);

/// A log with a place for its sealed files.
pub(super) struct Place {
    folder: TempDir,
    store: Store,
    key: String,
    rest: RecordPlace,
    /// The folder with the sealed files, or with the objects of the bucket.
    files: PathBuf,
}

impl Place {
    pub(super) async fn of(database: &TestDatabase) -> Self {
        let folder = TempDir::new().expect("a folder");
        let files = folder.path().join("rest");
        Self::at(database, folder, RecordPlace::Folder(files.clone()), files).await
    }

    /// A log whose files are sealed in `rest`, which keeps its objects below `files`.
    pub(super) async fn at(
        database: &TestDatabase,
        folder: TempDir,
        rest: RecordPlace,
        files: PathBuf,
    ) -> Self {
        let (key, store) = (KeyRing::generate_key().expect("a key"), database.open().await);
        let tenants = "INSERT INTO tenants (id, revision, created_at) \
            VALUES ('acme', 812, 0), ('bolt', 812, 0) ON CONFLICT DO NOTHING";
        execute(&store, [tenants.to_owned()]).await;
        Self { folder, store, key, rest, files }
    }

    pub(super) fn archive(&self) -> Archive {
        let keys = KeyRing::parse(&self.key).expect("a key");
        Archive::open(&self.rest, self.store.clone(), keys).expect("opens")
    }

    fn log(&self) -> DecisionLog {
        self.log_of(u64::MAX)
    }

    /// Returns a log whose write-ahead files have so many bytes at most.
    pub(super) fn log_of(&self, max_bytes: u64) -> DecisionLog {
        self.log_in("buffer", max_bytes)
    }

    /// Returns a log with its own write-ahead files in the folder `name`.
    pub(super) fn log_in(&self, name: &str, max_bytes: u64) -> DecisionLog {
        self.counting_log_in(name, max_bytes).0
    }

    /// As [`Place::log_in`], with the metrics of the log.
    pub(super) fn counting_log_in(&self, name: &str, max_bytes: u64) -> (DecisionLog, LogMetrics) {
        let buffer = self.buffer(name);
        let config = LogConfig { archive: Some(self.archive()), ..config(&buffer, max_bytes) };
        let metrics = LogMetrics::default();
        (DecisionLog::open(config, metrics.clone()).expect("opens"), metrics)
    }

    /// Returns the folder `name` for write-ahead files.
    pub(super) fn buffer(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the sealed files.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.files.clone()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().expect("reads") {
                let path = entry.expect("an entry").path();
                let into = if path.is_dir() { &mut folders } else { &mut files };
                into.push(path);
            }
        }
        files
    }

    pub(super) fn buffered(&self) -> usize {
        Segment::numbers(&self.folder.path().join("buffer")).expect("lists").len()
    }
}

/// Records `count` checks of `tenant`, of the subjects 0, 1, … 9 in turn, which may be in the future.
pub(super) async fn record(log: &DecisionLog, ids: &Numbered, tenant: &str, count: usize) {
    let json = attributes();
    let mut last = None;
    for number in 0..count {
        let subject = format!("user \"{}\"", number % 10);
        let decision = RecordedDecision { tenant, ..denial(ids.next(), &subject, sent(&json)) };
        last = Some(log.append_durably(&decision, None).expect("is taken"));
    }
    last.expect("some").written().await.expect("is written");
}

pub(super) async fn texts(
    log: &DecisionLog,
    selection: &DecisionSelection,
    order: DecisionOrder,
) -> Vec<String> {
    let span = DecisionSpan { order, ..DecisionSpan::default() };
    let add = |texts: &mut Vec<String>, record: crate::RawRecord<'_>| {
        texts.push(String::from_utf8(record.json.to_vec()).expect("UTF-8"));
        std::ops::ControlFlow::Continue(())
    };
    log.visit("acme", selection, span, ReadLimit::none(), Vec::new(), add)
        .await
        .expect("reads")
        .into
}

/// Erases the records of `acme` about a person, with the task of the service that does it. Returns their number.
pub(super) async fn erase(log: &DecisionLog, subject: &str) -> u64 {
    tokio::select! {
        erased = log.erase("acme", subject) => erased.expect("works").records,
        () = log.clone().run_maintenance() => unreachable!("it has no end"),
    }
}

pub(super) fn of_subject(subject: &str) -> DecisionSelection {
    DecisionSelection { subject: Some(subject.to_owned()), ..DecisionSelection::default() }
}

async fn answers_are_the_same_before_and_after_records_come_to_rest(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    for tenant in ["acme", "bolt", "acme"] {
        record(&log, &ids, tenant, 120).await;
    }
    let all = DecisionSelection::default;
    let noon = Timestamp::from_millis(NOON + 30);
    let selections = [
        all(),
        of_subject("user \"3\""),
        of_subject("nobody"),
        DecisionSelection { from: Some(noon), ..all() },
        DecisionSelection { decision: Some(Effect::Allow), ..all() },
        DecisionSelection { undetermined: Some(true), via: Some(Via::Check), ..all() },
    ];
    let mut before = Vec::new();
    for selection in &selections {
        for order in [DecisionOrder::NewestFirst, DecisionOrder::OldestFirst] {
            before.push(texts(&log, selection, order).await);
        }
    }
    assert_eq!(
        before.iter().map(Vec::len).collect::<Vec<_>>(),
        [240, 240, 24, 24, 0, 0, 210, 210, 0, 0, 240, 240]
    );
    log.seal().await.expect("sealed");
    assert_eq!((place.files().len(), place.buffered()), (1, 1), "one file, and one that grows");
    let mut after = Vec::new();
    for selection in &selections {
        for order in [DecisionOrder::NewestFirst, DecisionOrder::OldestFirst] {
            after.push(texts(&log, selection, order).await);
        }
    }
    assert_eq!(after, before);
    record(&log, &ids, "acme", 10).await;
    assert_eq!(texts(&log, &all(), DecisionOrder::NewestFirst).await.len(), 250, "both are read");
}

async fn pages_of_a_list_follow_each_other_at_rest(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    for _ in 0..3 {
        record(&log, &ids, "acme", 40).await;
        log.seal().await.expect("sealed");
    }
    for selection in [DecisionSelection::default(), of_subject("user \"3\"")] {
        let whole = log
            .query("acme", &selection, PAGE, ReadLimit::none())
            .await
            .expect("reads")
            .into
            .records;
        let whole: Vec<Uuid> = whole.into_iter().map(|record| record.id).collect();
        let (mut paged, mut before) = (Vec::new(), None);
        loop {
            let page = DecisionPage { before, limit: 7 };
            let found =
                log.query("acme", &selection, page, ReadLimit::none()).await.expect("reads").into;
            paged.extend(found.records.into_iter().map(|record| record.id));
            before = paged.last().copied();
            if !found.more {
                break;
            }
        }
        assert!(!whole.is_empty());
        assert_eq!(paged, whole);
    }
}

async fn a_query_by_subject_reads_a_small_part(database: TestDatabase) {
    const RECORDS: usize = 20_000;
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    let json = attributes();
    for number in 0..RECORDS {
        let (id, subject) = (ids.next(), format!("user {}", number % (RECORDS / 10)));
        let request_id = id.to_string();
        let decision =
            RecordedDecision { request_id: &request_id, ..denial(id, &subject, sent(&json)) };
        log.append(&decision, None).expect("is kept");
        if number % 1_000 == 0 {
            log.flush().await;
        }
    }
    log.seal().await.expect("sealed");
    let files = place.files().into_iter();
    let bytes: u64 = files.map(|file| file.metadata().expect("reads").len()).sum();
    let archive = log.archive().expect("has one");
    for (subject, records, part) in [("user 1234", 10, 10), ("user 12345", 0, 20)] {
        let read = archive.bytes_read();
        let found = texts(&log, &of_subject(subject), DecisionOrder::NewestFirst).await;
        assert_eq!(found.len(), records);
        let read = archive.bytes_read() - read;
        assert!(read < bytes / part, "{read} of {bytes} bytes for `{subject}`");
    }
}

async fn a_repeated_seal_makes_no_duplicate(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    record(&log, &ids, "acme", 50).await;
    let buffer = place.folder.path().join("buffer");
    let (name, path) = Segment::numbers(&buffer).expect("lists").remove(0);
    let written = std::fs::read(&path).expect("reads");
    log.close().await.expect("sealed");
    assert!(!path.exists());
    drop(log);
    // As after a kill between the manifest and the deletion of the write-ahead file.
    std::fs::write(buffer.join(format!("{name:020}.wal")), written).expect("writes");
    let log = place.log();
    log.seal().await.expect("sealed");
    assert_eq!(place.files().len(), 1);
    assert_eq!(
        texts(&log, &DecisionSelection::default(), DecisionOrder::NewestFirst).await.len(),
        50
    );
    let verified = place.archive().verify().await.expect("reads");
    assert_eq!((verified.files, verified.records, verified.findings), (1, 50, vec![]));
}

async fn an_erased_person_is_gone_and_the_chain_says_so(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    // The clock of the log stands at noon: records are from before.
    for (tenant, at_rest) in [("acme", true), ("bolt", true), ("acme", false)] {
        ids.1.store(-10_000, Ordering::Relaxed);
        record(&log, &ids, tenant, 30).await;
        if at_rest {
            log.seal().await.expect("sealed");
        }
    }
    let person = of_subject("user \"3\"");
    assert_eq!(erase(&log, "user \"3\"").await, 6);
    assert!(texts(&log, &person, DecisionOrder::NewestFirst).await.is_empty());
    assert_eq!(
        texts(&log, &DecisionSelection::default(), DecisionOrder::NewestFirst).await.len(),
        54
    );
    let others =
        log.query("bolt", &person, PAGE, ReadLimit::none()).await.expect("reads").into.records;
    assert_eq!(others.len(), 3, "another tenant has its own person of this name");
    let verified = place.archive().verify().await.expect("reads");
    assert_eq!((verified.erased.len(), verified.records, verified.findings), (1, 84, vec![]));
    assert_eq!(erase(&log, "user \"3\"").await, 0, "a repetition");
    record(&log, &Numbered::default(), "acme", 10).await;
    assert_eq!(
        texts(&log, &person, DecisionOrder::NewestFirst).await.len(),
        1,
        "later ones are kept"
    );
}

async fn a_file_that_is_written_anew_has_no_erased_person(database: TestDatabase) {
    let mut place = Place::of(&database).await;
    let (log, ids, archive) = (place.log(), Numbered::default(), place.archive());
    ids.1.store(-10_000, Ordering::Relaxed);
    record(&log, &ids, "acme", 30).await;
    log.seal().await.expect("sealed");
    let person = of_subject("user \"3\"");
    let parts = archive.parts(&Wanted::new("acme", &person, DecisionSpan::default())).await;
    // Another process noted the erasure, and another one writes the file anew for another reason.
    let mut tx = place.store.write_as("acme").await.expect("begins");
    let code = archive.code_of("acme", "user \"3\"");
    decision_erasures::begin(&mut tx, &code, Timestamp::from_millis(NOON), i64::MAX)
        .await
        .expect("is noted");
    tx.commit().await.expect("is kept");
    let path = parts.expect("reads").remove(0).path().to_owned();
    // It has a newer key in front of the one with which the erasure was noted.
    place.key = format!("{},{}", KeyRing::generate_key().expect("a key"), place.key);
    place.archive().rewrite(&path, Timestamp::from_millis(NOON)).await.expect("works");
    assert!(texts(&log, &person, DecisionOrder::NewestFirst).await.is_empty());
    let all = DecisionSelection::default();
    assert_eq!(texts(&log, &all, DecisionOrder::NewestFirst).await.len(), 27);
}

async fn a_manifest_is_proved_by_a_new_key(database: TestDatabase) {
    let mut place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    for _ in 0..3 {
        record(&log, &ids, "acme", 10).await;
        log.seal().await.expect("sealed");
    }
    let new = KeyRing::generate_key().expect("a key");
    place.key = format!("{new},{}", place.key);
    let both = KeyRing::parse(&place.key).expect("keys");
    for signed in [3, 0] {
        let rows = sign_manifest_anew(&place.store, &both).await.expect("works");
        assert_eq!(rows, signed);
    }
    place.key = new;
    assert_eq!(place.archive().verify().await.expect("reads").findings, []);
}

async fn what_somebody_changes_is_found(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    for _ in 0..3 {
        record(&log, &ids, "acme", 10).await;
        log.seal().await.expect("sealed");
    }
    let findings = async || place.archive().verify().await.expect("reads").findings;
    assert_eq!(findings().await, []);
    let file = place.files().remove(0);
    let written = std::fs::read(&file).expect("reads");
    let mut changed = written.clone();
    changed[40] ^= 1;
    std::fs::write(&file, &changed).expect("writes");
    assert!(matches!(*findings().await, [RecordFault::Changed(_)]));
    std::fs::remove_file(&file).expect("removes");
    assert!(matches!(*findings().await, [RecordFault::Missing(_)]));
    std::fs::write(&file, &written).expect("writes");
    assert_eq!(findings().await, []);
    let run = |sql: &str| execute(&place.store, [sql.to_owned()]);
    run("UPDATE decision_files SET gone_at = 1 WHERE seq = 2").await;
    assert!(matches!(*findings().await, [RecordFault::Hidden(_)]));
    run("UPDATE decision_files SET gone_at = NULL, records = 9 WHERE seq = 2").await;
    assert_eq!(findings().await, [RecordFault::RowChanged(2)]);
    run("DELETE FROM decision_files WHERE seq = 2").await;
    assert_eq!(findings().await, [RecordFault::RowsMissing(2, 2), RecordFault::RowChanged(3)]);
}

async fn old_records_go(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    record(&log, &ids, "acme", 10).await;
    record(&log, &ids, "bolt", 10).await;
    log.seal().await.expect("sealed");
    let archive = place.archive();
    let day = 24 * 60 * 60 * 1_000;
    let at = |days: i64| Timestamp::from_millis(NOON + days * day + 10_000);
    archive.sweep(at(6)).await.expect("works");
    assert_eq!(all(&log).await.len(), 10, "kept for 7 days");
    execute(
        &place.store,
        ["UPDATE decision_parts SET expires_at = 0 WHERE tenant_id = 'bolt'".to_owned()],
    )
    .await;
    archive.sweep(at(6)).await.expect("works");
    assert_eq!(all(&log).await.len(), 10, "the other tenant of the file is as before");
    let others = log
        .query("bolt", &DecisionSelection::default(), PAGE, ReadLimit::none())
        .await
        .expect("reads");
    assert!(others.into.records.is_empty());
    archive.sweep(at(7)).await.expect("works");
    assert!(all(&log).await.is_empty());
    archive.sweep(at(8)).await.expect("works");
    assert!(place.files().is_empty(), "the objects are gone");
    assert_eq!(archive.verify().await.expect("reads").findings, []);
}

async fn records_of_a_deleted_tenant_do_not_come_to_rest(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log(), Numbered::default());
    record(&log, &ids, "acme", 10).await;
    record(&log, &ids, "bolt", 10).await;
    let deleted = "UPDATE tenants SET deleting_at = 1 WHERE id = 'acme'";
    execute(&place.store, [deleted.to_owned()]).await;
    // Nothing else would finish the file.
    let keeper = tokio::spawn(log.clone().run_maintenance());
    let at_rest = async {
        while !place.folder.path().join("rest").exists() || place.files().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        while place.buffered() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(30), at_rest).await.expect("the file is finished");
    keeper.abort();
    assert!(all(&log).await.is_empty());
    let others = log
        .query("bolt", &DecisionSelection::default(), PAGE, ReadLimit::none())
        .await
        .expect("reads");
    assert_eq!(others.into.records.len(), 10);
}
