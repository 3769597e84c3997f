//! A PostgreSQL that stops and starts again under a running server.

use portcullis_test_postgres::Cluster;
use serde_json::json;

use crate::support::{Provider, Request, Server, Settings, Tenant, eventually};

/// A server on its own PostgreSQL, with a tenant whose rule `rule` allows alice to read.
struct Stage {
    server: Server,
    tenant: Tenant<'static>,
    /// A tenant that nobody asked about.
    cold: Tenant<'static>,
    rule: String,
    // Dropped after the server that uses it.
    cluster: Cluster,
}

/// `None` where there is no PostgreSQL.
fn stage(change: impl Fn(Settings) -> Settings) -> Option<Stage> {
    let cluster = Cluster::own()?;
    let settings = Settings::new(Provider::shared()).on_database(cluster.database());
    let server = change(settings).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let cold = Tenant::with_provider(&server, Provider::shared(), "cold");
    cold.rule("alice", "doc:read", "read", "allow");
    tenant.decide("alice", "doc:read", "read").is("allow", &rule);
    Some(Stage { server, tenant, cold, rule, cluster })
}

impl Stage {
    fn ready(&self) -> u16 {
        Request::new("GET /healthz/ready").send(self.server.address).status
    }

    fn check(&self) -> u16 {
        let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
        self.tenant.check(&check).status
    }

    /// Asserts that everything works, as soon as the server has noticed that its database is back.
    #[track_caller]
    fn works_again(&self) {
        eventually("the service is ready again", || self.ready() == 200);
        eventually("checks are answered again", || self.check() == 200);
        let change = json!({"id": self.rule, "effect": "deny"});
        self.tenant.manage("PUT /api/v1/resources/policies", &change).is(200);
        self.tenant.decide("alice", "doc:read", "read").is("deny", &self.rule);
        let back = json!({"id": self.rule, "effect": "allow"});
        self.tenant.manage("PUT /api/v1/resources/policies", &back).is(200);
        self.tenant.decide("alice", "doc:read", "read").is("allow", &self.rule);
    }
}

#[test]
fn without_postgresql_checks_go_on_and_everything_comes_back() {
    let Some(mut stage) = stage(|settings| settings) else { return };
    for _ in 0..2 {
        stage.cluster.stop();
        let tenant = &stage.tenant;
        tenant.decide("alice", "doc:read", "read").is("allow", &stage.rule);
        let rule = json!({"sub": "bob", "obj": "doc:read", "act": "read", "effect": "allow"});
        let write = tenant.manage("POST /api/v1/resources/policies", &rule);
        write.refused(503, "DEPENDENCY_UNAVAILABLE");
        let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
        stage.cold.check(&check).refused(503, "DEPENDENCY_UNAVAILABLE");
        // The process knows that no rule names it.
        tenant.decide("alice", "invented:read", "read").is_default();
        tenant.get("/api/v1/resources").refused(503, "DEPENDENCY_UNAVAILABLE");
        let degraded =
            json!({"status": "degraded", "checks": {"database": "unavailable", "casbin": "ok"}});
        let address = stage.server.address;
        Request::new("GET /healthz/ready").send(address).is(503).has(&degraded);
        Request::new("GET /healthz/live").send(address).is(200);
        tenant.decide("alice", "doc:read", "read").is("allow", &stage.rule);
        stage.cluster.start();
        stage.works_again();
    }
}

#[test]
fn plans_in_memory_serve_no_longer_than_the_operator_allows() {
    let Some(mut stage) = stage(|settings| settings.set("MAX_STALENESS", "1s")) else { return };
    stage.cluster.stop();
    eventually("the plans are too old", || stage.check() == 503);
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    stage.tenant.check(&check).refused(503, "DEPENDENCY_UNAVAILABLE");
    stage.cluster.start();
    stage.works_again();
}

#[test]
fn keys_in_memory_serve_no_longer_than_the_operator_allows() {
    let Some(mut stage) = stage(|settings| settings.set("MAX_STALENESS", "10s")) else { return };
    let [known, unknown] = [0, 1].map(|_| {
        let body = json!({"name": "k", "permissions": ["access:evaluate"]});
        stage.tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key")
    });
    let ask = |stage: &Stage, key: &str| {
        let check = json!({
            "subject": "alice", "resource": "doc:read", "action": "read", "domain": stage.tenant.name,
        });
        let request = Request::new("POST /api/v1/check").header("x-service-api-key", key);
        stage.tenant.send(&request.json(&check))
    };
    ask(&stage, &known).is(200);
    stage.cluster.stop();
    assert_eq!(ask(&stage, &known).is(200).text_of("decision"), "allow");
    ask(&stage, &unknown).refused(503, "DEPENDENCY_UNAVAILABLE");
    eventually("the key is too old", || ask(&stage, &known).status == 503);
    stage.cluster.start();
    eventually("keys are read again", || ask(&stage, &unknown).status == 200);
}

#[test]
fn a_short_staleness_does_not_fail_while_the_store_is_up() {
    let settings = Settings::new(Provider::shared()).set("MAX_STALENESS", "1s");
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let (began, mut failed, mut asked) = (std::time::Instant::now(), 0, 0);
    while began.elapsed() < std::time::Duration::from_secs(3) {
        asked += 1;
        failed += usize::from(tenant.check(&check).status == 503);
    }
    // A busy machine can stop the process for longer than the staleness. Without a proof in time, half of them fail.
    assert!(failed * 4 <= asked, "{failed} of {asked} checks failed");
}
