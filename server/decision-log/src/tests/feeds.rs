//! Streams of new records.

use super::*;
use crate::{DecisionFeed, FeedItem, FeedRefused};

async fn write(log: &DecisionLog, ids: &Numbered, subject: &str, attributes: Attributes<'_>) {
    let pending = log.append_durably(&denial(ids.next(), subject, attributes), None);
    pending.expect("is taken").written().await.expect("is written");
}

fn subject_of(item: Option<FeedItem>) -> Option<String> {
    let Some(FeedItem::Record(text)) = item else { return None };
    Some(serde_json::from_str::<DecisionRecord>(&text).expect("a record").subject)
}

#[tokio::test]
async fn a_reader_gets_the_new_records_that_it_selects() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    write(&log, &ids, "before", sent(&json)).await;
    let subject = Some("dana".to_owned());
    let mut feed = log
        .follow("acme", None, DecisionSelection { subject, ..DecisionSelection::default() })
        .expect("follows");
    let mut other = log.follow("bolt", None, DecisionSelection::default()).expect("follows");
    for subject in ["eve", "dana"] {
        write(&log, &ids, subject, sent(&json)).await;
    }
    assert_eq!(subject_of(feed.next().await).as_deref(), Some("dana"));
    log.end_feeds();
    assert_eq!((feed.next().await, other.next().await), (None, None));
    let refused = log.follow("acme", None, DecisionSelection::default()).err();
    assert_eq!(refused, Some(FeedRefused::Closed));
}

#[tokio::test]
async fn a_slow_reader_learns_how_many_it_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, metrics) = open(folder.path());
    let ids = Numbered::default();
    let note = "n".repeat(50_000);
    let long = format!(r#"{{"user": {{"note": "{note}", "more": "{note}"}}}}"#);
    let long = json::parse(long.as_bytes()).expect("valid").into_owned();
    let mut feed = log.follow("acme", None, DecisionSelection::default()).expect("follows");
    for _ in 0..7 {
        write(&log, &ids, "dana", sent(&long)).await;
    }
    let fitting = DecisionFeed::MAX_BYTES / 100_000;
    for _ in 0..fitting {
        assert_eq!(subject_of(feed.next().await).as_deref(), Some("dana"));
    }
    let more = 7 - fitting as u64;
    assert_eq!((feed.next().await, metrics.skipped.get()), (Some(FeedItem::More(more)), more));
    write(&log, &ids, "eve", Attributes::default()).await;
    assert_eq!(subject_of(feed.next().await).as_deref(), Some("eve"));
}

#[tokio::test]
async fn a_tenant_has_eight_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, metrics) = open(folder.path());
    let follow = |tenant| log.follow(tenant, None, DecisionSelection::default());
    let mut feeds: Vec<_> = (0..8).map(|_| follow("acme").expect("follows")).collect();
    assert_eq!(follow("acme").err(), Some(FeedRefused::OfTenant));
    assert!(follow("bolt").is_ok());
    feeds.pop();
    assert!(follow("acme").is_ok());
    assert_eq!(metrics.streams.get(), 7);
}

#[tokio::test]
async fn members_leave_streams_to_managers() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let follow = |member: Option<&str>| log.follow("acme", member, DecisionSelection::default());
    let members = ["ann", "bob", "cat", "dan"].map(|name| follow(Some(name)).expect("follows"));
    assert_eq!(follow(Some("ann")).err(), Some(FeedRefused::OfMember));
    assert_eq!(follow(Some("eve")).err(), Some(FeedRefused::OfMembers));
    let managers: Vec<_> = (0..4).map(|_| follow(None).expect("managers have places")).collect();
    assert_eq!(follow(None).err(), Some(FeedRefused::OfTenant));
    drop((members, managers));
    assert!(follow(Some("ann")).is_ok());
}
