//! Webhooks with several servers on one PostgreSQL, and with one whose PostgreSQL goes away.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use portcullis_test_postgres::Cluster;
use serde_json::{Value, json};

use crate::everywhere::deliveries::{attempts, register, settings, tenant, test};
use crate::support::{Answer, Receiver, Request, Tenant, eventually};

/// Much more than a replica needs to hear of a webhook, for a machine that is busy.
const SOON: Duration = Duration::from_secs(20);

/// Waits until `tenant`'s server knows its issuer, and gives it back.
fn known<'t>(tenant: Tenant<'t>) -> Tenant<'t> {
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    eventually("the replica knows the issuer", || tenant.check(&check).status == 200);
    tenant
}

#[test]
fn a_webhook_that_one_replica_registered_hears_of_denials_on_the_other() {
    let settings = settings();
    let replicas = [settings.start(), settings.start()];
    let here = tenant(&replicas[0]);
    let there = known(here.at(&replicas[1]));
    let receiver = Receiver::start();
    for round in 0..5 {
        let before = receiver.count();
        let webhook = register(&here, &receiver.url("/"), &["access.denied"]);
        let registered = Instant::now();
        eventually("it is told", || {
            there.decide("mallory", "doc:read", "read").is_default();
            receiver.count() > before
        });
        assert!(registered.elapsed() < SOON, "{:?}", registered.elapsed());
        here.delete(&webhook).is(204);
        eventually("it is told no more", || {
            let before = receiver.count();
            there.decide(&format!("round-{round}"), "doc:read", "read").is_default();
            receiver.count() == before
        });
    }
}

#[test]
fn what_a_killed_replica_was_sending_is_sent_by_another() {
    let settings = settings().set("WEBHOOK_TIMEOUT", "8s");
    let mut first = settings.start();
    let here = tenant(&first);
    let count = AtomicUsize::new(0);
    let receiver = Receiver::with(move |_| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::Hang,
        _ => Answer::Status(200),
    });
    let webhook = register(&here, &receiver.url("/"), &["webhook.test"]);
    // Alone so far, so that it is the first one that sends.
    let ids = [test(&here, &webhook), test(&here, &webhook)];
    receiver.wait_for(1);
    let other = settings.start();
    first.process.kill();
    // Not before the lease is over.
    let arrived: Vec<_> = receiver.wait_for(3).iter().map(|one| one.id()).collect();
    assert_eq!(arrived, [&*ids[0], &*ids[0], &*ids[1]]);
    let there = known(here.at(&other));
    let recorded = attempts(&there, &webhook, |all| all.len() == 2);
    assert!(recorded.iter().all(|one| one["state"] == "delivered"), "{recorded:?}");
}

#[test]
fn replicas_share_the_work_and_send_everything_once_and_in_order() {
    let settings = settings();
    let replicas = [settings.start(), settings.start()];
    let here = tenant(&replicas[0]);
    let there = known(here.at(&replicas[1]));
    let receivers = [Receiver::start(), Receiver::start(), Receiver::start()];
    for receiver in &receivers {
        register(&here, &receiver.url("/"), &["policy.rbac.changed"]);
    }
    std::thread::scope(|scope| {
        for (index, tenant) in [&here, &there].into_iter().enumerate() {
            scope.spawn(move || {
                for number in 0..50 {
                    tenant.rule(&format!("user-{index}-{number}"), "doc:read", "read", "allow");
                }
            });
        }
    });
    for receiver in &receivers {
        let ids: Vec<_> = receiver.wait_for(100).iter().map(|one| one.id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "in order, and none twice");
    }
}

/// The denied checks of one batch.
const BATCH: usize = 50;

/// Causes the denied checks of one replica.
fn deny_batches(tenant: &Tenant<'_>, replica: usize, batches: usize) {
    let token = tenant.token("gateway", &["service"]);
    for batch in 0..batches {
        let subject = |number| json!({"subject": format!("{replica}-{batch}-{number}")});
        let checks: Vec<_> = (0..BATCH).map(subject).collect();
        let body = json!({"resource": "doc:read", "action": "read", "checks": checks});
        tenant.send(&Request::new("POST /api/v1/checks").token(&token).json(&body)).is(200);
    }
}

