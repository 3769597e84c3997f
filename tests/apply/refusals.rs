//! Applies that are refused write nothing.

use serde_json::{Value, json};

use super::{APPLY, OWNER, PLAN, apply, body, body_with, bundle, changes, policy};
use crate::support::{Reply, Request, Tenant};

/// A key of the tenant with these permissions.
fn key(tenant: &Tenant<'_>, permissions: &[&str]) -> String {
    let body = json!({"name": "ci", "permissions": permissions});
    tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key")
}

fn by_key(tenant: &Tenant<'_>, key: &str, body: &Value) -> Reply {
    Request::new(APPLY).header("x-service-api-key", key).json(body).send(tenant.address)
}

#[test]
fn all_faults_of_a_body_are_named_at_once() {
    let tenant = Tenant::new();
    let faulty = json!({
        "owner": "a b", "prun": true, "expect_revision": -1,
        "bundle": {
            "resources": [{"name": "wiki"}],
            "policies": [{"name": "p", "resource": "*", "effect": "deny", "priority": 1, "when": "user."}],
        },
    });
    let paths = tenant.manage(APPLY, &faulty).invalid().paths();
    for path in
        ["", "/owner", "/expect_revision", "/bundle/resources/0/name", "/bundle/policies/0/when"]
    {
        assert!(paths.iter().any(|known| known == path), "{path}: {paths:?}");
    }
    assert_eq!(tenant.manage(APPLY, &json!({})).invalid().paths().len(), 2);
    let new_webhook =
        json!({"webhooks": [{"url": "https://h.example/", "events": ["access.denied"]}]});
    let refused = tenant.manage(APPLY, &body(&new_webhook)).invalid();
    assert_eq!(refused.paths(), ["/bundle/webhooks/0/secret"]);
    let reads = json!({"policies": [{"name": "p", "resource": "*", "effect": "deny", "priority": 1,
        "when": "geo.country == \"de\""}]});
    assert_eq!(tenant.manage(PLAN, &body(&reads)).invalid().paths(), ["/bundle/policies/0/when"]);
    tenant.manage("POST /api/v1/apply?dry_run=1", &body(&bundle())).refused(400, "BAD_REQUEST");
}

#[test]
fn objects_of_another_owner_are_conflicts() {
    let tenant = Tenant::new();
    apply(&tenant, &bundle());
    let other = body_with(&bundle(), &json!({"owner": "git:other"}));
    let planned = tenant.manage(PLAN, &other).is(200).json();
    assert_eq!(planned["conflicts"].as_array().map(Vec::len), Some(4));
    let before = tenant.get("/api/v1/export").text;
    let refused = tenant.manage(APPLY, &other).refused(409, "OWNED_BY_ANOTHER");
    let first = &refused.details()["conflicts"][0];
    assert_eq!(*first, json!({"kind": "resource", "name": "wiki:read", "managed_by": OWNER}));
    assert_eq!(tenant.get("/api/v1/export").text, before);
    let forced = body_with(&bundle(), &json!({"owner": "git:other", "force": true}));
    let answer = tenant.manage(APPLY, &forced).is(200).json();
    assert_eq!(answer["counts"]["adopt"], 4);
}

#[test]
fn too_many_deletions_are_refused() {
    let tenant = Tenant::new();
    let many: Vec<Value> = (0..10).map(|n| policy(&format!("p{n}"), "wiki:*", n)).collect();
    apply(&tenant, &json!({"policies": many}));
    let fewer = json!({"policies": many[3..]});
    let refused = tenant.manage(APPLY, &body(&fewer)).refused(422, "DELETE_LIMIT");
    assert_eq!(refused.details(), json!({"deletions": 3, "owned": 10, "limit": 2}));
    let planned = tenant.manage(PLAN, &body(&fewer)).is(200).json();
    assert_eq!(planned["counts"]["delete"], 3);
    // 20 % of ten may go, and all with `allow_deletes`.
    let answer = apply(&tenant, &json!({"policies": many[2..]})).json();
    assert_eq!(changes(&answer), ["delete policy p0", "delete policy p1"]);
    let all = body_with(&json!({"policies": []}), &json!({"allow_deletes": true}));
    assert_eq!(tenant.manage(APPLY, &all).is(200).json()["counts"]["delete"], 8);
}

