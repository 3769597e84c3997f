//! The relations of types.

use serde_json::{Value, json};

use super::{declare, listed, tuple, write};
use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{Reply, Tenant};

fn put(tenant: &Tenant<'_>, name: &str, relations: &Value) -> Reply {
    tenant.manage(format!("PUT /api/v1/types/{name}"), &json!({"relations": relations}))
}

/// Returns the kind and name of each object that a change would break.
fn broken(reply: &Reply) -> Vec<String> {
    let details = reply.details();
    let all = details["broken"].as_array().cloned().unwrap_or_default();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| format!("{} {}", text(one, "kind"), text(one, "name"))).collect()
}

#[test]
fn a_type_shows_its_relations_in_their_canonical_form() {
    let tenant = Tenant::new();
    let sent = json!({
        "member": {"from": "[user,group#member]", "claim": "groups"}, "admin": {"from": "([user])"},
    });
    let shown = put(&tenant, "group", &sent).is(201).json();
    let expected = json!({
        "admin": "[user]", "member": {"from": "[user, group#member]", "claim": "groups"},
    });
    assert_eq!(shown["relations"], expected);
    let again = put(&tenant, "group", &expected).is(200);
    assert_eq!((again.revision(), again.json()["updated_at"].clone()), (1, Value::Null));
    assert_eq!(tenant.get("/api/v1/types/group").is(200).json()["relations"], expected);
    let audit = tenant.get("/api/v1/audit?action=type.created").is(200).json();
    assert_eq!(audit[0]["after"]["relations"], expected);
}

#[test]
fn faults_of_lines_have_their_place() {
    let tenant = Tenant::new();
    put(&tenant, "folder", &json!({"viewer": "[user, user:*]"})).is(201);
    for (line, said) in [
        ("[usr]", "did you mean `user`?"),
        ("[user] || owner.viewer", "a relation of `document`"),
        ("[user] || viewers", "did you mean `viewer`?"),
        ("[folder#viewer]", ""),
        ("[user] && !viewer", "no `!` leads back to `viewer`"),
        ("[user", "where the text ends"),
    ] {
        let reply = put(&tenant, "document", &json!({"viewer": line}));
        if said.is_empty() {
            reply.is(201);
            continue;
        }
        let reply = reply.refused(400, "VALIDATION_ERROR");
        assert_eq!(reply.paths(), ["/relations/viewer"]);
        assert!(reply.message().contains(said), "{}", reply.text);
    }
    let wildcard = json!({"parent": "[folder, user:*]", "viewer": "parent.viewer"});
    let reply = put(&tenant, "document", &wildcard).refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.paths(), ["/relations/viewer"]);
}

#[test]
fn relations_that_tuples_or_types_use_are_not_removed() {
    let tenant = Tenant::new();
    declare(&tenant);
    let tuples = [
        tuple("document:d1", "viewer", "user:ann"),
        tuple("document:d2", "viewer", "user:*"),
        tuple("group:eng", "member", "user:ann"),
    ];
    write(&tenant, &json!({"write": tuples})).is(200);
    let narrowed = json!({"owner": "[user]", "viewer": "[user, group#member] || owner"});
    let reply = put(&tenant, "document", &narrowed).refused(409, "CONFLICT");
    assert_eq!(broken(&reply), ["relation document.viewer"]);
    assert!(reply.text.contains("1 stored tuples"), "{}", reply.text);
    let reply = put(&tenant, "document", &json!({"owner": "[user]"})).refused(409, "CONFLICT");
    assert!(reply.text.contains("2 stored tuples"), "{}", reply.text);
    tenant.delete("/api/v1/types/document").refused(409, "CONFLICT");
    let reply = tenant.delete("/api/v1/types/group").refused(409, "CONFLICT");
    assert!(broken(&reply).contains(&"relation document.viewer".to_owned()), "{}", reply.text);
    tenant.delete("/api/v1/relations?subject=user:*").is(200);
    put(&tenant, "document", &narrowed).is(200);
}

