//! `access.denied`: told by every check that denies, from the moment on that somebody wants to know.

use serde_json::json;

use super::{register, settings, tenant};
use crate::support::Receiver;

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
