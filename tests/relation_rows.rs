//! Relations in plans of rows (`docs/semantics.md`, section 14.4).

use serde_json::{Value, json};

use crate::support::{Reply, Tenant};

const NOTES: [&str; 2] =
    ["0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c01", "0190d3e1-5b1c-7c4e-8b8f-3a1f6f2b9c02"];

/// A tenant with notes in folders: ann is a viewer of the folder `f1` by a group, and of one note of `f2` itself.
fn shelf() -> Tenant<'static> {
    let tenant = Tenant::new();
    let group = json!({"member": "[user]"});
    let folder = json!({"parent": "[folder]", "viewer": "[group#member] || parent.viewer"});
    let note = json!({
        "parent": {"from": "[folder]", "request": "parent"},
        "viewer": "[user] || parent.viewer",
    });
    for (name, relations) in [("group", group), ("folder", folder), ("note", note)] {
        let path = format!("PUT /api/v1/types/{name}");
        tenant.manage(&path, &json!({"relations": relations})).is(201);
    }
    let tuple = |object: &str, relation: &str, subject: &str| json!({"object": object, "relation": relation, "subject": subject});
    let mut shared = tuple("folder:f1", "viewer", "group:eng");
    shared["subject_relation"] = json!("member");
    let tuples = json!([
        tuple("group:eng", "member", "user:ann"),
        shared,
        tuple("folder:f1-1", "parent", "folder:f1"),
        tuple(&format!("note:{}", NOTES[0]), "viewer", "user:ann"),
        tuple(&format!("note:{}", NOTES[1]), "parent", "folder:f1"),
        // A column of UUIDs has no such id.
        tuple("note:n1", "viewer", "user:ann"),
    ]);
    tenant.manage("POST /api/v1/relations", &json!({"write": tuples})).is(200);
    tenant
}

