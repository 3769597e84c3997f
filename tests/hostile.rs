//! Resolvers that do their worst, in a service that must not notice: the decision fails closed, the cause is in the
//! reason, the explanation and the metrics, and another tenant's resolver answers meanwhile.

use std::sync::mpsc;

use serde_json::{Value, json};

use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::tenant::{Decision, condition};
use crate::support::{Answer, Provider, Receiver, Request, Server, Settings, Tenant};

/// The behaviour of the guest `behaviours` for a subject, the text of the cause, and the label of the metrics.
const FAILURES: [(&str, &str, &str); 24] = [
    ("loop", "timed out after 300 ms", "timed_out"),
    ("sleep", "timed out after 300 ms", "timed_out"),
    ("log for ever", "timed out after 300 ms", "timed_out"),
    ("config for ever", "timed out after 300 ms", "timed_out"),
    ("print for ever", "timed out after 300 ms", "timed_out"),
    ("recurse", "stack limit of 512 KiB", "stack"),
    ("recurse with large frames", "memory access out of bounds", "out_of_bounds"),
    ("memory", "memory limit of 64 MiB", "memory"),
    ("100 MB", "memory limit of 64 MiB", "memory"),
    ("50 MB", "passed more than 1024 KiB to the host", "too_large"),
    ("log 50 MB", "passed more than 1024 KiB to the host", "too_large"),
    ("request of 50 MB", "passed more than 1024 KiB to the host", "too_large"),
    ("panic", "panicked: the sky is falling", "panicked"),
    ("exit", "called `exit`", "exited"),
    ("undeclared", "bad answer: `shoe_size` is not declared", "bad_answer"),
    ("mistyped", "bad answer: `text` is declared as a string", "bad_answer"),
    ("twice", "bad answer: `text` is answered twice", "bad_answer"),
    ("unwanted", "bad answer: `number` was not wanted", "bad_answer"),
    ("silent", "not answered", "ok"),
    ("invalid", "invalid request: no such person", "invalid"),
    ("unavailable", "unavailable: the directory is down", "unavailable"),
    ("internal", "internal error: no idea", "internal"),
    ("elsewhere", "refused: endpoint `elsewhere` is not granted", "refused"),
    ("request too many", "refused: more than 8 requests in one call", "refused"),
];

/// A service whose resolvers may call `source`, with the tenant that is harmed and the one that must not notice.
struct Stage {
    server: Server,
    source: Receiver,
}

impl Stage {
    fn new() -> Self {
        // Few instances, so that they can run out.
        let settings = Settings::new(Provider::shared())
            .set("RESOLVER_INSTANCES", "8")
            .set("EGRESS_ALLOW_HTTP", "true")
            .set("EGRESS_ALLOW_CIDRS", "127.0.0.1/32");
        Self { server: settings.start(), source: Receiver::start() }
    }

    fn tenant(&self, name: &str) -> Tenant<'static> {
        Tenant::with_provider(&self.server, Provider::shared(), name)
    }

    /// A tenant whose good resolver decides `desk:read`.
    fn neighbour(&self) -> Tenant<'static> {
        let tenant = self.tenant("neighbour");
        let manifest = json!({"config": {"department": "sales"}, "namespace": "hr", "cache_ttl_ms": 0,
            "limits": {"timeout_ms": 20_000}});
        let form = Form::new(&manifest, &guest("directory"));
        tenant.upload(format!("POST {RESOLVERS}"), &form).is(201);
        let tree = condition("hr.department", "eq", "sales");
        tenant.policy("sales", "desk:read", "allow", 1, &tree);
        tenant
    }

    /// One that is to run out of time has little of it; the others have time enough on a busy machine.
    fn resolver(&self, tenant: &Tenant<'_>, namespace: &str, cause: &str) -> String {
        let timeout_ms = if cause.starts_with("timed out") { 300 } else { 20_000 };
        self.resolver_for(tenant, namespace, timeout_ms)
    }

    fn resolver_for(&self, tenant: &Tenant<'_>, namespace: &str, timeout_ms: u32) -> String {
        let manifest = json!({
            "namespace": namespace,
            "limits": {"timeout_ms": timeout_ms},
            "endpoints": {"source": {"url": self.source.url("/")}},
        });
        let form = Form::new(&manifest, &guest("behaviours"));
        tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id()
    }
}

/// `<namespace>:read` is open to everybody, unless the resolver says `never`; `<namespace>:write` is open only if it
/// says `always`.
fn policies(tenant: &Tenant<'_>, namespace: &str, attribute: &str) {
    let path = format!("{namespace}.{attribute}");
    let (never, always) = match attribute {
        "text" => (condition(&path, "eq", "never"), condition(&path, "eq", "always")),
        "number" => (condition(&path, "eq", 1), condition(&path, "eq", 2)),
        _ => (condition(&path, "contains", 1), condition(&path, "contains", 2)),
    };
    tenant.rule("*", &format!("{namespace}:read"), "read", "allow");
    tenant.policy(&format!("{namespace} forbids"), &format!("{namespace}:read"), "deny", 1, &never);
    tenant.policy(
        &format!("{namespace} allows"),
        &format!("{namespace}:write"),
        "allow",
        1,
        &always,
    );
}

