//! A draft in shadow of which every replica compares checks.

use serde_json::json;

use super::{tenant_at, two_replicas};
use crate::support::eventually;

const DRAFT: &str = "/api/v1/drafts/none";
const SHADOW: &str = "/api/v1/drafts/none/shadow";

#[test]
fn the_checks_of_all_replicas_are_counted() {
    let replicas = two_replicas();
    let [here, there] = tenant_at(&replicas);
    here.rule("alice", "doc:read", "read", "allow");
    let draft = json!({"bundle": {"rules": []}, "shadow": true});
    here.manage(format!("PUT {DRAFT}"), &draft).is(201);
    let flips = || here.get(SHADOW).is(200).json()["allow_to_deny"].as_u64();
    let mut own = 0;
    for _ in 0..5 {
        here.decide("alice", "doc:read", "read");
        own += 1;
    }
    assert_eq!(flips(), Some(own), "those of this replica are there at once");
    eventually("the other replica compares and stores", || {
        there.decide("alice", "doc:read", "read");
        flips() > Some(own)
    });
    here.delete(DRAFT).is(204);
    there.get(SHADOW).refused(404, "NOT_FOUND");
}
