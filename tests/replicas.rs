//! Several servers on one PostgreSQL, and one whose PostgreSQL goes away.

mod decisions;
mod failover;
mod outage;
mod resolvers;
mod revocations;
mod shadows;
mod shares;
mod webhooks;

use serde_json::json;

use crate::support::tenant::Decision;
use crate::support::{Provider, Reply, Request, Server, Settings, Tenant, eventually};

const RULES: &str = "/api/v1/resources/policies";
const KEYS: &str = "/api/v1/service-api-keys";
const ROUNDS: usize = 25;

/// Two servers on one database.
fn two_replicas() -> [Server; 2] {
    let settings = Settings::new(Provider::shared());
    [settings.start(), settings.start()]
}

/// One tenant, as each of the servers serves it. In `saas` mode both know it when this returns.
fn tenant_at(replicas: &[Server; 2]) -> [Tenant<'static>; 2] {
    let tenant = Tenant::with_provider(&replicas[0], Provider::shared(), "replicated");
    let other = tenant.at(&replicas[1]);
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    eventually("the other replica knows the issuer", || other.check(&check).status == 200);
    [tenant, other]
}

/// Asks for a decision that is no older than `revision`.
#[track_caller]
fn decide_since(tenant: &Tenant<'_>, revision: u64) -> Decision {
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(&tenant.token("gateway", &["service"]));
    let request = request.header("x-min-policy-revision", &revision.to_string());
    Decision::new(&tenant.send(&request.json(&check)))
}

#[test]
fn a_write_is_seen_by_the_other_replica_at_once_if_the_check_demands_it() {
    let replicas = two_replicas();
    let tenants = tenant_at(&replicas);
    let id = tenants[0].rule("alice", "doc:read", "read", "allow");
    for (round, effect) in ["deny", "allow"].into_iter().cycle().take(ROUNDS).enumerate() {
        // Both replicas write, and both are warm.
        let (writer, reader) = (&tenants[round % 2], &tenants[(round + 1) % 2]);
        let change = json!({"id": id, "effect": effect});
        let revision = writer.manage(format!("PUT {RULES}"), &change).is(200).revision();
        let decision = decide_since(reader, revision);
        decision.is(effect, &id);
        assert_eq!(decision.revision, revision);
        assert_eq!(writer.decide("alice", "doc:read", "read").revision, revision);
    }
}

#[test]
fn a_write_is_seen_by_the_other_replica_soon_in_any_case() {
    let replicas = two_replicas();
    let [writer, reader] = tenant_at(&replicas);
    for effect in ["allow", "deny"].into_iter().cycle().take(ROUNDS) {
        let id = writer.rule("alice", "doc:read", "read", effect);
        eventually("the rule decides", || reader.decide("alice", "doc:read", "read").rule == id);
        writer.delete(&format!("{RULES}?id={id}")).is(204);
        eventually("it is gone", || {
            reader.decide("alice", "doc:read", "read").rule == "default-deny"
        });
    }
}

#[test]
fn both_replicas_count_one_revision() {
    let replicas = two_replicas();
    let tenants = tenant_at(&replicas);
    let create = |tenant: &Tenant<'_>, number: usize| {
        let rule =
            json!({"sub": format!("user-{number}"), "obj": "*", "act": "*", "effect": "allow"});
        tenant.manage(format!("POST {RULES}"), &rule).is(201).revision()
    };
    let mut revisions = std::thread::scope(|scope| {
        let writer = |index: usize| {
            let (tenant, create) = (&tenants[index], &create);
            move || (0..20).map(|n| create(tenant, index * 20 + n)).collect::<Vec<_>>()
        };
        let writers: Vec<_> = (0..2).map(|index| scope.spawn(writer(index))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=40).collect::<Vec<_>>());
}

#[test]
fn a_revoked_key_is_refused_here_at_once_and_soon_by_the_other_replica() {
    let replicas = two_replicas();
    let tenants = tenant_at(&replicas);
    let list = |tenant: &Tenant<'_>, key: &str| -> Reply {
        tenant.send(&Request::new("GET /api/v1/resources").header("x-service-api-key", key))
    };
    for round in 0..5 {
        let (here, there) = (&tenants[round % 2], &tenants[(round + 1) % 2]);
        let issued = here.manage(format!("POST {KEYS}"), &json!({"name": "k"}));
        let (id, key) = (issued.clone().is(201).id(), issued.text_of("key"));
        for tenant in &tenants {
            list(tenant, &key).is(200);
        }
        here.delete(&format!("{KEYS}/{id}")).is(204);
        list(here, &key).refused(401, "UNAUTHENTICATED");
        eventually("it is refused there", || list(there, &key).status == 401);
    }
}
