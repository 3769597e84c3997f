//! The record in a bucket of S3, and checks while the bucket is down.

use portcullis_test_s3::S3Server;
use serde_json::{Value, json};

use crate::everywhere::decisions::{id_of, listed, read, run, set, tenant_of};
use crate::support::{Provider, Request, Settings, Tenant, eventually_some};

/// Bytes of the attributes by which the write-ahead files are full soon, and of each.
const LONG: usize = 900_000;
const NOTE: usize = 60_000;
/// More records of that size than the write-ahead files hold.
const TOO_MANY: usize = 200;
/// Checks that are refused, one soon after the other.
const REFUSED: usize = 20;

fn settings_of(bucket: &S3Server) -> Settings {
    Settings::new(Provider::shared()).recording_in(bucket)
}

#[test]
fn a_bucket_has_the_record_and_loses_nothing_while_it_is_down() {
    let mut bucket = S3Server::start();
    let settings = settings_of(&bucket);
    let server = settings.start();
    let tenant = tenant_of(&server);
    set(&tenant, &json!({"mode": "durable"}));
    tenant.check(&read("ann")).is(200);
    tenant.check(&read("bob")).is(200);
    bucket.go_down();
    let server = server.crash_and_restart();
    let tenant = tenant.at(&server);
    tenant.check(&read("carl")).is(200);
    let failures = "portcullis_decision_store_failures_total";
    eventually_some("a failure is counted", || {
        let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
        let figure =
            metrics.lines().find_map(|line| line.strip_prefix(failures)?.strip_prefix(' '));
        figure.filter(|figure| *figure != "0").map(str::to_owned)
    });
    let before = listed(&tenant, "", 3);
    bucket.come_back();
    eventually_some("what was waiting is sealed", || {
        bucket.objects().join("acme/log").is_dir().then_some(())
    });
    assert_eq!(listed(&tenant, "", 3), before);
    let erase = "DELETE /api/v1/decisions?subject=ann";
    assert_eq!(tenant.manage(erase, &json!(null)).is(200).json(), json!({"erased": 1}));
    listed(&tenant, "", 2);
    assert!(server.stop().success());
    let verified = settings.run(&["decisions", "verify"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
    assert!(verified.out.contains("with 2 records"), "{}", verified.out);
    let without = settings.clone().set("AWS_SECRET_ACCESS_KEY", "").run(&["serve"]);
    assert!(without.err.contains("AWS_SECRET_ACCESS_KEY: expected"), "{}", without.err);
}

#[test]
fn export_reads_a_bucket_and_says_when_it_cannot() {
    let mut bucket = S3Server::start();
    let settings = settings_of(&bucket);
    let server = settings.start();
    let tenant = tenant_of(&server);
    for subject in ["ann", "bob", "ann"] {
        tenant.check(&read(subject)).is(200);
    }
    assert!(server.stop().success());
    let server = settings.start();
    let tenant = tenant.at(&server);
    let exported = |arguments: &[&str]| {
        let done = run(&server, &tenant, &[&["export"], arguments].concat());
        assert_eq!(done.code, Some(0), "{}", done.err);
        let records = done.out.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        records.collect::<Vec<Value>>()
    };
    assert_eq!(exported(&[]), listed(&tenant, "", 3));
    assert_eq!(exported(&["--subject", "ann"]), listed(&tenant, "?subject=ann", 2));
    bucket.go_down();
    let failed = run(&server, &tenant, &["export", "--action", "read"]);
    assert_ne!(failed.code, Some(0));
    assert!(failed.err.contains("the place of the recorded decisions"), "{}", failed.err);
}

#[test]
fn a_full_buffer_refuses_checks_until_the_bucket_is_back() {
    let mut bucket = S3Server::start();
    let server = settings_of(&bucket).set("DECISION_LOG_BUFFER_BYTES", "128MiB").start();
    let tenant = tenant_of(&server);
    set(&tenant, &json!({"mode": "durable", "full": "refuse"}));
    bucket.go_down();
    let check = |tenant: &Tenant<'_>| {
        let mut check = read("ann");
        let notes = (0..LONG / NOTE).map(|number| (number.to_string(), json!("n".repeat(NOTE))));
        check["attributes"] = json!({"context": notes.collect::<serde_json::Map<_, _>>()});
        tenant.check(&check)
    };
    let answers = (0..TOO_MANY).map(|_| check(&tenant)).take_while(|reply| reply.status == 200);
    let acknowledged = answers.inspect(|reply| assert!(id_of(reply).is_some())).count();
    assert!((1..TOO_MANY).contains(&acknowledged), "{acknowledged} were recorded");
    for _ in 0..REFUSED {
        check(&tenant).refused(503, "DEPENDENCY_UNAVAILABLE");
    }
    set(&tenant, &json!({"mode": "durable", "full": "answer"}));
    let unrecorded = check(&tenant).is(200);
    assert_eq!((unrecorded.text_of("decision").as_str(), id_of(&unrecorded)), ("deny", None));
    set(&tenant, &json!({"mode": "durable", "full": "refuse"}));

    let log = server.process.err.text();
    let lines = log.matches("decisions are not recorded").count();
    assert!((1..REFUSED).contains(&lines), "a line in ten seconds: {log}");
    bucket.come_back();
    let server = server.crash_and_restart();
    let tenant = tenant.at(&server);
    eventually_some("there is room again", || {
        let reply = check(&tenant);
        (reply.status == 200).then(|| assert!(id_of(&reply).is_some()))
    });
    let stats = tenant.get("/api/v1/decisions/stats").is(200).json();
    let group = json!({"allow": 0, "deny": acknowledged + 1, "undetermined": 0});
    assert_eq!(stats, json!({"complete": true, "groups": [group]}));
}
