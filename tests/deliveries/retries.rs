//! Failed attempts: what counts as one, when the next one is made, and what becomes of everything else
//! meanwhile.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{SECRET, attempts, register, settings, tenant, test};
use crate::support::{Answer, NO_ID, Receiver, Request, Tenant};

/// The attempts of a webhook, oldest first, once there are `count`.
#[track_caller]
fn history(tenant: &Tenant<'_>, webhook: &str, count: usize) -> Vec<Value> {
    let mut all = attempts(tenant, webhook, |all| all.len() >= count);
    all.reverse();
    all
}

#[test]
fn a_failed_delivery_is_tried_again_until_it_is_dead() {
    let server = settings().set("WEBHOOK_MAX_FAILURES", "3").start();
    let (tenant, receiver) = (tenant(&server), Receiver::with(|_| Answer::Status(503)));
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    let id = test(&tenant, &webhook);
    let all = history(&tenant, &webhook, 3);
    let states: Vec<_> = all.iter().map(|one| one["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["retrying", "retrying", "dead"]);
    for (number, attempt) in all.iter().enumerate() {
        assert_eq!(attempt["retry_count"], number);
        assert_eq!((&attempt["http_status"], &attempt["event_id"]), (&json!(503), &json!(id)));
        assert_eq!(attempt["error"], "the receiver answered with 503");
        assert_eq!(attempt["next_attempt_at"].is_null(), number == 2, "{attempt}");
        assert_eq!(attempt["delivery_id"], all[0]["delivery_id"]);
    }
    // The bytes are the same each time, and so is the id.
    let requests = receiver.deliveries();
    assert!(requests.iter().all(|one| one.body == requests[0].body && one.is_signed_with(SECRET)));
    // A dead delivery can be made again, and its failures count from 0 again.
    receiver.answer_by(|_| Answer::Status(204));
    let delivery = all[0]["delivery_id"].as_str().expect("an id");
    let again = format!("POST {webhook}/deliveries/{delivery}/redeliver");
    tenant.send(&tenant.managing(again)).is(202).has(&json!({"event_id": id}));
    let last = history(&tenant, &webhook, 4).remove(3);
    assert_eq!((&last["retry_count"], &last["state"]), (&json!(0), &json!("delivered")));
    assert_eq!(receiver.deliveries()[3].body, requests[0].body);
    let unknown = format!("POST {webhook}/deliveries/{NO_ID}/redeliver");
    tenant.send(&tenant.managing(unknown)).refused(404, "NOT_FOUND");
}

/// The answer to the first request, and the record of it.
fn bad_answers() -> Vec<(Answer, Value, &'static str)> {
    let raw = |text: &str| Answer::Raw(text.as_bytes().to_vec());
    vec![
        (Answer::Status(404), json!(404), "the receiver answered with 404"),
        (
            raw("HTTP/1.1 302 Found\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"),
            json!(302),
            "the receiver answered with 302",
        ),
        (Answer::Reset, Value::Null, "no complete answer"),
        (Answer::Hang, Value::Null, "no complete answer in time"),
        (Answer::Status(410), json!(410), "the receiver answered with 410: its address is gone"),
        (
            raw("HTTP/1.1 503 No\r\ncontent-length: 9\r\n\r\nhalf"),
            json!(503),
            "the receiver answered with 503",
        ),
        (raw("SSH-2.0-OpenSSH_9.2\r\n"), Value::Null, "no complete answer"),
    ]
}

#[test]
fn whatever_is_no_2xx_answer_in_time_is_a_failure() {
    let server = settings().set("WEBHOOK_TIMEOUT", "3s").start();
    let tenant = tenant(&server);
    for (answer, status, error) in bad_answers() {
        let count = AtomicUsize::new(0);
        let receiver = Receiver::with(move |_| match count.fetch_add(1, Ordering::Relaxed) {
            0 => answer.clone(),
            _ => Answer::Status(200),
        });
        let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
        test(&tenant, &webhook);
        let all = history(&tenant, &webhook, 2);
        assert_eq!(all[0]["http_status"], status, "{}", all[0]);
        let said = all[0]["error"].as_str().expect("an error");
        assert!(said.starts_with(error), "{said}");
        assert_eq!((&all[0]["state"], &all[1]["state"]), (&json!("retrying"), &json!("delivered")));
        assert!(receiver.deliveries().iter().all(|one| one.path == "/"), "no redirect is followed");
        tenant.delete(&webhook).is(204);
    }
}

#[test]
fn an_answer_that_breaks_off_after_a_2xx_head_delivers() {
    let server = settings().start();
    let tenant = tenant(&server);
    let broken = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec();
    let receiver = Receiver::with(move |_| Answer::Raw(broken.clone()));
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    test(&tenant, &webhook);
    let attempt = history(&tenant, &webhook, 1).remove(0);
    assert_eq!((&attempt["state"], &attempt["error"]), (&json!("delivered"), &Value::Null));
    assert_eq!((&attempt["http_status"], &attempt["response_body"]), (&json!(200), &json!("half")));
}

#[test]
fn a_receiver_that_is_gone_is_retried_and_counted() {
    let server = settings().set("WEBHOOK_MAX_FAILURES", "2").start();
    let (tenant, receiver) = (tenant(&server), Receiver::with(|_| Answer::Status(410)));
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    test(&tenant, &webhook);
    let all = history(&tenant, &webhook, 2);
    let states: Vec<_> = all.iter().map(|one| one["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["retrying", "dead"]);
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    for (outcome, count) in [("gone", 2), ("retrying", 0), ("dead", 0)] {
        let line = format!("portcullis_webhook_attempts_total{{outcome=\"{outcome}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line} in {metrics}");
    }
}

#[test]
fn an_endless_answer_is_read_up_to_its_limit() {
    let server = settings().start();
    let tenant = tenant(&server);
    let mut endless = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..1_000 {
        endless.extend(format!("1000\r\n{}\r\n", "x".repeat(4_096)).as_bytes());
    }
    let receiver = Receiver::with(move |_| Answer::Raw(endless.clone()));
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    test(&tenant, &webhook);
    let attempt = history(&tenant, &webhook, 1).remove(0);
    assert_eq!(attempt["state"], "delivered");
    assert_eq!(attempt["response_body"].as_str().map(str::len), Some(4_096));
}

#[test]
fn a_waiting_retry_holds_up_no_later_event() {
    let server = settings().set("WEBHOOK_BACKOFF", "1h").start();
    let tenant = tenant(&server);
    let receiver = Receiver::with(|one| match one.kind().as_str() {
        "webhook.test" => Answer::Status(500),
        _ => Answer::Status(200),
    });
    let webhook = register(&tenant, &receiver.url("/"), &["policy.rbac.changed"]);
    test(&tenant, &webhook);
    for number in 0..5 {
        tenant.rule(&format!("user-{number}"), "doc:read", "read", "allow");
    }
    let subs = |one: &crate::support::Delivery| one.json()["data"]["sub"].clone();
    let told: Vec<_> = receiver.wait_for(6)[1..].iter().map(subs).collect();
    assert_eq!(told, ["user-0", "user-1", "user-2", "user-3", "user-4"]);
    let first = history(&tenant, &webhook, 6).remove(0);
    assert_eq!(first["state"], "retrying");
}

#[test]
fn first_attempts_go_out_one_at_a_time_and_a_slow_receiver_delays_no_other() {
    let server = settings().start();
    let tenant = tenant(&server);
    let (slow, healthy) = (Receiver::with(|_| Answer::Hold), Receiver::start());
    register(&tenant, &slow.url("/"), &["policy.rbac.changed"]);
    register(&tenant, &healthy.url("/"), &["policy.rbac.changed"]);
    for number in 0..10 {
        tenant.rule(&format!("user-{number}"), "doc:read", "read", "allow");
    }
    healthy.wait_for(10);
    assert_eq!(slow.count(), 1, "the second waits for the first");
    slow.release();
    let (slow, healthy) = (slow.wait_for(10), healthy.deliveries());
    let ids = |all: &[crate::support::Delivery]| all.iter().map(|one| one.id()).collect::<Vec<_>>();
    assert_eq!(ids(&slow), ids(&healthy));
}

#[test]
fn retries_go_to_the_present_address_signed_with_the_present_secret() {
    let server = settings().set("WEBHOOK_BACKOFF", "1s").start();
    let tenant = tenant(&server);
    let (old, new) = (Receiver::with(|_| Answer::Status(500)), Receiver::start());
    let webhook = register(&tenant, &old.url("/"), &["webhook.test"]);
    let id = test(&tenant, &webhook);
    old.wait_for(1);
    let rotated = "another-secret-of-the-same-friends";
    let change = json!({"url": new.url("/new"), "secret": rotated});
    tenant.manage(format!("PUT {webhook}"), &change).is(200);
    let retry = new.wait_for(1).remove(0);
    assert_eq!((retry.id(), &*retry.path), (id, "/new"));
    assert!(retry.is_signed_with(rotated) && !retry.is_signed_with(SECRET));
    assert!(old.deliveries()[0].is_signed_with(SECRET));
    assert_eq!(retry.body, old.deliveries()[0].body);
}

#[test]
fn a_deleted_webhook_drops_what_is_pending() {
    let server =
        settings().set("WEBHOOK_BACKOFF", "100ms").set("WEBHOOK_MAX_FAILURES", "99").start();
    let (tenant, receiver) = (tenant(&server), Receiver::with(|_| Answer::Status(500)));
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    test(&tenant, &webhook);
    receiver.wait_for(2);
    tenant.delete(&webhook).is(204);
    let after = receiver.count();
    // Another webhook is served for as long as a dozen retries would have taken.
    let other = Receiver::with(|_| Answer::Status(500));
    let second = register(&tenant, &other.url("/"), &["webhook.test"]);
    test(&tenant, &second);
    other.wait_for(12);
    assert!(receiver.count() <= after + 1, "at most the attempt that was under way");
    tenant.get(&format!("{webhook}/deliveries")).refused(404, "NOT_FOUND");
}

#[test]
fn old_attempts_are_removed_and_pending_ones_are_not() {
    let server = settings().set("WEBHOOK_RETENTION", "1s").set("WEBHOOK_BACKOFF", "3s").start();
    let tenant = tenant(&server);
    let count = AtomicUsize::new(0);
    let receiver = Receiver::with(move |_| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::Status(500),
        _ => Answer::Status(200),
    });
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    let id = test(&tenant, &webhook);
    attempts(&tenant, &webhook, |all| all.len() == 1);
    attempts(&tenant, &webhook, <[Value]>::is_empty);
    assert_eq!(receiver.wait_for(2)[1].id(), id);
    attempts(&tenant, &webhook, |all| all.len() == 1);
    attempts(&tenant, &webhook, <[Value]>::is_empty);
}

#[test]
fn attempts_are_paged_newest_first() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    let ids: Vec<_> = (0..5).map(|_| json!(test(&tenant, &webhook))).collect();
    attempts(&tenant, &webhook, |all| all.len() == 5);
    let (mut seen, mut path) = (Vec::new(), format!("{webhook}/deliveries?limit=2"));
    loop {
        let page = tenant.get(&path).is(200);
        let list = page.json();
        let events = list.as_array().expect("an array").iter().map(|one| one["event_id"].clone());
        seen.extend(events);
        let Some(next) = page.next_page() else { break };
        path = next.to_owned();
    }
    seen.reverse();
    assert_eq!(seen, ids);
}
