//! Resolvers that one replica writes and another one asks.

use serde_json::json;

use super::{tenant_at, two_replicas};
use crate::everywhere::resolvers::checks::only_obstetrics;
use crate::support::resolver::RESOLVERS;
use crate::support::tenant::Decision;
use crate::support::{Request, Tenant, eventually};

#[track_caller]
fn decide_since(tenant: &Tenant<'_>, revision: u64) -> Decision {
    let check = json!({"subject": "ann", "resource": "chart:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(&tenant.token("gateway", &["service"]));
    let request = request.header("x-min-policy-revision", &revision.to_string());
    Decision::new(&tenant.send(&request.json(&check)))
}

#[test]
fn a_resolver_that_one_replica_stores_answers_on_another() {
    let replicas = two_replicas();
    let tenants = tenant_at(&replicas);
    let resolver = format!("{RESOLVERS}/{}", tenants[0].directory("hr"));
    let put = |replica: usize, body: &serde_json::Value| {
        let reply = tenants[replica].manage(format!("PUT {resolver}"), body).is(200);
        assert_eq!(reply.header("x-replicas-load"), Some("on-first-use"));
        reply.revision()
    };
    // So long may a check wait for another replica's resolver, however busy the machine is.
    put(0, &json!({"limits": {"timeout_ms": 30_000}}));
    let policy = only_obstetrics(&tenants[0]);
    for (round, department) in ["obstetrics", "surgery"].into_iter().cycle().take(6).enumerate() {
        let revision = put(round % 2, &json!({"config": {"department": department}}));
        let decision = decide_since(&tenants[(round + 1) % 2], revision);
        match department {
            "obstetrics" => decision.is("allow", &policy),
            _ => decision.is("deny", "default-deny"),
        };
        assert_eq!(decision.revision, revision);
    }
    tenants[1].delete(&format!("/api/v1/abac/policies/{policy}")).is(204);
    tenants[1].delete(&resolver).is(204);
    for tenant in &tenants {
        tenant.get(&resolver).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_replica_loads_what_others_wrote_when_it_is_shown() {
    let replicas = two_replicas();
    let [writer, reader] = tenant_at(&replicas);
    let one = format!("{RESOLVERS}/{}", writer.directory("hr"));
    eventually("it is loaded", || reader.get(&one).is(200).json()["state"] == "ready");
}
