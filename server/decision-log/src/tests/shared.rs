//! Texts that the records of a batch share: they are written once, and every reader sees whole records.

use std::ops::ControlFlow;
use std::path::PathBuf;

use portcullis_model::decision::Treatment;
use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::at_rest::{Place, erase, of_subject};
use super::*;
use crate::segment::Segment;
use crate::{BatchTexts, DecisionSpan, FeedItem, HashKey, Lost, Minimisation, RawRecord};

on_every_database!(what_a_batch_shares_is_written_once_and_read_whole);

const MIB: usize = 1 << 20;
const RECORDS: usize = 1_000;

/// The checks of a batch, which share large attributes.
struct SharedBatch {
    ids: Vec<Uuid>,
    own: Json<'static>,
    shared: Json<'static>,
}

impl SharedBatch {
    /// A batch whose checks share so many texts of 50,000 bytes, which nobody can compress.
    fn new(ids: &Numbered, count: usize, texts: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(7);
        let members = (0..texts).map(|number| {
            let text: String = (0..50_000).map(|_| random.alphanumeric()).collect();
            format!(r#""a{number}":"{text}""#)
        });
        let shared = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
        Self {
            ids: (0..count).map(|_| ids.next()).collect(),
            own: parsed(r#"{"ward":"er"}"#),
            shared: parsed(&shared),
        }
    }

    fn each(&self, mut visit: impl FnMut(&RecordedDecision<'_>)) {
        for (number, id) in self.ids.iter().enumerate() {
            let subject = format!("user {}", number % 10);
            let (user, context) = (map(&self.own), map(&self.shared));
            let attributes = Attributes { user, context, ..Attributes::default() };
            visit(&denial(*id, &subject, attributes));
        }
    }

    fn append(&self, log: &DecisionLog, terms: Option<&Minimisation>) {
        let texts = BatchTexts::default();
        self.each(|decision| {
            let decision = RecordedDecision { texts: Some(&texts), ..*decision };
            log.append(&decision, terms).expect("is kept");
        });
    }

    /// Returns the text of each record for which `wanted` is true, oldest first, as a check that comes alone has it.
    fn alone(&self, wanted: impl Fn(usize) -> bool) -> Vec<Option<Vec<u8>>> {
        self.alone_by(None, wanted)
    }

    fn alone_by(
        &self,
        terms: Option<&Minimisation>,
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Option<Vec<u8>>> {
        let mut texts = Vec::new();
        self.each(|decision| {
            texts.push(wanted(texts.len()).then(|| {
                let mut text = Vec::new();
                assert!(decision.encode(terms, &mut text).is_empty());
                text
            }));
        });
        texts
    }
}

fn map<'a>(json: &'a Json<'static>) -> AttributeMap<'a> {
    AttributeMap::from_members(json.as_object().expect("an object"))
}

fn parsed(text: &str) -> Json<'static> {
    json::parse(text.as_bytes()).expect("valid").into_owned()
}

fn file_of(folder: &Path) -> PathBuf {
    Segment::numbers(folder).expect("lists").remove(0).1
}

/// Reads the records of a batch, of which those of the subject `gone` are not there. All end with what they share, and every
/// 200th is compared byte by byte. Returns the most bytes that were in memory at once.
async fn read(log: &DecisionLog, batch: &SharedBatch, gone: Option<usize>) -> usize {
    let texts = batch.alone(|number| number % 200 == 0);
    let first = texts[0].as_ref().expect("is wanted");
    let start = first.windows(9).position(|window| window == br#""context""#).expect("is there");
    let end = first[start..].to_vec();
    let expected = batch.ids.iter().copied().zip(texts).enumerate().rev();
    let expected = expected.filter(|(number, _)| gone != Some(number % 10)).map(|(_, one)| one);
    let expected = expected.collect::<Vec<_>>().into_iter();
    let most = std::sync::Arc::new(AtomicI64::new(0));
    let charged = std::sync::Arc::clone(&most);
    let limit = ReadLimit::none().charging(move |bytes| {
        charged.fetch_max(i64::try_from(bytes).expect("is small"), Ordering::Relaxed) < i64::MAX
    });
    let compare = move |rest: &mut std::vec::IntoIter<(Uuid, Option<Vec<u8>>)>,
                        record: RawRecord<'_>| {
        let (id, text) = rest.next().expect("no more");
        assert!(record.id == id && record.json.ends_with(&end), "{id}");
        assert!(text.is_none_or(|text| text == record.json), "{id}");
        ControlFlow::Continue(())
    };
    let (all, span) = (DecisionSelection::default(), DecisionSpan::default());
    let visited = log.visit("acme", &all, span, limit, expected, compare).await;
    assert_eq!(visited.expect("reads").into.count(), 0, "records are missing");
    usize::try_from(most.load(Ordering::Relaxed)).expect("is small")
}

async fn what_a_batch_shares_is_written_once_and_read_whole(database: TestDatabase) {
    let place = Place::of(&database).await;
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    // The clock of the log stands at noon: records are from before.
    ids.1.store(-10_000, Ordering::Relaxed);
    let batch = SharedBatch::new(&ids, RECORDS, 18);
    batch.append(&log, None);
    log.flush().await;
    let written = std::fs::metadata(file_of(&place.buffer("buffer"))).expect("is there").len();
    assert!(written < 2 * MIB as u64, "{written}");
    assert!(read(&log, &batch, None).await < 4 * MIB);
    drop(log);
    // As after a kill.
    let log = place.log_of(u64::MAX);
    assert!(read(&log, &batch, None).await < 4 * MIB);
    let alone = batch.alone(|number| number == 7).swap_remove(7).expect("is wanted");
    let found = log.find("acme", batch.ids[7], ReadLimit::none()).await.expect("reads").into;
    let whole: DecisionRecord = serde_json::from_slice(&alone).expect("a record");
    assert_eq!(found.expect("is there").attributes.get(), whole.attributes.get());

    log.seal().await.expect("sealed");
    let sealed = |place: &Place| -> u64 {
        place.files().iter().map(|file| file.metadata().expect("is there").len()).sum()
    };
    assert!(sealed(&place) < 3 * MIB as u64, "{}", sealed(&place));
    let most = read(&log, &batch, None).await;
    assert!(most < 8 * MIB, "{most}");
    let listed = log.query("acme", &of_subject("user 3"), PAGE, ReadLimit::none()).await;
    let listed = listed.expect("reads").into;
    assert_eq!((listed.records.len(), listed.more), (1, true), "a page has 1 MiB");

    assert_eq!(erase(&log, "user 3").await, RECORDS as u64 / 10);
    let most = read(&log, &batch, Some(3)).await;
    assert!(most < 8 * MIB, "{most}");
    // The file before stays for a minute.
    assert!(sealed(&place) < 6 * MIB as u64, "{}", sealed(&place));
}

#[tokio::test]
async fn a_damaged_text_costs_the_records_that_share_it_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, small) = (Numbered::default(), attributes());
    log.append(&denial(ids.next(), "dana", sent(&small)), None).expect("is kept");
    SharedBatch::new(&ids, 5, 2).append(&log, None);
    log.append(&denial(ids.next(), "dana", sent(&small)), None).expect("is kept");
    log.close().await.expect("closes");
    drop(log);
    let path = file_of(folder.path());
    let mut bytes = std::fs::read(&path).expect("reads");
    let text = bytes.windows(6).position(|window| window == br#"{"a0":"#).expect("is there");
    bytes[text + 1_000] ^= 0x01;
    std::fs::write(&path, bytes).expect("writes");
    let (log, metrics) = open(folder.path());
    for _ in 0..2 {
        assert_eq!(all(&log).await.len(), 2);
        // The place of the text, and five records.
        assert_eq!((metrics.lost(Lost::Damaged), metrics.lost(Lost::Killed)), (6, 0));
    }
}

/// The bytes in the write-ahead file of ten checks that share nine texts, by `append`.
async fn written_by(append: impl FnOnce(&SharedBatch, &DecisionLog)) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    append(&SharedBatch::new(&Numbered::default(), 10, 9), &log);
    log.flush().await;
    std::fs::metadata(file_of(folder.path())).expect("is there").len()
}

#[tokio::test]
async fn checks_that_come_alone_share_nothing() {
    let alone = |batch: &SharedBatch, log: &DecisionLog| {
        batch.each(|decision| log.append(decision, None).expect("is kept"));
    };
    assert!(written_by(alone).await > 9 * 450_000);
    assert!(written_by(|batch, log| batch.append(log, None)).await < 2 * 450_000);
}

#[tokio::test]
async fn what_is_shared_is_minimised() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let ids = Numbered::default();
    for treatments in [
        [("context.a0", Treatment::Drop), ("user.ward", Treatment::Hash)],
        [("context.a0", Treatment::Reads), ("context.a1", Treatment::Hash)],
    ] {
        let key = HashKey::for_tenant(&[7; 32], "acme");
        let terms = Minimisation::new(key, treatments).expect("terms");
        let batch = SharedBatch::new(&ids, 3, 3);
        batch.append(&log, Some(&terms));
        log.flush().await;
        let stored = all(&log)
            .await
            .into_iter()
            .take(3)
            .map(|record| serde_json::to_string(&record).expect("JSON"));
        let alone = batch.alone_by(Some(&terms), |_| true).into_iter().flatten();
        let alone = alone.map(|text| String::from_utf8(text).expect("UTF-8"));
        let (stored, mut alone) = (stored.collect::<Vec<_>>(), alone.collect::<Vec<_>>());
        alone.reverse();
        assert!(stored == alone, "{treatments:?}");
        assert!(!stored[0].contains(r#""a0":"#), "{treatments:?}");
    }
}

#[tokio::test]
async fn a_kill_in_the_middle_of_a_frame_costs_what_follows() {
    for (part_of_text, kept) in [(true, 1), (false, 3)] {
        let folder = tempfile::tempdir().expect("a folder");
        let (log, _) = open(folder.path());
        let ids = Numbered::default();
        log.append(&denial(ids.next(), "dana", sent(&attributes())), None).expect("is kept");
        SharedBatch::new(&ids, 5, 2).append(&log, None);
        log.flush().await;
        drop(log);
        let path = file_of(folder.path());
        let bytes = std::fs::read(&path).expect("reads");
        let third = bytes.windows(6).enumerate().filter(|(_, window)| window == b"user 2");
        let end = match part_of_text {
            true => bytes.windows(6).position(|window| window == br#"{"a0":"#),
            false => third.map(|(at, _)| at).next(),
        };
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("opens");
        file.set_len(end.expect("is there") as u64 + 3).expect("is cut");
        let (log, metrics) = open(folder.path());
        assert_eq!(all(&log).await.len(), kept);
        assert_eq!((metrics.lost(Lost::Killed), metrics.lost(Lost::Damaged)), (6 - kept as u64, 0));
    }
}

#[tokio::test]
async fn a_file_of_an_earlier_version_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, small) = (Numbered::default(), attributes());
    log.append(&denial(ids.next(), "dana", sent(&small)), None).expect("is kept");
    log.close().await.expect("closes");
    drop(log);
    let path = file_of(folder.path());
    let mut bytes = std::fs::read(&path).expect("reads");
    bytes[..8].copy_from_slice(b"PCLSDL01");
    std::fs::write(&path, bytes).expect("writes");
    assert_eq!(all(&open(folder.path()).0).await.len(), 1);
}

#[tokio::test]
async fn a_stream_has_whole_records() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let batch = SharedBatch::new(&Numbered::default(), 3, 1);
    let mut feed = log.follow("acme", None, DecisionSelection::default()).expect("follows");
    batch.append(&log, None);
    for text in batch.alone(|_| true).into_iter().flatten() {
        let Some(FeedItem::Record(record)) = feed.next().await else { panic!("a record") };
        let [record, alone] =
            [record.as_bytes(), &text].map(serde_json::from_slice::<serde_json::Value>);
        assert_eq!(record.expect("JSON"), alone.expect("JSON"));
    }
}

#[tokio::test]
async fn a_scan_reads_a_part_again_where_there_is_no_room_for_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    for number in 0..500 {
        let subject = format!("user {}", number * 7 % 500);
        log.append(&denial(ids.next(), &subject, sent(&json)), None).expect("is kept");
    }
    log.flush().await;
    let count = |count: &mut usize, _: RawRecord<'_>| {
        *count += 1;
        ControlFlow::Continue(())
    };
    let (selection, span) = (DecisionSelection::default(), DecisionSpan::default());
    for room in [1_000, 5_000, 50_000] {
        let limit = ReadLimit::none().charging(move |bytes| bytes <= room);
        let visited = log.visit("acme", &selection, span, limit, 0, count).await;
        assert_eq!(visited.expect("reads").into, 500, "with room for {room} bytes");
    }
    let limit = ReadLimit::none().charging(|bytes| bytes <= 100);
    let refused = log.visit("acme", &selection, span, limit, 0, count).await;
    assert!(matches!(refused, Err(crate::QueryError::NoRoom)), "{refused:?}");
}
