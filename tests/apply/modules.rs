//! Resolvers in bundles.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{APPLY, OWNER, apply, body, body_with, changes};
use crate::support::Tenant;
use crate::support::resolver::guest;

/// A resolver of the guest `directory`, with its bytes if `with_module`.
fn resolver(namespace: &str, with_module: bool) -> Value {
    let module = guest("directory");
    let mut item = json!({
        "namespace": namespace, "config": {"department": "obstetrics"},
        "sha256": hex::encode(Sha256::digest(&module)),
    });
    if with_module {
        item["module"] = json!(STANDARD.encode(module));
    }
    item
}

#[test]
fn a_module_that_is_stored_is_not_sent_again() {
    let tenant = Tenant::new();
    let refused = tenant.manage(APPLY, &body(&json!({"resolvers": [resolver("hr", false)]})));
    assert_eq!(refused.invalid().paths(), ["/bundle/resolvers/0/module"]);
    let reads = json!([{"name": "p", "resource": "doc:*", "effect": "deny", "priority": 1,
        "when": "hr.department == \"surgery\""}]);
    let first = json!({"resolvers": [resolver("hr", true)], "policies": reads});
    let answer = apply(&tenant, &first).json();
    assert_eq!(changes(&answer), ["create policy p", "create resolver hr"]);
    let shown = tenant.get("/api/v1/resolvers").is(200).json();
    assert_eq!((&shown[0]["managed_by"], &shown[0]["state"]), (&json!(OWNER), &json!("ready")));
    let without = json!({"resolvers": [resolver("hr", false)], "policies": reads});
    let again = apply(&tenant, &without);
    assert_eq!(
        (changes(&again.json()), again.json()["revision"].clone()),
        (vec![], answer["revision"].clone())
    );
    let mut changed = without.clone();
    changed["resolvers"][0]["config"] = json!({"department": "surgery"});
    let answer = apply(&tenant, &changed).json();
    assert_eq!(answer["changes"][0]["fields"][0]["path"], "/config");
    let exported = tenant.get("/api/v1/export").is(200).json();
    assert_eq!(changes(&apply(&tenant, &exported["bundle"]).json()), [""; 0]);
    // A policy that stays reads it.
    let gone = body_with(&json!({"resolvers": []}), &json!({"allow_deletes": true}));
    tenant.manage(APPLY, &gone).refused(409, "CONFLICT");
    let both = json!({"resolvers": [], "policies": []});
    tenant.manage(APPLY, &body_with(&both, &json!({"allow_deletes": true}))).is(200);
}