/// Has the resolver fail, while the neighbour's answers, and holds what comes of it against the cause.
#[track_caller]
fn must_fail_closed(
    tenant: &Tenant<'_>,
    neighbour: &Tenant<'_>,
    namespace: &str,
    subject: &str,
    cause: &str,
) {
    let (read, write) = (format!("{namespace}:read"), format!("{namespace}:write"));
    let decision = std::thread::scope(|scope| {
        let hostile = scope.spawn(|| tenant.decide(subject, &read, "read"));
        let undisturbed = neighbour.decide("ann", "desk:read", "read");
        assert!(undisturbed.allowed(), "beside `{subject}`: {}", undisturbed.reason);
        hostile.join().expect("an answer")
    });
    assert!(!decision.allowed(), "`{subject}` must not switch off a rule that forbids");
    let said = format!("`{namespace} forbids` denies: its condition is undetermined");
    assert!(decision.reason.contains(&said), "{subject}: {}", decision.reason);
    // Everybody sees the reason: it has the kind of failure, and nothing that the guest said.
    let (kind, words) = cause.split_once(": ").unwrap_or((cause, ""));
    let tells = |reason: &str| {
        reason.contains(&format!("resolver `{namespace}`: {kind}"))
            && (words.is_empty() || !reason.contains(words))
    };
    assert!(tells(&decision.reason), "{subject}: {}", decision.reason);

    let body = json!({"subject": subject, "resource": write, "action": "write"});
    let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
    assert_eq!(explained["decision"], "deny", "`{subject}` must not allow anything");
    let reason = explained["reason"].as_str().unwrap_or_default();
    let withheld = format!("the condition of ABAC policy `{namespace} allows` is undetermined");
    assert!(reason.contains(&withheld) && tells(reason), "{subject}: {reason}");
    let resolver = &explained["explanation"]["resolvers"][0];
    let told = resolver["cause"]
        .as_str()
        .or(explained["explanation"]["attributes"][0]["because"].as_str());
    assert!(told.is_some_and(|told| told.contains(cause)), "{subject}: {explained}");
}

#[test]
fn a_misbehaving_resolver_never_allows_and_disturbs_no_other() {
    let stage = Stage::new();
    let (tenant, neighbour) = (stage.tenant("harmed"), stage.neighbour());
    for (index, (subject, cause, _)) in FAILURES.into_iter().enumerate() {
        let namespace = format!("evil_{index}");
        stage.resolver(&tenant, &namespace, cause);
        policies(&tenant, &namespace, "text");
        must_fail_closed(&tenant, &neighbour, &namespace, subject, cause);
    }
    for (subject, attribute) in [("nan", "number"), ("infinity", "numbers")] {
        stage.resolver(&tenant, attribute, "");
        policies(&tenant, attribute, attribute);
        must_fail_closed(&tenant, &neighbour, attribute, subject, "bad answer: ");
    }
    let metrics = Request::new("GET /metrics").send(stage.server.address).is(200).text;
    for (_, _, outcome) in FAILURES {
        let counter = format!("portcullis_resolver_calls_total{{outcome=\"{outcome}\"}} ");
        let count = metrics.lines().find_map(|line| line.strip_prefix(&counter));
        assert!(count.is_some_and(|count| count != "0"), "{counter}{count:?}");
    }
    assert!(!metrics.contains("harmed"), "metrics name no tenant");
    Request::new("GET /healthz/ready").send(stage.server.address).is(200);
    assert!(neighbour.decide("ann", "desk:read", "read").allowed());
}

#[test]
fn a_tenant_that_takes_all_it_can_get_leaves_instances_to_others() {
    let stage = Stage::new();
    let (tenant, neighbour) = (stage.tenant("harmed"), stage.neighbour());
    let namespaces = ["evil_a", "evil_b", "evil_c", "evil_d"];
    let ids = namespaces.map(|namespace| {
        let id = stage.resolver_for(&tenant, namespace, 3_000);
        policies(&tenant, namespace, "text");
        id
    });
    let body = json!({"check": {"subject": "loop", "resource": "any:read", "action": "read"}});
    let (said, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        for (namespace, id) in namespaces.iter().zip(&ids) {
            for _ in 0..4 {
                let (said, tenant, body) = (said.clone(), &tenant, &body);
                scope.spawn(move || {
                    let tried = tenant.manage(format!("POST {RESOLVERS}/{id}/test"), body);
                    said.send(tried.is(200).json()["error"].to_string()).expect("it is heard");
                });
            }
            let (said, tenant) = (said.clone(), &tenant);
            scope.spawn(move || {
                let decision = tenant.decide("loop", &format!("{namespace}:read"), "read");
                said.send(decision.reason).expect("it is heard");
            });
        }
        drop(said);
        // Whoever is turned away finds all that there is for it taken: the neighbour must not.
        let mut turned_away = 0;
        for cause in heard {
            assert!(
                cause.contains("no instance was free") || cause.contains("timed out"),
                "{cause}"
            );
            turned_away += usize::from(cause.contains("no instance was free"));
            let decision = neighbour.decide("ann", "desk:read", "read");
            assert!(decision.allowed(), "after {turned_away}: {}", decision.reason);
        }
        assert!(turned_away >= 1, "there were twenty calls for two instances");
    });
}

