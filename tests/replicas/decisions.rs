//! The record of decisions of two servers: what one recorded, the other one shows within a second.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::tenant_at;
use crate::support::{Provider, Reply, Request, Server, Settings, Tenant, eventually};

/// Much more than the second that is promised, for a machine that is busy.
const SOON: Duration = Duration::from_secs(20);
const LIST: &str = "/api/v1/decisions";
const MISSING: &str = "x-missing-replicas";

/// Two servers that record their decisions, each with its own write-ahead files.
fn two_recording() -> [Server; 2] {
    let settings = Settings::new(Provider::shared()).recording();
    [1, 2].map(|number| {
        let buffer = settings.path(&format!("buffer-{number}")).display().to_string();
        settings.clone().set("DECISION_LOG_BUFFER", buffer).start()
    })
}

/// Two servers that record, and that know of each other.
fn two_that_answer() -> ([Server; 2], [Tenant<'static>; 2]) {
    let replicas = two_recording();
    let tenants = tenant_at(&replicas);
    for (here, there) in [(0, 1), (1, 0)] {
        let id = check(&tenants[here], &format!("probe-{here}"));
        eventually("the other replica is asked", || {
            tenants[there].get(&format!("{LIST}/{id}")).status == 200
        });
    }
    (replicas, tenants)
}

fn read(subject: &str) -> Value {
    json!({"subject": subject, "resource": "doc:read", "action": "read"})
}

/// Returns the id of the record of a check.
#[track_caller]
fn check(tenant: &Tenant<'_>, subject: &str) -> String {
    let reply = tenant.check(&read(subject)).is(200);
    let id = reply.header("x-decision-id");
    assert!(id.is_some(), "it is recorded");
    id.unwrap_or_default().to_owned()
}

#[track_caller]
fn ids(reply: &Reply) -> Vec<String> {
    let json = reply.json();
    assert!(json.is_array(), "{json}");
    let records = json.as_array().into_iter().flatten();
    records.map(|record| record["id"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_replica_shows_what_the_other_one_recorded_within_a_second() {
    let (_replicas, tenants) = two_that_answer();
    for round in 0..10 {
        let (here, there) = (&tenants[round % 2], &tenants[1 - round % 2]);
        let subject = format!("user-{round}");
        let id = check(here, &subject);
        let asked = Instant::now();
        let path = format!("{LIST}?subject={subject}");
        eventually("it is listed", || ids(&there.get(&path).is(200)) == [id.clone()]);
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
        let shown = there.get(&format!("{LIST}/{id}")).is(200).json();
        assert_eq!(shown, here.get(&format!("{LIST}/{id}")).is(200).json());
        let stats = there.get(&format!("{LIST}/stats?subject={subject}")).is(200).json();
        let group = json!({"allow": 0, "deny": 1, "undetermined": 0});
        assert_eq!(stats, json!({"complete": true, "groups": [group]}));
    }
}

#[test]
fn pages_merge_the_records_of_both_replicas_in_order() {
    let (_replicas, tenants) = two_that_answer();
    let mut made: Vec<String> =
        (0..12).map(|round| check(&tenants[round * 7 % 5 % 2], "ann")).collect();
    made.sort_unstable();
    made.reverse();
    for tenant in &tenants {
        let all = format!("{LIST}?subject=ann");
        eventually("all are there", || ids(&tenant.get(&all).is(200)).len() == made.len());
        let (mut path, mut found) = (format!("{LIST}?subject=ann&limit=5"), Vec::new());
        loop {
            let page = tenant.get(&path).is(200);
            assert_eq!(page.header(MISSING), None);
            found.extend(ids(&page));
            let Some(next) = page.next_page() else { break };
            path = next.to_owned();
        }
        assert_eq!(found, made);
    }
    // A member sees nothing of that, wherever it was recorded.
    let zoe = tenants[1].token("zoe", &["user"]);
    let own = tenants[1].send(&Request::new(format!("GET {LIST}")).token(&zoe)).is(200);
    assert_eq!(ids(&own), [""; 0]);
}

#[test]
fn another_tenant_sees_nothing_of_either_replica() {
    let (replicas, tenants) = two_that_answer();
    check(&tenants[0], "ann");
    let other = Tenant::with_provider(&replicas[0], Provider::shared(), "neighbour");
    let there = other.at(&replicas[1]);
    eventually("the other replica knows it", || there.check(&read("eve")).status == 200);
    let found = there.get(&format!("{LIST}?subject=ann")).is(200);
    assert_eq!(ids(&found), [""; 0]);
}

#[test]
fn an_erasure_reaches_the_write_ahead_files_of_the_other_replica() {
    let (_replicas, tenants) = two_that_answer();
    for tenant in &tenants {
        check(tenant, "ann");
        check(tenant, "bob");
    }
    let erased = tenants[0].manage(format!("DELETE {LIST}?subject=ann"), &json!(null)).is(200);
    assert_eq!(erased.json(), json!({"erased": 2}));
    for tenant in &tenants {
        assert_eq!(ids(&tenant.get(&format!("{LIST}?subject=ann")).is(200)), [""; 0]);
        assert_eq!(ids(&tenant.get(&format!("{LIST}?subject=bob")).is(200)).len(), 2);
    }
}

#[test]
fn an_answer_says_that_a_replica_is_frozen_and_one_that_is_gone_is_not_waited_for() {
    let (mut replicas, tenants) = two_that_answer();
    let here = &tenants[0];
    check(&tenants[1], "ann");
    replicas[1].process.signal("STOP");
    let part = here.get(&format!("{LIST}?subject=ann")).is(200);
    assert_eq!((ids(&part).len(), part.header(MISSING)), (0, Some("1")));
    let stats = here.get(&format!("{LIST}/stats")).is(200).json();
    assert_eq!(stats["complete"], json!(false));
    replicas[1].process.signal("CONT");
    eventually("it answers again", || {
        let all = here.get(&format!("{LIST}?subject=ann")).is(200);
        (ids(&all).len(), all.header(MISSING)) == (1, None)
    });
    replicas[1].process.kill();
    eventually("it is gone", || {
        here.get(&format!("{LIST}?subject=ann")).is(200).header(MISSING).is_none()
    });
}
