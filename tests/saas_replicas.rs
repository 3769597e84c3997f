//! Identity providers on several servers: what the operator tells one of them, all know within a second or so.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Operator, Provider, Settings, Tenant, eventually};

/// Much more than the second that is promised, for a machine that is busy.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_provider_is_registered_and_removed_on_every_replica() {
    let settings = Settings::new(Provider::shared());
    let replicas = [settings.start(), settings.start()];
    let tenant = Tenant::with_provider(&replicas[0], Provider::shared(), "known");
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let list = format!("/admin/tenants/{}/identity-providers", tenant.id);
    for round in 0..3 {
        let (here, there) = (&replicas[round % 2], &replicas[(round + 1) % 2]);
        let operator = Operator::new(here);
        operator.know(&tenant.id, &Operator::provider(&tenant.issuer));
        tenant.at(here).check(&check).is(200);
        let told = Instant::now();
        eventually("it is known there", || tenant.at(there).check(&check).status == 200);
        assert!(told.elapsed() < SOON, "{:?}", told.elapsed());
        let providers = operator.get(&list).is(200).json();
        operator.remove(&tenant.id, providers[0]["id"].as_str().unwrap()).is(204);
        tenant.at(here).check(&check).refused(401, "UNAUTHENTICATED");
        let told = Instant::now();
        eventually("it is unknown there", || tenant.at(there).check(&check).status == 401);
        assert!(told.elapsed() < SOON, "{:?}", told.elapsed());
    }
}