#[test]
fn a_source_that_redirects_hangs_or_says_too_much_is_no_way_out() {
    let stage = Stage::new();
    let (tenant, neighbour) = (stage.tenant("harmed"), stage.neighbour());
    let elsewhere = format!("http://{}/healthz/live", stage.server.address);
    let redirect =
        format!("HTTP/1.1 302 Found\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
    let large =
        [b"HTTP/1.1 200 OK\r\ncontent-length: 2097152\r\n\r\n".as_slice(), &[b'x'; 2 << 20]];
    for (namespace, answer, cause) in [
        ("redirected", Answer::Raw(redirect.into_bytes()), "unavailable: status 302"),
        ("hanging", Answer::Hang, "timed out after 300 ms"),
        ("broken", Answer::Reset, "unavailable: "),
        ("failing", Answer::Status(500), "unavailable: status 500"),
        (
            "large",
            Answer::Raw(large.concat()),
            "refused: the response of `source` has more than 1024 KiB",
        ),
    ] {
        stage.source.answer_by(move |_| answer.clone());
        stage.resolver(&tenant, namespace, cause);
        policies(&tenant, namespace, "text");
        must_fail_closed(&tenant, &neighbour, namespace, "fetch", cause);
    }
    let local =
        json!({"namespace": "local", "endpoints": {"source": {"url": "http://127.0.0.2/"}}});
    let refused =
        tenant.upload(format!("POST {RESOLVERS}"), &Form::new(&local, &guest("behaviours")));
    assert_eq!(refused.is(400).json()["details"]["path"], "/manifest/endpoints/source/url");
}

#[test]
fn a_resolver_that_keeps_failing_is_left_alone_and_its_record_says_so() {
    let stage = Stage::new();
    let (tenant, neighbour) = (stage.tenant("harmed"), stage.neighbour());
    let id = stage.resolver(&tenant, "evil", "panicked");
    policies(&tenant, "evil", "text");
    let decide = |subject: &str| -> Decision { tenant.decide(subject, "evil:read", "read") };
    let breaker = || {
        let record = tenant.get(&format!("{RESOLVERS}/{id}")).is(200).json();
        record["activity"]["breaker"].clone()
    };
    assert!(decide("hello").allowed());
    assert_eq!(breaker(), "closed");
    for _ in 0..5 {
        assert!(!decide("panic").allowed());
    }
    assert_eq!(breaker(), "open");
    // It would answer, but is not asked: what was cached before it opened still serves.
    let suspended = decide("a good one");
    assert!(!suspended.allowed());
    assert!(suspended.reason.contains("circuit breaker open for "), "{}", suspended.reason);
    assert!(suspended.reason.ends_with("the last one: panicked"), "{}", suspended.reason);
    assert!(decide("hello").allowed());
    let calls = |record: Value| record["activity"]["calls"].as_u64();
    let record = tenant.get(&format!("{RESOLVERS}/{id}")).is(200).json();
    assert_eq!(calls(record.clone()), Some(6), "{record}");
    assert_eq!(record["activity"]["failures"]["panicked"], 5);
    assert!(neighbour.decide("ann", "desk:read", "read").allowed());
    // A change is a fresh start.
    tenant.manage(format!("PUT {RESOLVERS}/{id}"), &json!({"description": "mended"})).is(200);
    assert_eq!(breaker(), "closed");
    assert!(decide("another good one").allowed());
}

#[test]
fn a_module_without_the_contract_is_not_installed() {
    let stage = Stage::new();
    let tenant = stage.tenant("harmed");
    let good = guest("directory");
    let mut noise = vec![0; 16 << 20];
    fastrand::Rng::with_seed(7).fill(&mut noise);
    for (module, cause) in [
        (good[..good.len() / 2].to_vec(), "cannot be compiled"),
        (good[..6].to_vec(), "the header is cut off"),
        (b"\0asm\x01\0\0\0".to_vec(), "this is a core module"),
        (noise, "do not begin with"),
        (vec![], "do not begin with"),
        (guest("sockets"), "`wasi:sockets/tcp"),
        (guest("files"), "`wasi:filesystem/types"),
        (guest("stuck"), "timed out"),
        (guest("curious"), "`describe`"),
    ] {
        let form = Form::new(&directory("hr"), &module);
        let refused = tenant.upload(format!("POST {RESOLVERS}"), &form).is(400);
        assert_eq!(refused.json()["details"]["path"], "/module", "{}", refused.text);
        assert!(refused.text.contains(cause), "{cause}: {}", refused.text);
    }
    assert_eq!(tenant.get(RESOLVERS).is(200).json(), json!([]));
    tenant.directory("hr");
}