#[test]
fn a_plan_that_is_stale_is_refused() {
    let tenant = Tenant::new();
    apply(&tenant, &bundle());
    let planned = tenant.manage(PLAN, &body(&bundle())).is(200).json();
    let (revision, fingerprint) = (&planned["revision"], &planned["fingerprint"]);
    let expecting = json!({"expect_revision": revision, "expect_fingerprint": fingerprint});
    tenant.manage(APPLY, &body_with(&bundle(), &expecting)).is(200);
    // Another object: the revision moves, the plan still holds.
    tenant.rule("eve", "doc:read", "read", "deny");
    let refused = tenant.manage(APPLY, &body_with(&bundle(), &expecting));
    refused.refused(409, "REVISION_CHANGED");
    let expecting = json!({"expect_fingerprint": fingerprint});
    tenant.manage(APPLY, &body_with(&bundle(), &expecting)).is(200);
    let mut changed = bundle();
    changed["policies"][0]["priority"] = json!(11);
    apply(&tenant, &changed);
    for route in [APPLY, PLAN] {
        tenant.manage(route, &body_with(&bundle(), &expecting)).refused(409, "PLAN_STALE");
    }
}

#[test]
fn a_key_needs_the_right_of_each_kind() {
    let tenant = Tenant::new();
    let all = ["resources:write", "policies:write", "webhooks:write"];
    for lacking in all {
        let permissions: Vec<_> = all.into_iter().filter(|one| *one != lacking).collect();
        let refused = by_key(&tenant, &key(&tenant, &permissions), &body(&bundle()));
        let message = refused.refused(403, "ACCESS_DENIED").message();
        assert!(message.contains(lacking), "{message}");
    }
    let resources = key(&tenant, &["resources:write"]);
    let refused = by_key(&tenant, &resources, &body(&json!({"roles": []})));
    refused.refused(403, "ACCESS_DENIED");
    let full = key(&tenant, &all);
    by_key(&tenant, &full, &body(&bundle())).is(200);
    for member in ["force", "allow_deletes"] {
        let forced = body_with(&bundle(), &json!({member: true}));
        let message = by_key(&tenant, &full, &forced).refused(403, "ACCESS_DENIED").message();
        assert!(message.contains("policies:force"), "{message}");
        let may = key(&tenant, &[all.as_slice(), &["policies:force"]].concat());
        by_key(&tenant, &may, &forced).is(200);
    }
    let reader = key(&tenant, &["policies:read", "resources:read", "resolvers:read"]);
    let export = Request::new("GET /api/v1/export").header("x-service-api-key", &reader);
    export.send(tenant.address).refused(403, "ACCESS_DENIED");
}

#[test]
fn a_dry_run_needs_the_right_to_read_and_shows_no_more() {
    let tenant = Tenant::new();
    apply(&tenant, &bundle());
    let send = |route: &str, key: &str, body: &Value| {
        Request::new(route).header("x-service-api-key", key).json(body).send(tenant.address)
    };
    let all = ["resources:read", "policies:read", "webhooks:read"];
    let mut kept = bundle();
    kept["webhooks"][0]["secret"] = Value::Null;
    for lacking in all {
        let permissions: Vec<_> = all.into_iter().filter(|one| *one != lacking).collect();
        let refused = send(PLAN, &key(&tenant, &permissions), &body(&kept));
        let message = refused.refused(403, "ACCESS_DENIED").message();
        assert!(message.contains(lacking), "{message}");
    }
    let reader = key(&tenant, &all);
    send(PLAN, &reader, &body(&kept)).is(200);
    send(APPLY, &reader, &body(&kept)).refused(403, "ACCESS_DENIED");
    // A secret is compared with the stored one.
    let message = send(PLAN, &reader, &body(&bundle())).refused(403, "ACCESS_DENIED").message();
    assert!(message.contains("webhooks:write"), "{message}");
    let module = json!({"resolvers": [{"namespace": "hr", "sha256": "0".repeat(64),
        "endpoints": {}, "secrets": {"token": "t"}}]});
    let resolvers = key(&tenant, &["resolvers:read"]);
    let refused = send(PLAN, &resolvers, &body(&module));
    assert!(refused.status == 403 && refused.message().contains("resolvers:write"));
    let resource = json!({"resources": [{"name": "note:read"}]});
    let resource = body_with(&resource, &json!({"prune": false}));
    let plan = send(PLAN, &key(&tenant, &["resources:read"]), &resource).is(200).json();
    assert_eq!(plan["changes"][0]["name"], "note:read", "{plan}");
    let impact = body_with(&json!({"webhooks": []}), &json!({"impact": true}));
    let webhooks = key(&tenant, &["webhooks:read"]);
    send(PLAN, &webhooks, &impact).refused(403, "ACCESS_DENIED");
}

