//! A record that is appended is found.

use portcullis_model::decision::Treatment;
use serde_json::{Value, json};

use super::*;
use crate::log::is_drawn;
use crate::{HashKey, Lost, Minimisation};

#[tokio::test]
async fn a_record_is_found_as_it_was_decided() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    let id = ids.next();
    log.append(&denial(id, "dana", sent(&json)), None).expect("is kept");
    log.close().await.expect("closes");
    let records = all(&log).await;
    assert_eq!(
        serde_json::to_value(&records).expect("JSON"),
        json!([{
            "id": id, "time": "2026-05-19T12:00:00.000Z", "tenant": "acme", "revision": 812, "entities_revision": 40,
            "via": "check", "request_id": "req-1", "caller": {"kind": "key", "sub": "svc"}, "subject": "dana",
            "domain": "acme", "resource": "chart:read", "action": "read",
            "attributes": {
                "user": {"pin": 1, "department": "er \"3\"", "teams": ["a", 2], "level": null},
                "resource": {"vip": false},
            },
            "token": {"ward": "er"}, "relations": {"viewer": true},
            "resolved": {"geo": {"values": {"country": "DE"}, "source": "call"}},
            "decision": "deny", "rule": "default-deny", "reason": "no RBAC rule allows it",
            "undetermined": ["resource.vip"], "us": 7,
        }])
    );
    let found = log.find("acme", id, ReadLimit::none()).await.expect("reads").into;
    assert_eq!(found.map(|record| record.id), Some(id));
    assert!(
        log.find("bolt", id, ReadLimit::none()).await.expect("reads").into.is_none(),
        "another tenant"
    );
    assert_eq!(log.append(&denial(id, "dana", sent(&json)), None), Err(Lost::Closed));
}

#[tokio::test]
async fn a_durable_record_is_written_and_a_page_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, metrics) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    let mut made = Vec::new();
    for subject in ["dana", "eve", "dana", "dana"] {
        let id = ids.next();
        let pending = log.append_durably(&denial(id, subject, sent(&json)), None);
        pending.expect("is taken").written().await.expect("is written");
        made.push(id);
    }
    assert_eq!(metrics.written.get(), 4);
    let selection = DecisionSelection { subject: Some("dana".to_owned()), ..Default::default() };
    let page = DecisionPage { before: None, limit: 2 };
    let first = log.query("acme", &selection, page, ReadLimit::none()).await.expect("reads").into;
    let ids = |page: &[DecisionRecord]| page.iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!((ids(&first.records), first.more), (vec![made[3], made[2]], true));
    let page = DecisionPage { before: Some(made[2]), limit: 2 };
    let last = log.query("acme", &selection, page, ReadLimit::none()).await.expect("reads").into;
    assert_eq!((ids(&last.records), last.more), (vec![made[0]], false));
}

#[tokio::test]
async fn each_member_of_a_selection_selects() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    log.append(&denial(ids.next(), "dana", sent(&json)), None).expect("is kept");
    log.close().await.expect("closes");
    let noon = Timestamp::from_millis;
    let text = |text: &str| Some(text.to_owned());
    let none = DecisionSelection::default;
    let table = [
        (DecisionSelection { from: Some(noon(NOON)), ..none() }, 1),
        (DecisionSelection { from: Some(noon(NOON + 1)), ..none() }, 0),
        (DecisionSelection { to: Some(noon(NOON)), ..none() }, 0),
        (DecisionSelection { subject: text("eve"), ..none() }, 0),
        (DecisionSelection { resource: text("chart:write"), ..none() }, 0),
        (DecisionSelection { action: text("write"), ..none() }, 0),
        (DecisionSelection { rule: text("default-deny"), ..none() }, 1),
        (DecisionSelection { request_id: text("req-2"), ..none() }, 0),
        (DecisionSelection { decision: Some(Effect::Allow), ..none() }, 0),
        (DecisionSelection { via: Some(Via::Batch), ..none() }, 0),
        (DecisionSelection { undetermined: Some(true), ..none() }, 1),
        (DecisionSelection { undetermined: Some(false), ..none() }, 0),
    ];
    for (selection, expected) in table {
        let found = log
            .query("acme", &selection, PAGE, ReadLimit::none())
            .await
            .expect("reads")
            .into
            .records
            .len();
        assert_eq!(found, expected, "{selection:?}");
    }
}

#[tokio::test]
async fn a_record_has_of_an_attribute_what_the_settings_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let treatments = [
        ("user.pin", Treatment::Hash),
        ("user.teams", Treatment::Hash),
        ("user.level", Treatment::Hash),
        ("resource.vip", Treatment::Reads),
        ("user.department", Treatment::Reads),
        ("token.ward", Treatment::Drop),
        ("geo.country", Treatment::Drop),
    ];
    let key = HashKey::for_tenant(&[7; 32], "acme");
    let hash = |text| json!({"hmac": key.hash(text)});
    let terms = Minimisation::new(key.clone(), treatments).expect("not all is kept");
    let (ids, json) = (Numbered::default(), attributes());
    log.append(&denial(ids.next(), "dana", sent(&json)), Some(&terms)).expect("is kept");
    log.close().await.expect("closes");
    let record = serde_json::to_value(&all(&log).await[0]).expect("JSON");
    let user = json!({
        "pin": hash("1"), "department": "er \"3\"", "teams": [hash("\"a\""), hash("2")], "level": null,
    });
    assert_eq!(record["attributes"], json!({"user": user, "resource": {}}));
    assert_eq!((&record["token"], &record["resolved"]["geo"]["values"]), (&json!({}), &json!({})));
    assert_eq!(record["dropped"], json!(["geo.country", "token.ward"]));
    assert_ne!(key.hash("1"), HashKey::for_tenant(&[7; 32], "bolt").hash("1"));
    assert!(Minimisation::new(key, [("user.pin", Treatment::Keep)]).is_none());
    assert_eq!(record["expected"], Value::Null);
}

#[tokio::test]
async fn an_append_allocates_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, _) = open(folder.path());
    let (ids, json) = (Numbered::default(), attributes());
    let made: Vec<Uuid> = (0..2_000).map(|_| ids.next()).collect();
    let append = |id: &Uuid| log.append(&denial(*id, "dana", sent(&json)), None).expect("is kept");
    // The first one makes the thread's buffers.
    append(&made[0]);
    let counted = allocation_counter::measure(|| made[1..].iter().for_each(append));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_share_of_the_ids_is_drawn() {
    let ids = Numbered::default();
    let made: Vec<Uuid> = (0..20_000).map(|_| ids.next()).collect();
    let drawn = |share| made.iter().filter(|id| is_drawn(**id, share)).count();
    assert_eq!((drawn(0.0), drawn(1.0)), (0, 20_000));
    assert!((4_500..5_500).contains(&drawn(0.25)), "{}", drawn(0.25));
}
