//! Erasures reach what the decisions about a person were made into: deliveries of denied checks, and reports of replays.

use serde_json::{Value, json};

use super::{listed, read, run, tenant_of};
use crate::everywhere::deliveries::{attempts, register, settings};
use crate::support::{Answer, Delivery, Receiver, eventually_some};

fn subject(delivery: &Delivery) -> String {
    delivery.json()["data"]["subject"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn no_denied_check_of_an_erased_person_is_sent_again() {
    let server = settings().recording().set("WEBHOOK_BACKOFF", "1s").start();
    let tenant = tenant_of(&server);
    let receiver = Receiver::with(|delivery| match &*subject(delivery) {
        "told" | "ann" if delivery.path == "/up" => Answer::Status(200),
        _ => Answer::Status(503),
    });
    let [up, down] =
        ["/up", "/down"].map(|path| register(&tenant, &receiver.url(path), &["access.denied"]));
    for _ in 0..3 {
        tenant.check(&read("ann")).is(200);
    }
    tenant.check(&read("told")).is(200);
    attempts(&tenant, &up, |all| all.len() == 4);
    attempts(&tenant, &down, |all| !all.is_empty());
    listed(&tenant, "", 4);
    let erased = tenant.manage("DELETE /api/v1/decisions?subject=ann", &json!(null)).is(200).json();
    assert_eq!(erased["erased"], 3);
    assert_eq!(
        erased["parts"],
        json!([{"part": "decisions", "removed": 3}, {"part": "deliveries", "removed": 6}])
    );
    let sent = &erased["remains"][0];
    assert_eq!(
        (&sent["where"], sent["count"].as_u64() >= Some(4)),
        (&json!("receivers"), true),
        "{erased}"
    );
    // No attempt of `down` was a success.
    assert!(sent["why"].as_str().is_some_and(|why| why.contains("may have them")), "{erased}");
    // What fails goes on with others alone.
    receiver.forget();
    receiver.answer_by(|_| Answer::Status(200));
    attempts(&tenant, &down, |all| all.iter().any(|one| one["state"] == "delivered"));
    assert!(receiver.deliveries().iter().all(|delivery| subject(delivery) == "told"));
    assert_eq!(attempts(&tenant, &up, |_| true).len(), 1, "the others of the list are gone");
    // Later checks are told.
    tenant.check(&read("ann")).is(200);
    attempts(&tenant, &up, |all| all.len() == 2);
    attempts(&tenant, &down, |all| {
        all.iter().filter(|one| one["state"] == "delivered").count() == 2
    });
    let again = run(&server, &tenant, &["erase", "--subject", "ann"]);
    assert_eq!(again.out, "erased 1 decision\nerased 2 deliveries", "{}", again.err);
    assert!(
        again.err.contains("left: 2 with receivers") && again.err.contains("backups"),
        "{}",
        again.err
    );
}

#[test]
fn a_report_from_before_an_erasure_is_forgotten() {
    let server = super::settings().start();
    let tenant = tenant_of(&server);
    for subject in ["ann", "bob"] {
        tenant.check(&read(subject)).is(200);
    }
    listed(&tenant, "", 2);
    let start = || {
        let body = json!({"candidate": {"bundle": {"rules": []}}});
        let id = tenant.manage("POST /api/v1/replays", &body).is(202).id();
        let path = format!("/api/v1/replays/{id}");
        let report = eventually_some("it ends", || {
            let report = tenant.get(&path).is(200).json();
            (report["complete"] == true).then_some(report)
        });
        (path, report)
    };
    let (before, report) = start();
    assert_eq!(report["replayed"], 2, "{report}");
    tenant.manage("DELETE /api/v1/decisions?subject=ann", &Value::Null).is(200);
    tenant.get(&before).refused(404, "NOT_FOUND");
    assert_eq!(start().1["replayed"], 1);
}