#[test]
fn no_denied_check_is_lost_while_receivers_fail() {
    lose_no_denied_check(10);
}

#[test]
#[ignore = "a soak: `.ci/long` runs it"]
fn none_of_many_denied_checks_is_lost_while_receivers_fail() {
    lose_no_denied_check(400);
}

/// Lets each of two replicas deny `batches` batches of checks while two of three receivers fail.
fn lose_no_denied_check(batches: usize) {
    let settings = settings()
        .set("WEBHOOK_MAX_FAILURES", "1000")
        .set("WEBHOOK_MAX_WAITING_DENIALS", "50000")
        .set("WEBHOOK_DENIALS_AT_ONCE", "16");
    let replicas = [settings.start(), settings.start()];
    let here = tenant(&replicas[0]);
    let there = known(here.at(&replicas[1]));
    let failing = [500, 503].map(|status| Receiver::with(move |_| Answer::Status(status)));
    let receiver = Receiver::start();
    for url in failing.iter().chain([&receiver]).map(|receiver| receiver.url("/")) {
        register(&here, &url, &["access.denied"]);
    }
    eventually("the other replica knows of the webhooks", || {
        let before = receiver.count();
        there.decide("first", "doc:read", "read").is_default();
        receiver.count() > before
    });
    std::thread::scope(|scope| {
        for (replica, tenant) in [&here, &there].into_iter().enumerate() {
            scope.spawn(move || deny_batches(tenant, replica, batches));
        }
    });
    let told = || -> BTreeSet<String> {
        let told = receiver.deliveries();
        let subjects = told.iter().map(|one| one.json()["data"]["subject"].to_string());
        subjects.filter(|subject| subject != r#""first""#).collect()
    };
    let all = replicas.len() * batches * BATCH;
    loop {
        let before = receiver.count();
        let missing = all - told().len();
        if missing == 0 {
            break;
        }
        eventually("the next ones arrive", || receiver.count() >= before + missing.min(500));
    }
    assert!(failing.iter().all(|receiver| receiver.count() > 0), "their attempts failed meanwhile");
    for tenant in [&here, &there] {
        let metrics = tenant.send(&Request::new("GET /metrics")).is(200).text;
        assert!(metrics.contains("\nportcullis_denials_lost_total 0\n"), "{metrics}");
    }
}

#[test]
fn without_postgresql_decisions_are_answered_and_deliveries_go_on_afterwards() {
    let Some(mut cluster) = Cluster::own() else { return };
    let server = settings().on_database(cluster.database()).start();
    let tenant = tenant(&server);
    let (held, told) = (Receiver::with(|_| Answer::Hold), Receiver::start());
    let webhook = register(&tenant, &held.url("/"), &["webhook.test"]);
    register(&tenant, &told.url("/"), &["access.denied"]);
    tenant.decide("mallory", "doc:read", "read").is_default();
    told.wait_for(1);
    let id = test(&tenant, &webhook);
    held.wait_for(1);
    cluster.stop();
    held.release();
    let began = Instant::now();
    tenant.decide("lost", "doc:read", "read").is_default();
    assert!(began.elapsed() < Duration::from_secs(15), "the answer does not wait for the store");
    let counted = |line: &String| line.contains("may be lost") && line.contains("lost=1");
    let counted = server.process.err.wait_for(|lines| lines.iter().any(counted).then_some(()));
    assert!(counted.is_some(), "it is counted:\n{}", server.process.err.text());
    cluster.start();
    // What was answered meanwhile is not forgotten: there is no second attempt.
    let all = attempts_again(&tenant, &webhook);
    assert_eq!((&all[0]["event_id"], &all[0]["state"]), (&json!(id), &json!("delivered")));
    assert_eq!(held.count(), 1);
    eventually("denied checks are told again", || {
        tenant.decide("mallory", "doc:read", "read").is_default();
        told.count() > 1
    });
}

/// The attempts of a webhook, once the database answers again and has one.
fn attempts_again(tenant: &Tenant<'_>, webhook: &str) -> Vec<Value> {
    let list = format!("{webhook}/deliveries");
    eventually("the database is back", || tenant.get(&list).status == 200);
    attempts(tenant, webhook, |all| all.len() == 1)
}
