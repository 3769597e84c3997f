//! A PostgreSQL that goes back in time under running servers, as after a failover to a standby that lagged or after the
//! restore of a backup.

#![expect(clippy::expect_used, reason = "a test that cannot begin has failed")]

use portcullis_test_postgres::Cluster;
use serde_json::json;

use super::{RULES, decide_since, tenant_at};
use crate::once::min_entities::{demand, revision, share};
use crate::support::routes::CHECKS;
use crate::support::{Provider, Request, Server, Settings, Tenant, eventually, eventually_some};

/// Two servers on a PostgreSQL of their own.
struct Stage {
    replicas: [Server; 2],
    // Dropped after the servers that use it.
    cluster: Cluster,
}

/// `None` where there is no PostgreSQL.
fn stage() -> Option<Stage> {
    let cluster = Cluster::own()?;
    let settings = Settings::new(Provider::shared()).on_database(cluster.database());
    Some(Stage { replicas: [settings.start(), settings.start()], cluster })
}

fn await_database(tenant: &Tenant<'_>) {
    let ready = || Request::new("GET /healthz/ready").send(tenant.address).status == 200;
    eventually("the database is back", ready);
}

/// Writes as soon as the server has noticed that its database is back. Returns the id of the rule, and the revision.
fn write(tenant: &Tenant<'_>, sub: &str) -> (String, u64) {
    await_database(tenant);
    let rule = json!({"sub": sub, "obj": "doc:read", "act": "read", "effect": "allow"});
    let reply = tenant.manage(format!("POST {RULES}"), &rule).is(201);
    (reply.json()["id"].as_str().expect("an id").to_owned(), reply.revision())
}

#[test]
fn lost_writes_decide_no_longer_and_later_ones_do() {
    let Some(mut stage) = stage() else { return };
    let tenants = tenant_at(&stage.replicas);
    let (_, kept) = write(&tenants[0], "kim");
    stage.cluster.save();
    let (_, lost) = write(&tenants[0], "alice");
    for tenant in &tenants {
        eventually("the rule counts everywhere", || {
            tenant.decide("alice", "doc:read", "read").decision == "allow"
        });
    }
    stage.cluster.restore();
    // The next write has the number of the lost one.
    let (bobs, next) = write(&tenants[1], "bob");
    assert_eq!(tenants[1].decide("bob", "doc:read", "read").rule, bobs);
    assert!(next > lost + 1_000_000, "revision {next} repeats after {lost}");
    for tenant in &tenants {
        eventually("no replica knows the lost rule", || {
            tenant.decide("alice", "doc:read", "read").rule == "default-deny"
        });
        eventually("each knows the next", || tenant.decide("bob", "doc:read", "read").rule == bobs);
        assert!(tenant.decide("kim", "doc:read", "read").allowed());
    }
    assert!(decide_since(&tenants[0], next).revision >= next);
    for demanded in [kept, lost] {
        let check = json!({"subject": "bob", "resource": "doc:read", "action": "read"});
        let token = tenants[0].token("gateway", &["service"]);
        let request = Request::new("POST /api/v1/check").token(&token).json(&check);
        let request = request.header("x-min-policy-revision", &demanded.to_string());
        let refused = tenants[0].send(&request).refused(409, "REVISION_LOST");
        let details = &refused.json()["details"];
        assert_eq!(details["of"], "policy");
        assert!(details["revision"].as_u64() >= Some(next));
    }
}

#[test]
fn a_replica_that_only_reads_notices_by_itself() {
    let Some(mut stage) = stage() else { return };
    let tenant = Tenant::with_provider(&stage.replicas[0], Provider::shared(), "rewound");
    write(&tenant, "kim");
    stage.cluster.save();
    write(&tenant, "alice");
    assert_eq!(tenant.decide("alice", "doc:read", "read").decision, "allow");
    stage.cluster.restore();
    eventually("the lost rule allows no longer", || {
        tenant.decide("alice", "doc:read", "read").rule == "default-deny"
    });
}

#[test]
fn the_number_of_a_lost_write_of_entities_never_comes_again() {
    let Some(mut stage) = stage() else { return };
    let tenants = tenant_at(&stage.replicas);
    share(&tenants[0]);
    let plan = "/api/v1/entities/document/plan";
    tenants[0].manage(format!("PUT {plan}"), &json!({})).is(201);
    let patch = |tenant: &Tenant<'_>, change| {
        await_database(tenant);
        // A busy machine may lend a connection from before the restore once more.
        let written = eventually_some("the write is made", || {
            let reply = tenant.manage(format!("PATCH {plan}"), &change);
            (reply.status != 503).then_some(reply)
        });
        revision(&written.is(200)).expect("a revision")
    };
    let kept = patch(&tenants[0], json!({"add": {"readers": ["ann"]}}));
    stage.cluster.save();
    let lost = patch(&tenants[0], json!({"remove": {"readers": ["ann"]}}));
    for tenant in &tenants {
        let check = demand(tenant, CHECKS[0], &lost.to_string()).is(200);
        assert_eq!(check.text_of("decision"), "deny");
    }
    stage.cluster.restore();
    let next = patch(&tenants[1], json!({"set": {"title": "plan"}}));
    assert!(next > lost + 1_000_000, "revision {next} repeats after {lost}");
    for tenant in &tenants {
        for demanded in [lost, kept] {
            let ask = || demand(tenant, CHECKS[0], &demanded.to_string());
            eventually("the loss is noticed", || ask().status == 409);
            let refused = ask().refused(409, "REVISION_LOST");
            let details = &refused.json()["details"];
            assert_eq!(details["of"], "entities");
            assert!(details["revision"].as_u64() >= Some(next));
        }
        let check = demand(tenant, CHECKS[0], &next.to_string()).is(200);
        assert_eq!(check.text_of("decision"), "allow", "the share is back, as the database is");
    }
}