fn plan(tenant: &Tenant<'_>, more: &Value) -> Reply {
    let mut body = json!({"subject": "ann", "resource": "note:read", "action": "read"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    tenant.manage("POST /api/v1/plan", &body)
}

fn columns() -> Value {
    json!({
        "resource.id": {"sql": "n.id", "type": "uuid", "nullable": false},
        "resource.parent": {"sql": "n.folder_id", "type": "text", "of": "folder", "collation": "binary"},
    })
}

#[test]
fn a_relation_to_rows_becomes_a_column_of_folders_or_one_of_ids() {
    let tenant = shelf();
    tenant.rule("viewer@resource", "note:read", "read", "allow");
    let (folders, folder_texts) = (json!(["f1", "f1-1"]), json!(r#"["f1","f1-1"]"#));
    let notes = json!([NOTES[0]]);
    let found = plan(&tenant, &json!({"dialect": "postgres", "columns": columns()})).is(200);
    let entities = found.header("x-entities-revision").map(str::to_owned);
    assert!(entities.is_some(), "{}", found.text);
    let found = found.json();
    let text = concat!(
        r#"(("n"."folder_id" = ANY(CAST($1 AS text[])) AND "n"."folder_id" IS NOT NULL) OR "#,
        r#""n"."id" = ANY(CAST(CAST($2 AS text[]) AS uuid[])))"#,
    );
    assert_eq!(found["sql"], json!({"text": text, "params": [folders, notes]}));
    assert_eq!((&found["exact"], &found["kind"]), (&json!(true), &json!("conditional")));
    let found = plan(&tenant, &json!({"dialect": "sqlite", "columns": columns()})).is(200).json();
    let text = concat!(
        "((`n`.`folder_id` IN (SELECT value FROM json_each(?)) AND `n`.`folder_id` IS NOT NULL) OR ",
        "`n`.`id` IN (SELECT value FROM json_each(?)))",
    );
    let expected = json!({"text": text, "params": [folder_texts, notes.to_string()]});
    assert_eq!(found["sql"], expected);

    // Without a column for it the stored folders of notes count.
    let mut without = columns();
    without.as_object_mut().unwrap().remove("resource.parent");
    let found = plan(&tenant, &json!({"dialect": "postgres", "columns": without})).is(200).json();
    assert_eq!(found["sql"]["params"], json!([NOTES]));
    // With `directory_wins` they go before the column.
    let bundle = json!({"settings": {"directory_wins": true}});
    let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
    tenant.manage("POST /api/v1/apply", &body).is(200);
    let found = plan(&tenant, &json!({"dialect": "postgres", "columns": columns()})).is(200).json();
    assert_eq!(found["sql"]["params"], json!([[NOTES[1]], folders, NOTES]));
}

#[test]
fn attributes_of_a_filter_hold_for_each_of_its_rows() {
    let tenant = shelf();
    tenant.rule("viewer@resource", "note:read", "read", "allow");
    let found = |resource: Value| {
        let more = json!({
            "attributes": {"resource": resource}, "dialect": "sqlite", "residual": "check", "columns": columns(),
        });
        plan(&tenant, &more).is(200).json()
    };
    let text = |resource: Value| found(resource)["sql"]["text"].clone();
    assert_eq!(text(json!({"parent": "folder:f1-1"})), "TRUE");
    for parent in [json!("folder:f2"), json!([])] {
        let ids = "`n`.`id` IN (SELECT value FROM json_each(?))";
        assert_eq!(text(json!({"parent": parent})), ids);
    }
    let broken = found(json!({"parent": "f1"}));
    let reason = &broken["check"][0]["reasons"][0];
    assert_eq!(reason, "`resource.parent` is not `folder:<id>` or a list of them");
    assert_eq!(found(json!({"id": NOTES[0], "parent": "folder:f2"}))["kind"], "always");
    assert_eq!(found(json!({"id": "n2", "parent": "folder:f2"}))["kind"], "never");
    // A note that is known has a folder that is not.
    let reason = found(json!({"id": "n2"}))["check"][0]["reasons"][0].clone();
    assert!(reason.as_str().is_some_and(|reason| reason.contains("not `resource.id`")), "{reason}");
    assert_eq!(text(json!({"type": "shelf"})), "FALSE");
}

#[test]
fn a_relation_without_a_column_it_needs_is_refused_by_name() {
    let tenant = shelf();
    tenant.rule("viewer@resource", "note:read", "read", "allow");
    tenant.rule("viewer@resource", "note:list", "list", "deny");
    let id = json!({"sql": "n.id", "type": "uuid"});
    let parent = |more: &Value| {
        let mut column = json!({"sql": "n.folder_id"});
        column.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"resource.id": id, "resource.parent": column})
    };
    for (columns, expected) in [
        (json!({}), "no column for `resource.id`"),
        (
            json!({"resource.id": {"sql": "n.id", "type": "integer"}}),
            "must have the type `text` or `uuid`",
        ),
        (parent(&json!({"type": "uuid"})), "say with `of`"),
        (
            parent(&json!({"type": "uuid", "of": "shelf"})),
            "has ids of `shelf`, but the relation leads to `folder`",
        ),
    ] {
        let wanted = json!({"dialect": "postgres", "columns": columns});
        let refused = plan(&tenant, &wanted).refused(422, "NOT_EXACT");
        assert!(refused.message().contains(expected), "{}", refused.text);
    }
    for (more, path) in [
        (json!({"type": "date", "of": "folder"}), "/columns/resource.parent/of"),
        (json!({"type": "uuid", "of": "folder:f"}), "/columns/resource.parent/of"),
    ] {
        let wanted = json!({"dialect": "postgres", "columns": parent(&more)});
        let refused = plan(&tenant, &wanted).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.paths(), [path]);
    }
    // Without SQL there is nothing to compare with.
    let refused = plan(&tenant, &json!({})).refused(422, "NOT_EXACT");
    assert!(refused.message().contains("ask for SQL"), "{}", refused.text);
}

#[test]
fn a_relation_with_too_many_ids_is_refused_or_left_to_checks() {
    if crate::setup::is_postgres() {
        // The bound does not depend on the database, and so many tuples take PostgreSQL a minute.
        return;
    }
    let tenant = shelf();
    tenant.rule("viewer@resource", "note:read", "read", "allow");
    for part in 0..101 {
        let tuples: Vec<Value> = (0..1_000)
            .map(|number| {
                let object = format!("note:{part}-{number}");
                json!({"object": object, "relation": "viewer", "subject": "user:ann"})
            })
            .collect();
        tenant.manage("POST /api/v1/relations", &json!({"write": tuples})).is(200);
    }
    let mut wanted = json!({"dialect": "sqlite", "columns": columns()});
    let refused = plan(&tenant, &wanted).refused(422, "PLAN_TOO_LARGE");
    assert!(
        refused.message().contains("`relation.viewer` needs more than 100000 ids"),
        "{}",
        refused.text
    );
    wanted["residual"] = json!("check");
    let superset = plan(&tenant, &wanted).is(200).json();
    assert_eq!((&superset["exact"], &superset["sql"]["text"]), (&json!(false), &json!("TRUE")));
}
