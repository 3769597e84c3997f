//! The sample tenant `policies/helpdesk` in the service: the expired share, the archived ticket and the deleted person.

use std::fs;

use serde_json::{Value, json};

use crate::support::process::{finish, portcullis, repository};
use crate::support::{MANAGER, Request, Tenant};

/// Applies the sample as a tenant of another name, and writes entities.
fn helpdesk() -> Tenant<'static> {
    let tenant = Tenant::new();
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(repository().join("policies/helpdesk")).unwrap().map(Result::unwrap) {
        let text = fs::read_to_string(file.path()).unwrap();
        let own = text.replace("tenant: helpdesk", &format!("tenant: {}", tenant.name));
        fs::write(folder.path().join(file.file_name()), own).unwrap();
    }
    let mut command = portcullis(&["apply", "--url", &format!("http://{}", tenant.address)]);
    command.arg(folder.path()).env("TOKEN", tenant.token("boss", &[MANAGER]));
    let applied = finish(command);
    assert_eq!(applied.code, Some(0), "{}{}", applied.out, applied.err);
    let properties = json!({"team": "network", "groups": ["/support/network"]});
    let entities = json!([
        {"type": "user", "id": "ann", "roles": ["agent"], "properties": properties},
        {"type": "user", "id": "dora", "roles": ["lead"], "properties": properties},
        {"type": "ticket", "id": "t1", "properties": {"team": "network"}},
        {"type": "comment", "id": "c1", "properties": {"ticket": "t1", "internal": true}},
    ]);
    tenant.manage("PUT /api/v1/entities", &json!({"entities": entities})).is(200);
    tenant
}

fn decides(tenant: &Tenant<'_>, subject: &str, resource: &str, attributes: &Value) -> String {
    let body = json!({"subject": subject, "resource": resource, "attributes": attributes});
    tenant.check(&body).is(200).text_of("decision")
}

#[test]
fn a_share_ends_at_its_instant() {
    let tenant = helpdesk();
    for (until, expected) in [("2020-01-01T00:00:00Z", "deny"), ("9999-01-01T00:00:00Z", "allow")] {
        let ticket =
            json!({"resource": {"id": "t1", "shared_with": ["carl"], "shared_until": until}});
        assert_eq!(decides(&tenant, "carl", "ticket:read", &ticket), expected, "{until}");
    }
}

#[test]
fn who_reads_every_ticket_does_not_archive_one() {
    let tenant = helpdesk();
    let ticket = json!({"resource": {"id": "t1"}});
    assert_eq!(decides(&tenant, "ann", "ticket:read", &ticket), "allow");
    assert_eq!(decides(&tenant, "ann", "ticket:archive", &ticket), "deny");
    let read = json!({"subject": "ann", "resource": "ticket:archive", "action": "read"});
    assert_eq!(tenant.check(&read).invalid().paths(), ["/action"]);
    // What the ticket has holds for its comments.
    assert_eq!(
        decides(&tenant, "ann", "comment:write", &json!({"resource": {"id": "c1"}})),
        "allow"
    );
    let archived = json!({"set": {"archived_at": "2026-01-14T00:00:00Z"}});
    tenant.manage("PATCH /api/v1/entities/ticket/t1", &archived).is(200);
    assert_eq!(
        decides(&tenant, "ann", "comment:write", &json!({"resource": {"id": "c1"}})),
        "deny"
    );
}

#[test]
fn a_deleted_person_keeps_no_role_that_is_claimed() {
    let tenant = helpdesk();
    let claimed = json!({"user": {"roles": ["lead"]}, "resource": {"id": "t1"}});
    for resource in ["ticket:read", "ticket:archive"] {
        assert_eq!(decides(&tenant, "dora", resource, &claimed), "allow", "{resource}");
    }
    tenant.delete("/api/v1/entities/user/dora").is(204);
    for resource in ["ticket:read", "ticket:archive"] {
        assert_eq!(decides(&tenant, "dora", resource, &claimed), "deny", "{resource}");
        let own = json!({"subject": "dora", "resource": resource, "attributes": {"resource": {"id": "t1"}}});
        let sent =
            Request::new("POST /api/v1/check").token(&tenant.token("dora", &["lead"])).json(&own);
        assert_eq!(tenant.send(&sent).is(200).text_of("decision"), "deny", "{resource}");
    }
}
