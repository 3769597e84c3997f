//! Records that are large: each is bounded, and costs no other one.

use serde_json::json;

use super::{CHECK, id_of, listed, read, set, settings, tenant_of};
use crate::support::tenant::condition;
use crate::support::{Provider, Request, Settings, Tenant, eventually_some};

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

/// Returns the bytes of the write-ahead files.
fn written(settings: &Settings) -> u64 {
    let files = settings.path("buffer").read_dir().expect("reads");
    let bytes =
        |file: std::io::Result<std::fs::DirEntry>| file?.metadata().map(|about| about.len());
    files.map(|file| bytes(file).expect("is there")).sum()
}

#[test]
fn what_the_checks_of_a_batch_share_is_written_once_and_read_whole() {
    const CHECKS: usize = 100;
    const MIB: u64 = 1 << 20;
    let settings = settings();
    let buffer = settings.path("buffer").display().to_string();
    let settings = settings.set("DECISION_LOG_BUFFER", buffer);
    let server = settings.start();
    let tenant = tenant_of(&server);
    let text = "x".repeat(60_000);
    let user: serde_json::Map<_, _> =
        (0..15).map(|number| (format!("a{number}"), json!(text))).collect();
    let mut body = read("eve");
    body["attributes"] = json!({"user": user});
    let mut batch = body.clone();
    batch["checks"] =
        (0..CHECKS).map(|number| json!({"subject": format!("eve-{number}")})).collect();
    let answer = tenant.manage("POST /api/v1/checks", &batch).is(200).json();
    let results = answer["results"].as_array().expect("results");
    let ids: Vec<_> = results.iter().filter_map(|item| item["decision_id"].as_str()).collect();
    assert_eq!(ids.len(), CHECKS, "none is lost");
    let by_id = |id: &str| format!("/api/v1/decisions/{id}");
    let record = |id: &str| {
        eventually_some("the record is there", || {
            let reply = tenant.get(&by_id(id));
            (reply.status == 200).then(|| reply.json())
        })
    };
    let last = record(ids[CHECKS - 1]);
    assert!(written(&settings) < 3 * MIB, "{}", written(&settings));
    assert_eq!(last["attributes"]["user"], body["attributes"]["user"]);

    // Without a batch each record has them.
    let alone: Vec<_> = (0..4).map(|_| tenant.check(&body).is(200)).collect();
    let id = id_of(alone.last().expect("some")).expect("is kept").to_owned();
    assert_eq!(record(&id)["attributes"], last["attributes"]);
    assert!(written(&settings) > 3 * MIB, "{}", written(&settings));

    let route = "DELETE /api/v1/decisions?subject=eve-7";
    assert_eq!(tenant.manage(route, &json!(null)).is(200).json(), json!({"erased": 1}));
    tenant.get(&by_id(ids[7])).refused(404, "NOT_FOUND");
    assert_eq!(record(ids[CHECKS - 1]), last, "also in a sealed file");
}
