//! `access.denied`: told by every check that denies, from the moment on that somebody wants to know; and held back from
//! other events.

use serde_json::{Value, json};

use super::{register, settings, tenant};
use crate::support::{Answer, Delivery, Receiver, Request, Server, Tenant};

#[test]
fn a_denied_check_is_told_as_soon_as_the_webhook_is_acknowledged() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    for round in 0..20 {
        tenant.decide("too-early", "doc:read", "read").is_default();
        let webhook = register(&tenant, &receiver.url("/"), &["access.denied"]);
        tenant.decide(&format!("told-{round}"), "doc:read", "read").is_default();
        let told = receiver.wait_for(round + 1);
        assert_eq!(told[round].json()["data"]["subject"], format!("told-{round}"));
        match round % 2 {
            0 => tenant.delete(&webhook).is(204),
            _ => tenant
                .manage(format!("PUT {webhook}"), &json!({"events": ["webhook.test"]}))
                .is(200),
        };
    }
    tenant.decide("too-late", "doc:read", "read").is_default();
    let webhook = register(&tenant, &receiver.url("/"), &["webhook.test"]);
    super::test(&tenant, &webhook);
    assert_eq!(receiver.wait_for(21)[20].kind(), "webhook.test");
}

#[test]
fn many_at_once_are_all_told_once() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    register(&tenant, &receiver.url("/"), &["access.denied"]);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let tenant = &tenant;
            scope.spawn(move || {
                for number in 0..25 {
                    let subject = format!("{thread}-{number}");
                    tenant.decide(&subject, "doc:read", "read").is_default();
                }
            });
        }
    });
    let told = receiver.wait_for(200);
    let mut subjects: Vec<_> =
        told.iter().map(|one| one.json()["data"]["subject"].to_string()).collect();
    let order: Vec<_> = told.iter().map(crate::support::Delivery::id).collect();
    assert!(order.is_sorted(), "in order of commit");
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), 200);
}

/// Registers a webhook for denied checks and changes of rules, at a receiver that holds denied checks.
fn held(tenant: &Tenant<'_>) -> Receiver {
    let receiver = Receiver::with(|delivery| match &*delivery.kind() {
        "access.denied" => Answer::Hold,
        _ => Answer::Status(200),
    });
    register(tenant, &receiver.url("/"), &["access.denied", "policy.rbac.changed"]);
    receiver
}

#[test]
fn other_events_are_not_behind_denials() {
    let server = settings().start();
    let tenant = tenant(&server);
    let receiver = held(&tenant);
    for number in 0..5 {
        tenant.decide(&format!("held-{number}"), "doc:read", "read").is_default();
    }
    receiver.wait_for(1);
    for number in 0..3 {
        tenant.rule(&format!("role-{number}"), "doc:write", "write", "allow");
    }
    // Nothing of this waits for the denial that the receiver holds; and the order of the others stays.
    let told = receiver.wait_for(4);
    let kinds: Vec<_> = told.iter().map(Delivery::kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "policy.rbac.changed").count(), 3, "{kinds:?}");
    receiver.release();
    let told = receiver.wait_for(8);
    for kind in ["policy.rbac.changed", "access.denied"] {
        let of_kind = told.iter().filter(|one| one.kind() == kind);
        assert!(of_kind.map(Delivery::id).is_sorted(), "{kind}");
    }
}

/// Causes six denials while the receiver holds the first. Returns the subjects that arrive and the dropped denials that
/// each reports, and what the metric counts.
fn flood(server: &Server, arriving: usize) -> (Vec<(String, Value)>, String) {
    let tenant = tenant(server);
    let receiver = held(&tenant);
    for number in 0..6 {
        tenant.decide(&number.to_string(), "doc:read", "read").is_default();
        receiver.wait_for(1);
    }
    receiver.release();
    let arrived = receiver.wait_for(arriving);
    let arrived = arrived.iter().map(|one| one.json()["data"].clone());
    let arrived = arrived.map(|data| {
        (data["subject"].as_str().unwrap_or_default().to_owned(), data["dropped"].clone())
    });
    let metrics = tenant.send(&Request::new("GET /metrics")).is(200).text;
    let series = "portcullis_denials_dropped_total ";
    let dropped = metrics.lines().find_map(|line| line.strip_prefix(series));
    (arrived.collect(), dropped.expect("a series").to_owned())
}

#[test]
fn the_oldest_denials_beyond_the_limit_are_dropped_and_reported() {
    let server = settings().set("WEBHOOK_MAX_WAITING_DENIALS", "2").start();
    // The first is under way when it is dropped.
    let expected = [("0", Value::Null), ("4", json!(4)), ("5", Value::Null)];
    let expected = expected.map(|(subject, dropped)| (subject.to_owned(), dropped)).to_vec();
    assert_eq!(flood(&server, 3), (expected, "4".to_owned()));
}

#[test]
fn below_the_limit_no_denial_is_dropped() {
    let expected = (0..6).map(|subject: u32| (subject.to_string(), Value::Null)).collect();
    assert_eq!(flood(&settings().start(), 6), (expected, "0".to_owned()));
}
