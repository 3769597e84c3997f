//! `X-Entities-Revision` and `X-Min-Entities-Revision`: a check is never answered from entities that are older than those its
//! caller knows.

use serde_json::json;

use crate::support::routes::CHECKS;
use crate::support::tenant::condition;
use crate::support::{Reply, Request, Tenant};

/// A check whose resource is the document `plan`, that demands a revision of the entities.
pub(crate) fn demand(tenant: &Tenant<'_>, route: &str, revision: &str) -> Reply {
    let body = match route.ends_with("/access/check") {
        true => json!({"subject": "ann", "resource": "document:read"}),
        false => json!({
            "subject": "ann", "resource": "document:read", "action": "read",
            "attributes": {"resource": {"id": "plan"}},
        }),
    };
    let request = Request::new(route).token(&tenant.token("gateway", &["service"])).json(&body);
    tenant.send(&request.header("x-min-entities-revision", revision))
}

/// The revision of the entities that an answer names.
pub(crate) fn revision(reply: &Reply) -> Option<u64> {
    reply.header("x-entities-revision").map(|text| text.parse().expect("a number"))
}

/// Lets readers read, and creates the document.
pub(crate) fn share(tenant: &Tenant<'_>) {
    let reads = json!({"type": "CONDITION", "attribute": "resource.readers", "operator": "contains",
        "value": {"attribute": "request.subject"}});
    tenant.policy("readers", "document:read", "allow", 1, &reads);
    tenant.policy("other", "document:other", "allow", 1, &condition("user.team", "eq", "red"));
}

#[test]
fn answers_name_the_revision_of_the_entities_that_they_read_or_wrote() {
    let tenant = Tenant::new();
    share(&tenant);
    let plan = "/api/v1/entities/document/plan";
    assert_eq!(revision(&demand(&tenant, CHECKS[0], "0").is(200)), None, "there is no directory");
    let written = tenant.manage(format!("PUT {plan}"), &json!({}));
    assert_eq!((written.status, revision(&written)), (201, Some(1)));
    let patched = tenant.manage(format!("PATCH {plan}"), &json!({"add": {"readers": ["ann"]}}));
    assert_eq!((patched.status, revision(&patched)), (200, Some(2)));
    for path in [plan, "/api/v1/entities"] {
        assert_eq!(revision(&tenant.get(path).is(200)), Some(2));
    }
    let list = json!({"entities": [{"type": "user", "id": "bob"}]});
    assert_eq!(revision(&tenant.manage("PUT /api/v1/entities", &list)), Some(3));
    let sync = json!({"source": "hr", "entities": [{"type": "user", "id": "eve"}], "finish": true});
    assert_eq!(revision(&tenant.manage("POST /api/v1/entities/sync", &sync)), Some(4));
    let check = demand(&tenant, CHECKS[0], "4").is(200);
    assert_eq!((revision(&check), check.text_of("decision").as_str()), (Some(4), "allow"));
    let item = json!({"subject": "ann", "resource": "document:read", "action": "read",
        "attributes": {"resource": {"id": "plan"}}});
    for (route, body) in [
        ("POST /api/v1/checks", json!({"checks": [item]})),
        (
            "POST /api/v1/search/resources",
            json!({"subject": "ann", "resource": "document:read", "action": "read"}),
        ),
        (
            "POST /api/v1/plan",
            json!({"subject": "ann", "resource": "document:read", "action": "read"}),
        ),
    ] {
        let request = tenant.managing(route).json(&body);
        let ask = |at: &str| tenant.send(&request.clone().header("x-min-entities-revision", at));
        let reply = ask("4");
        assert_eq!(reply.status, 200, "{route}: {}", reply.text);
        let read = revision(&reply);
        assert!(read == Some(4) || route.ends_with("/plan"), "{route}: {read:?}");
        ask("5").refused(503, "DEPENDENCY_UNAVAILABLE");
    }
    assert_eq!(revision(&tenant.delete(plan).is(204)), Some(5));
    assert_eq!(demand(&tenant, CHECKS[0], "5").is(200).text_of("decision"), "deny");
}

#[test]
fn a_revision_of_entities_that_never_comes_is_a_503_and_a_wrong_one_a_400() {
    let tenant = Tenant::new();
    share(&tenant);
    for route in CHECKS {
        demand(&tenant, route, "1").refused(503, "DEPENDENCY_UNAVAILABLE");
        demand(&tenant, route, "x").refused(400, "BAD_REQUEST");
    }
}
