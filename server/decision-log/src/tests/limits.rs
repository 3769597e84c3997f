//! Visits that end early: where they go on, and what they say.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::at_rest::{Place, of_subject, record};
use super::*;
use crate::{DecisionOrder, DecisionSpan, QueryError, RawRecord};

on_every_database!(
    pages_that_end_early_have_every_record_once,
    statistics_that_end_early_say_so,
    a_scan_ends_when_its_caller_is_gone,
    a_page_of_large_records_is_bounded_while_it_is_read,
);

/// The records of each file.
const EACH: usize = 20;
const FILES: usize = 4;

/// Ends as soon as something was read.
fn at_once() -> ReadLimit {
    ReadLimit::new(Duration::ZERO, || true)
}

/// Returns a log with files at rest and a write-ahead file.
async fn written(place: &Place) -> DecisionLog {
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    for _ in 1..FILES {
        record(&log, &ids, "acme", EACH).await;
        log.seal().await.expect("comes to rest");
    }
    record(&log, &ids, "acme", EACH).await;
    log
}

async fn pages_that_end_early_have_every_record_once(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = written(&place).await;
    for (selection, expected) in [
        (DecisionSelection::default(), FILES * EACH),
        (of_subject("user \"3\""), FILES * EACH / 10),
        (of_subject("nobody"), 0),
    ] {
        let whole = log.query("acme", &selection, PAGE, ReadLimit::none()).await.expect("reads");
        assert_eq!((whole.into.records.len(), whole.rest), (expected, None));
        let (mut found, mut before, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = DecisionPage { before, ..PAGE };
            let part = log.query("acme", &selection, page, at_once()).await.expect("reads");
            found.extend(part.into.records);
            pages += 1;
            let Some(rest) = part.rest else { break };
            let next = Uuid::from_u128(rest.as_u128() + 1);
            assert!(before.is_none_or(|before| next < before), "each page comes further");
            before = Some(next);
        }
        assert!(pages >= FILES, "{pages}");
        let ids = |records: Vec<DecisionRecord>| records.into_iter().map(|record| record.id);
        assert!(ids(found).eq(ids(whole.into.records)));
    }
    let span = DecisionSpan { order: DecisionOrder::OldestFirst, ..DecisionSpan::default() };
    let count = |count: &mut usize, _: RawRecord<'_>| {
        *count += 1;
        ControlFlow::Continue(())
    };
    let all = DecisionSelection::default();
    let part = log.visit("acme", &all, span, at_once(), 0, count).await.expect("reads");
    assert_eq!(part.into, EACH, "one file");
    let span =
        DecisionSpan { after: part.rest.map(|rest| Uuid::from_u128(rest.as_u128() - 1)), ..span };
    let rest = log.visit("acme", &all, span, ReadLimit::none(), 0, count).await.expect("reads");
    assert_eq!((rest.into, rest.rest), ((FILES - 1) * EACH, None));
}

async fn statistics_that_end_early_say_so(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = written(&place).await;
    let all = DecisionSelection::default();
    for (limit, complete) in [(at_once(), false), (ReadLimit::none(), true)] {
        let stats =
            log.stats("acme", &all, &[], RegisteredResources::new(), limit).await.expect("reads");
        assert_eq!(stats.complete, complete);
        let counted = usize::try_from(stats.groups[0].deny).expect("few");
        assert!(counted >= EACH && (counted == FILES * EACH) == complete, "{counted}");
    }
    for (limit, complete) in [(at_once(), false), (ReadLimit::none(), true)] {
        let parity =
            log.parity("acme", &all, None, RegisteredResources::new(), limit).await.expect("reads");
        assert_eq!(parity.complete, complete);
    }
}

async fn a_scan_ends_when_its_caller_is_gone(database: TestDatabase) {
    let place = Place::of(&database).await;
    let log = written(&place).await;
    let read = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&read);
    // The caller goes away when the first file is read.
    let limit = ReadLimit::new(Duration::MAX, move || seen.load(Ordering::Relaxed) == 0);
    let count = move |(): &mut (), _: RawRecord<'_>| {
        read.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let (all, span) = (DecisionSelection::default(), DecisionSpan::default());
    let before = place.archive().bytes_read();
    let visited = log.visit("acme", &all, span, limit, (), count).await.expect("reads");
    assert!(visited.rest.is_some());
    assert_eq!(place.archive().bytes_read(), before, "no file at rest was read");
}

async fn a_page_of_large_records_is_bounded_while_it_is_read(database: TestDatabase) {
    const MIB: usize = 1 << 20;
    const LARGE: usize = 60;
    let place = Place::of(&database).await;
    let (log, ids) = (place.log_of(u64::MAX), Numbered::default());
    let note = "n".repeat(50_000);
    let text =
        format!(r#"{{"user": {{"a": "{note}", "b": "{note}", "c": "{note}", "d": "{note}"}}}}"#);
    let json = json::parse(text.as_bytes()).expect("valid").into_owned();
    for number in 0..2 * LARGE {
        if number == LARGE {
            log.seal().await.expect("comes to rest");
        }
        let subject = format!("user {}", number % 7);
        let pending = log.append_durably(&denial(ids.next(), &subject, sent(&json)), None);
        pending.expect("is taken").written().await.expect("is written");
    }
    let (all, most) = (DecisionSelection::default(), Arc::new(AtomicUsize::new(0)));
    let charging = || {
        let most = Arc::clone(&most);
        ReadLimit::none()
            .charging(move |bytes| most.fetch_max(bytes, Ordering::Relaxed) < usize::MAX)
    };
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = DecisionPage { before, ..PAGE };
        let part = log.query("acme", &all, page, charging()).await.expect("reads").into;
        assert!((1..=MIB / 200_000).contains(&part.records.len()), "{}", part.records.len());
        found.extend(part.records.iter().map(|record| record.id));
        before = found.last().copied();
        if !part.more {
            break;
        }
    }
    assert!(found.len() == 2 * LARGE && found.is_sorted_by(|one, other| one > other));
    assert!(most.load(Ordering::Relaxed) < 8 * MIB, "{most:?}");
    // A visit without a bound in bytes has more in memory.
    let span = DecisionSpan { limit: Some(1_000), ..DecisionSpan::default() };
    let visit = |(): &mut (), _: RawRecord<'_>| ControlFlow::Continue(());
    log.visit("acme", &all, span, charging(), (), visit).await.expect("reads");
    assert!(most.load(Ordering::Relaxed) > 10 * MIB, "{most:?}");
    let spent = ReadLimit::none().charging(|bytes| bytes < 100_000);
    let refused = log.query("acme", &all, PAGE, spent).await;
    assert!(matches!(refused, Err(QueryError::NoRoom)), "{refused:?}");
}
