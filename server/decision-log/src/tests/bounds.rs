//! The bounds of a record, and records that are lost without others.

use portcullis_model::decision::Treatment;
use serde_json::{Value, json};

use super::*;
use crate::bounds::{MAX_DEPTH, MAX_HASHED, MAX_TEXT};
use crate::buffer::Buffer;
use crate::frame::Kind;
use crate::segment::Segment;
use crate::{HashKey, Lost, Minimisation};

/// The depth of the JSON of a token that the service accepts.
const DEEP: usize = 126;

fn parsed(value: &Value) -> Json<'static> {
    json::parse(value.to_string().as_bytes()).expect("valid").into_owned()
}

fn nested(depth: usize) -> Json<'static> {
    let text = "[".repeat(depth) + &"]".repeat(depth);
    json::parse(text.as_bytes()).expect("valid").into_owned()
}

/// Terms that hash the attributes `user.hashed` and `user.more`.
fn hashing() -> Minimisation {
    let treatments = [("user.hashed", Treatment::Hash), ("user.more", Treatment::Hash)];
    Minimisation::new(HashKey::for_tenant(&[7; 32], "acme"), treatments).expect("not all is kept")
}

/// Records a check with these attributes of the subject, and returns its record.
async fn recorded(user: &Value, claim: &Json<'_>) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, json, terms) = (Numbered::default(), parsed(&json!({"user": user})), hashing());
    let token = |members: &mut RecordMembers<'_>| members.json_attribute("token", "deep", claim);
    let check = RecordedDecision { token: Some(&token), ..denial(ids.next(), "dana", sent(&json)) };
    let pending = log.append_durably(&check, Some(&terms)).expect("is taken");
    pending.written().await.expect("is written");
    serde_json::to_value(&all(&log).await[0]).expect("JSON")
}

#[tokio::test]
async fn an_attribute_beyond_a_bound_is_dropped_by_name() {
    let items = |count: usize| json!((0..count).map(|_| 1).collect::<Vec<_>>());
    // The text has its quotation marks.
    let text = |bytes: usize| json!("x".repeat(bytes - 2));
    let kept = json!({"text": text(MAX_TEXT), "many": items(20_000), "hashed": items(MAX_HASHED)});
    let record = recorded(&kept, &nested(MAX_DEPTH)).await;
    assert_eq!(record.get("dropped"), None);
    let user = &record["attributes"]["user"];
    assert_eq!((&user["text"], &user["many"]), (&kept["text"], &kept["many"]));
    assert_eq!(user["hashed"].as_array().map(Vec::len), Some(MAX_HASHED));
    for (user, claim, dropped) in [
        (json!({"text": text(MAX_TEXT + 1), "a": 1}), nested(1), "user.text"),
        (json!({"many": items(400_000), "a": 1}), nested(1), "user.many"),
        (json!({"hashed": items(MAX_HASHED + 1), "a": 1}), nested(1), "user.hashed"),
        (json!({"hashed": items(600), "a": 1, "more": items(600)}), nested(1), "user.more"),
        (json!({"hashed": items(400_000), "a": 1}), nested(1), "user.hashed"),
        (json!({"a": 1}), nested(MAX_DEPTH + 1), "token.deep"),
        (json!({"a": 1}), nested(DEEP), "token.deep"),
    ] {
        let record = recorded(&user, &claim).await;
        assert_eq!(record["dropped"], json!([dropped]));
        assert_eq!(record["attributes"]["user"]["a"], 1);
        let (namespace, name) = dropped.split_once('.').expect("a path");
        let place = if namespace == "user" { "/attributes/user" } else { "/token" };
        assert_eq!(record.pointer(place).and_then(|place| place.get(name)), None, "{dropped}");
    }
}

#[tokio::test]
async fn a_record_that_is_too_large_is_lost_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, metrics) = open(folder.path());
    let members = (0..100).map(|number| (format!("a{number}"), json!("x".repeat(60_000))));
    let large = parsed(&json!({"user": members.collect::<serde_json::Map<_, _>>()}));
    let (ids, small) = (Numbered::default(), attributes());
    let add = |attributes| log.append(&denial(ids.next(), "dana", attributes), None);
    assert_eq!([add(sent(&small)), add(sent(&large))], [Ok(()), Err(Lost::TooLarge)]);
    assert_eq!(add(sent(&small)), Ok(()));
    log.close().await.expect("closes");
    assert_eq!((all(&log).await.len(), metrics.lost(Lost::TooLarge)), (2, 1));
}

#[tokio::test]
async fn a_tenant_that_fills_its_part_of_the_folder_loses_its_own_records_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let metrics = LogMetrics::default();
    let log = DecisionLog::open(config(folder.path(), 64 * 1024), metrics.clone()).expect("opens");
    let (ids, json) = (Numbered::default(), attributes());
    let add = |tenant| {
        let decision = RecordedDecision { tenant, ..denial(ids.next(), "dana", sent(&json)) };
        log.append_durably(&decision, None).expect("is taken")
    };
    let mut kept = 0;
    while add("acme").written().await.is_ok() {
        kept += 1;
    }
    assert!(kept > 10, "{kept}");
    // They are in one batch, or in three.
    let pending = [add("acme"), add("bolt"), add("acme")];
    let mut outcomes = Vec::new();
    for pending in pending {
        outcomes.push(pending.written().await);
    }
    assert_eq!(outcomes, [Err(Lost::DiskFull), Ok(()), Err(Lost::DiskFull)]);
    assert_eq!((metrics.lost(Lost::DiskFull), metrics.written.get()), (3, kept + 1));
    // The log takes a record that nobody waits for, and counts it once it is lost.
    let decision = denial(ids.next(), "dana", sent(&json));
    assert_eq!(log.append(&decision, None), Ok(()));
    let allow = RecordedDecision { decision: Effect::Allow, ..decision };
    (0..3).for_each(|_| log.leave_out(&allow));
    let other = RecordedDecision { tenant: "bolt", ..allow };
    (0..2).for_each(|_| log.leave_out(&other));
    log.close().await.expect("closes");
    assert_eq!((metrics.lost(Lost::DiskFull), metrics.left_out.get()), (4 + 3, 2));
}

#[test]
fn a_tenant_that_fills_its_part_of_the_buffer_leaves_room_for_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let metrics = LogMetrics::default();
    let segment = Segment::create(folder.path(), 0, &metrics).expect("makes");
    // Nobody empties it.
    let buffer = Buffer::new(segment, metrics);
    let large = parsed(&json!({"user": {"text": "x".repeat(60_000)}}));
    let ids = Numbered::default();
    let add = |tenant| {
        let decision = RecordedDecision { tenant, ..denial(ids.next(), "dana", sent(&large)) };
        buffer.add(&decision, Kind::Async, None).map(|_| ())
    };
    let fill = |tenant| (0..1_000).take_while(|_| add(tenant).is_ok()).count();
    let [first, second] = ["acme", "bolt"].map(fill);
    assert_eq!(add("acme"), Err(Lost::BufferFull));
    assert!(first > 100 && second > first / 3, "{first} {second}");
}
