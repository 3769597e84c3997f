//! Records that are large: each is bounded, and costs no other one.

use serde_json::json;

use super::{CHECK, id_of, listed, read, set, settings, tenant_of};
use crate::support::tenant::condition;
use crate::support::{Provider, Request, Tenant};

#[test]
fn a_record_with_very_many_hashed_items_hides_no_other_one_also_after_a_restart() {
    let settings = settings();
    let server = settings.start();
    let tenant = tenant_of(&server);
    let other = Tenant::with_provider(&server, Provider::shared(), "other");
    set(&tenant, &json!({"attributes": {"user.many": "hash"}}));
    let mut large = read("eve");
    large["attributes"] = json!({"user": {"many": vec![1; 400_000], "level": 3}});
    assert!(id_of(&tenant.check(&large).is(200)).is_some());
    other.check(&read("bob")).is(200);
    let record = listed(&tenant, "", 1).remove(0);
    assert_eq!(record["dropped"], json!(["user.many"]));
    assert_eq!(record["attributes"]["user"], json!({"level": 3}));
    listed(&other, "", 1);
    server.stop();
    let server = settings.start();
    listed(&other.at(&server), "", 1);
    assert_eq!(listed(&tenant.at(&server), "", 1), [record]);
}

#[test]
fn a_claim_that_is_nested_deep_loses_no_record() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let other = Tenant::with_provider(&server, Provider::shared(), "other");
    set(&tenant, &json!({"attributes": {"user.pin": "hash"}}));
    set(&other, &json!({"mode": "durable"}));
    tenant.policy("deep", "doc:read", "allow", 1, &condition("token.deep", "eq", "er"));
    let claim = (0..126).fold(json!(1), |inner, _| json!([inner]));
    let token = tenant.token_with("eve", &["service"], &json!({"deep": claim}));
    let request = Request::new(CHECK).token(&token).json(&read("eve"));
    for _ in 0..20 {
        assert!(id_of(&tenant.send(&request).is(200)).is_some());
        assert!(id_of(&other.check(&read("bob")).is(200)).is_some());
    }
    for record in listed(&tenant, "", 20) {
        assert_eq!((&record["dropped"], &record["token"]), (&json!(["token.deep"]), &json!({})));
    }
    listed(&other, "", 20);
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    for line in metrics.lines().filter(|line| line.starts_with("portcullis_decision_records_lost"))
    {
        assert!(line.ends_with(" 0"), "{line}");
    }
}