#[test]
fn an_apply_without_the_right_to_read_answers_with_counts_and_codes() {
    let tenant = Tenant::new();
    let case = json!({"name": "the secret case", "check": {"subject": "eve", "resource": "wiki:read",
        "action": "read"}, "expect": {"decision": "allow", "rule": "x"}});
    apply(&tenant, &json!({"cases": [case]}));
    apply(
        &tenant,
        &json!({"rules": [{"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"}]}),
    );
    let blind = key(&tenant, &["policies:write"]);
    by_key(&tenant, &blind, &body_with(&json!({}), &json!({"impact": true}))).is(200);
    let typo =
        json!({"rules": [{"sub": "bob", "obj": "wikki:*", "act": "read", "effect": "allow"}]});
    let typo = body_with(&typo, &json!({"prune": false, "impact": true}));
    Request::new(PLAN)
        .header("x-service-api-key", &blind)
        .json(&typo)
        .send(tenant.address)
        .refused(403, "ACCESS_DENIED");
    let answer = by_key(&tenant, &blind, &typo).is(200).json();
    let shown =
        json!([answer["counts"]["create"], answer["changes"], answer["impact"], answer["tests"]]);
    let tests = json!({
        "passed": 0, "failed_count": 1, "skipped_count": 0, "failed": [], "skipped": [],
    });
    assert_eq!(shown, json!([1, [], null, tests]), "{answer}");
    for warning in answer["warnings"].as_array().into_iter().flatten() {
        assert_eq!((&warning["code"], &warning["message"]), (&json!("UNREGISTERED"), &json!("")));
    }
    let other = body_with(&typo["bundle"], &json!({"owner": "git:other"}));
    let refused = by_key(&tenant, &blind, &other).refused(409, "OWNED_BY_ANOTHER");
    assert_eq!(refused.details()["conflicts"], json!([]));
    apply(&tenant, &json!({"settings": {"gates": {"cases": true}}}));
    let more = json!({"rules": [{"sub": "cy", "obj": "wiki:*", "act": "read", "effect": "allow"}]});
    let refused = by_key(&tenant, &blind, &body_with(&more, &json!({"prune": false})));
    let refused = refused.refused(422, "CASES_FAILED");
    assert_eq!(refused.details(), json!({"failed": [], "more_failed": 1}));
    assert!(refused.message().starts_with("1 of the tenant's cases"), "{}", refused.message());
}

#[test]
fn a_large_body_is_read_up_to_its_own_limit() {
    let tenant = Tenant::new();
    // Larger than other bodies may be.
    let text = "x".repeat(2_000);
    let policies: Vec<Value> = (0..800)
        .map(|n| {
            let mut one = policy(&format!("p{n}"), "wiki:*", n);
            one["description"] = json!(text);
            one
        })
        .collect();
    let answer = apply(&tenant, &json!({"policies": policies})).json();
    assert_eq!(answer["counts"]["create"], 800);
    let huge = tenant.managing(APPLY).json(&json!({})).announce(tenant.address, (8 << 20) + 1);
    huge.refused(413, "PAYLOAD_TOO_LARGE");
}