#[test]
fn a_renamed_relation_keeps_its_tuples() {
    let tenant = Tenant::new();
    declare(&tenant);
    write(&tenant, &json!({"write": [tuple("document:d1", "owner", "user:ann")]})).is(200);
    let viewer = "[user, group#member, user:*] || author";
    let renamed = json!({"author": {"from": "[user]", "renamed_from": "owner"}, "viewer": viewer});
    let shown = put(&tenant, "document", &renamed).is(200);
    assert_eq!(shown.json()["relations"]["author"], "[user]");
    assert_eq!(listed(&tenant, "?relation=author"), ["document:d1 author user:ann -"]);
    assert_eq!(put(&tenant, "document", &renamed).is(200).revision(), shown.revision());
    let both = json!({"owner": "[user]", "author": {"from": "[user]", "renamed_from": "owner"}});
    let reply = put(&tenant, "document", &both).refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.paths(), ["/relations/author/renamed_from"]);
}

#[test]
fn the_first_relations_need_subjects_without_markers() {
    let tenant = Tenant::new();
    let rule = tenant.rule("ann@example.com", "doc:read", "read", "allow");
    put(&tenant, "group", &json!({})).is(201);
    let relations = json!({"member": "[user]"});
    let reply = put(&tenant, "group", &relations).refused(409, "CONFLICT");
    assert_eq!(broken(&reply).len(), 1);
    assert!(broken(&reply)[0].starts_with("rule ann@example.com, "), "{}", reply.text);
    let deleted = json!({"id": rule});
    tenant.manage("DELETE /api/v1/resources/policies", &deleted).is(204);
    let resolver = tenant.directory("relation");
    let reply = put(&tenant, "group", &relations).refused(409, "CONFLICT");
    assert_eq!(broken(&reply), ["resolver relation"]);
    tenant.delete(&format!("/api/v1/resolvers/{resolver}")).is(204);
    put(&tenant, "group", &relations).is(200);
    let form = Form::new(&directory("relation"), &guest("directory"));
    let refused = tenant.upload(format!("POST {RESOLVERS}"), &form).refused(409, "CONFLICT");
    assert!(refused.text_of("message").contains("types have relations"), "{}", refused.text);
}

#[test]
fn an_apply_changes_types_that_name_each_other_at_once() {
    let tenant = Tenant::new();
    let apply = |types: &Value| {
        let body = json!({"owner": "git:a", "bundle": {"types": types}});
        tenant.manage("POST /api/v1/apply", &body)
    };
    let group = |name: &str, member: Value| json!({"type": "group", "relations": {name: member}});
    let folder = |viewer: &str| json!({"type": "folder", "relations": {"viewer": viewer}});
    let types = json!([folder("[group#member]"), group("member", json!("[user]"))]);
    apply(&types).is(200);
    let exported = tenant.get("/api/v1/export").is(200).json();
    assert_eq!(
        exported["bundle"]["types"][0]["relations"],
        json!({"viewer": "[group#member]"}),
        "{exported}"
    );
    write(&tenant, &json!({"write": [tuple("folder:f", "viewer", "group:a#member")]})).is(200);
    let people = json!({"from": "[user]", "renamed_from": "member"});
    let renamed = json!([folder("[group#people]"), group("people", people)]);
    apply(&renamed).is(200);
    assert_eq!(listed(&tenant, ""), ["folder:f viewer group:a people"]);
    assert_eq!(apply(&renamed).is(200).json()["changes"], json!([]));
    let misspelt = json!([folder("[group#peple]"), group("people", json!("[user]"))]);
    let reply = apply(&misspelt).refused(400, "VALIDATION_ERROR");
    assert_eq!(reply.paths(), ["/bundle/types/0/relations/viewer"]);
    let narrowed = json!([folder("[user]"), group("people", json!("[user]"))]);
    let reply = apply(&narrowed).refused(409, "CONFLICT");
    assert_eq!(broken(&reply), ["relation folder.viewer"]);
}
