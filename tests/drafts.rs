//! `/api/v1/drafts`: bundles beside the content that decides (`docs/semantics.md`, section 18.2).

use serde_json::{Value, json};

use crate::setup;
use crate::support::Tenant;

const DRAFT: &str = "/api/v1/drafts/stricter";

fn rules(subjects: &[&str]) -> Value {
    let rule =
        |sub: &&str| json!({"sub": sub, "obj": "doc:read", "act": "read", "effect": "allow"});
    json!({"rules": subjects.iter().map(rule).collect::<Vec<_>>()})
}

fn subjects(tenant: &Tenant<'_>) -> Vec<Value> {
    let rules = tenant.get("/api/v1/resources/policies").is(200).json();
    rules.as_array().expect("a list").iter().map(|rule| rule["sub"].clone()).collect()
}

#[test]
fn a_draft_decides_nothing_until_it_is_published() {
    let tenant = Tenant::new();
    let kept = tenant.rule("ann", "doc:read", "read", "allow");
    tenant.rule("bob", "doc:read", "read", "allow");
    let put = format!("PUT {DRAFT}");
    let body = json!({"bundle": rules(&["ann", "cid"]), "shadow": true});
    let stored = tenant.manage(&put, &body).is(201);
    let answer = stored.json();
    let mut draft = answer.clone();
    draft.as_object_mut().expect("an object").remove("counts");
    assert_eq!((&draft["name"], &draft["shadow"]), (&json!("stricter"), &json!(true)));
    assert_eq!(draft["bundle"], body["bundle"]);
    assert_eq!(tenant.manage(&put, &body).is(200).json(), answer, "the same again");
    assert_eq!(stored.header("etag"), tenant.get(DRAFT).is(200).header("etag"));
    let other = json!({"bundle": rules(&["dan"])});
    let new = tenant.managing(&put).json(&other).header("if-none-match", "*");
    tenant.send(&new).refused(412, "PRECONDITION_FAILED");
    assert_eq!(tenant.get(DRAFT).is(200).json(), draft);
    assert_eq!(tenant.get("/api/v1/drafts").is(200).json(), json!([draft]));
    assert_eq!(subjects(&tenant), ["ann", "bob"]);

    let publish = format!("POST {DRAFT}/publish");
    let stale = tenant.managing(&publish).header("if-match", "\"x\"");
    tenant.send(&stale).refused(412, "PRECONDITION_FAILED");
    let answer = tenant.get(DRAFT).is(200);
    let tag = answer.header("etag").expect("a tag").to_owned();
    let done = tenant.send(&tenant.managing(&publish).header("if-match", &tag)).is(200).json();
    assert_eq!((&done["applied"], &done["revision"]), (&json!(true), &json!(3)));
    assert_eq!(subjects(&tenant), ["ann", "cid"]);
    let ann = tenant.get(&format!("/api/v1/resources/policies?id={kept}")).is(200).json();
    assert_eq!(ann["sub"], "ann", "what stays keeps its id");
    tenant.get(DRAFT).refused(404, "NOT_FOUND");
    let made = tenant.get("/api/v1/revisions/3").is(200).json();
    assert_eq!((&made["via"], &made["count"]), (&json!("draft"), &json!(2)));
}

#[test]
fn a_draft_is_validated_and_bounded() {
    let tenant = Tenant::new();
    let put = format!("PUT {DRAFT}");
    for (body, fault) in [
        (json!({}), "`bundle` is missing"),
        (json!({"bundle": {"rules": [{}]}}), "/bundle/rules/0"),
        (json!({"bundle": {"webhooks": []}}), "/bundle/webhooks"),
        (json!({"bundle": {"resolvers": []}}), "/bundle/resolvers"),
        (json!({"bundle": {}, "shadow": 1}), "/shadow"),
    ] {
        let refused = tenant.manage(&put, &body).refused(400, "VALIDATION_ERROR");
        assert!(refused.text.contains(fault), "{body}: {}", refused.text);
    }
    if !setup::is_saas() {
        // Another domain is another tenant, and no check of this one is in it.
        let mut foreign = json!({"bundle": rules(&["ann"])});
        foreign["bundle"]["rules"][0]["dom"] = json!("elsewhere");
        let refused = tenant.manage(&put, &foreign).refused(400, "VALIDATION_ERROR");
        assert!(refused.text.contains("/bundle/rules/0/dom"), "{}", refused.text);
    }
    tenant.manage("PUT /api/v1/drafts/a%20b", &json!({"bundle": {}})).refused(404, "NOT_FOUND");
    for number in 0..20 {
        tenant.manage(format!("PUT /api/v1/drafts/d{number}"), &json!({"bundle": {}})).is(201);
    }
    tenant.manage(&put, &json!({"bundle": {}})).refused(409, "CONFLICT");
    tenant.delete("/api/v1/drafts/d0").is(204);
    tenant.delete("/api/v1/drafts/d0").refused(404, "NOT_FOUND");
    tenant.manage(&put, &json!({"bundle": {}})).is(201);
}

#[test]
fn managed_objects_change_only_by_force() {
    let tenant = Tenant::new();
    let apply = json!({"owner": "git:a", "bundle": rules(&["ann"])});
    tenant.manage("POST /api/v1/apply", &apply).is(200);
    tenant.manage(format!("PUT {DRAFT}"), &json!({"bundle": rules(&["bob"])})).is(201);
    let publish = format!("POST {DRAFT}/publish");
    tenant.send(&tenant.managing(&publish)).refused(409, "MANAGED");
    tenant.send(&tenant.managing(format!("{publish}?force=true"))).is(200);
    assert_eq!(subjects(&tenant), ["bob"]);
}

#[test]
fn a_draft_counts_what_it_changes_and_keeps_the_others_if_it_merges() {
    let tenant = Tenant::new();
    tenant.rule("ann", "doc:read", "read", "allow");
    tenant.rule("bob", "doc:read", "read", "allow");
    let put = |mode: Value| {
        let mut body = json!({"bundle": rules(&["ann", "cid"])});
        if !mode.is_null() {
            body["mode"] = mode;
        }
        tenant.manage(format!("PUT {DRAFT}"), &body)
    };
    let counts = |create: u32, delete: u32, unchanged: u32| json!({"create": create, "update": 0, "delete": delete, "adopt": 0, "unchanged": unchanged});
    let replaced = put(json!("replace")).is(201).json();
    assert_eq!((&replaced["mode"], &replaced["counts"]), (&json!("replace"), &counts(1, 1, 1)));
    assert_eq!(put(Value::Null).is(200).json(), replaced, "the default");
    let merged = put(json!("merge")).is(200).json();
    assert_eq!((&merged["mode"], &merged["counts"]), (&json!("merge"), &counts(1, 0, 1)));
    let refused = put(json!("mix")).refused(400, "VALIDATION_ERROR");
    assert!(refused.text.contains("/mode"), "{}", refused.text);
    let mut shown = tenant.get(DRAFT).is(200).json();
    shown["counts"] = merged["counts"].clone();
    assert_eq!(shown, merged);
    let done = tenant.send(&tenant.managing(format!("POST {DRAFT}/publish"))).is(200).json();
    assert_eq!(done["counts"], merged["counts"]);
    assert_eq!(subjects(&tenant), ["ann", "bob", "cid"]);
}
