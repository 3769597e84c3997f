//! Limits of callers: failed authentications, rates, and the metrics of them (`docs/semantics.md`, section 8.12).

use serde_json::json;

use crate::support::saas::{self, operating};
use crate::support::{MANAGER, Provider, Reply, Request, Server, Settings, Tenant};

/// The failures that one address may have in these tests. None becomes free again while a test runs.
const FAILURES: usize = 10;

/// A request that the limits count as one of `address`: the test is a proxy.
fn from(address: &str, request: Request) -> Request {
    request.header("x-forwarded-for", address)
}

fn with_proxy(settings: Settings) -> Settings {
    settings.set("TRUSTED_PROXIES", "127.0.0.0/8")
}

fn limited(settings: Settings) -> Server {
    with_proxy(settings).set("RATE_LIMIT_FAILURES", format!("{FAILURES}/h")).start()
}

/// One guess of each kind at the credentials of the routes of a tenant.
fn guesses() -> [Request; 3] {
    let forged = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2lnbmF0dXJl";
    let key = format!("pck_{}_{}", "0".repeat(32), "A".repeat(49));
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    [
        Request::new("POST /api/v1/check").token(forged).json(&check),
        Request::new("GET /api/v1/resources").token(forged),
        Request::new("GET /api/v1/resources").header("x-service-api-key", &key),
    ]
}

/// Returns the statuses of `count` requests from `address`.
fn statuses(server: &Server, address: &str, request: &Request, count: usize) -> Vec<u16> {
    let request = from(address, request.clone());
    (0..count).map(|_| request.send(server.address).status).collect()
}

/// Returns the value of a series of the metrics.
#[track_caller]
fn metric(server: &Server, series: &str) -> f64 {
    let text = Request::new("GET /metrics").send(server.address).is(200).text;
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().expect("a number")
}

/// Asserts the form of a 429, and that it names `limit`.
#[track_caller]
fn is_limited(reply: Reply, limit: &str) -> Reply {
    let reply = reply.refused(429, "RATE_LIMITED");
    assert_eq!(reply.details(), json!({"limit": limit}));
    let seconds = reply.header("retry-after").and_then(|text| text.parse::<u64>().ok());
    assert!(seconds.is_some_and(|seconds| seconds >= 1), "{:?}", reply.headers);
    let (policy, left) = (reply.header("ratelimit-policy"), reply.header("ratelimit"));
    let begins = |header: Option<&str>, parameter: &str| {
        header.is_some_and(|text| text.starts_with(&format!("\"{limit}\";{parameter}=")))
    };
    assert!(begins(policy, "q") && begins(left, "r"), "{:?}", reply.headers);
    reply
}

#[test]
fn guesses_beyond_the_limit_are_a_429_and_good_credentials_pass() {
    for (guess, number) in guesses().iter().zip(1..) {
        let server = limited(Settings::new(Provider::shared()));
        let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
        let attacker = format!("192.0.2.{number}");
        let answers = statuses(&server, &attacker, guess, FAILURES + 5);
        assert_eq!(answers, [[401; FAILURES].as_slice(), &[429; 5]].concat());
        is_limited(from(&attacker, guess.clone()).send(server.address), "address-failures");
        // A good token from the same address, and a bad one from another.
        from(&attacker, tenant.managing("GET /api/v1/resources")).send(server.address).is(200);
        assert_eq!(statuses(&server, "192.0.2.77", guess, 1), [401]);
        let kind = if number == 3 { "service_key" } else { "token" };
        let failures = format!("portcullis_authentication_failures_total{{credential=\"{kind}\"}}");
        assert!(metric(&server, &failures) >= FAILURES as f64);
        let lines = server.process.err.lines();
        let lines = lines.iter().filter(|line| line.contains("too many failed authentications"));
        let lines: Vec<_> = lines.collect();
        assert!(lines.len() == 1 && lines[0].contains(&attacker), "{lines:?}");
    }
}

#[test]
fn guesses_at_the_admin_key_are_limited_and_the_key_passes() {
    let server = limited(saas::settings());
    let guess = Request::new("GET /admin/tenants").header("x-admin-api-key", "guess");
    let answers = statuses(&server, "192.0.2.1", &guess, FAILURES + 5);
    assert_eq!(answers, [[401; FAILURES].as_slice(), &[429; 5]].concat());
    from("192.0.2.1", operating("GET /admin/tenants")).send(server.address).is(200);
    let refused = r#"portcullis_requests_refused_total{reason="failures",class="operator"}"#;
    assert_eq!(metric(&server, refused), 5.0);
}

/// The control: with the limit off, an address may guess for ever.
#[test]
fn without_the_limit_every_guess_is_a_401() {
    let settings = with_proxy(saas::settings()).set("RATE_LIMIT_FAILURES", "off");
    let server = settings.start();
    let guess = Request::new("GET /admin/tenants").header("x-admin-api-key", "guess");
    assert_eq!(statuses(&server, "192.0.2.1", &guess, 100), [401; 100]);
}

#[test]
fn a_service_key_passes_whatever_the_address_did() {
    let server = limited(Settings::new(Provider::shared()));
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let body = json!({"name": "k", "permissions": ["resources:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    statuses(&server, "192.0.2.1", &guesses()[2], FAILURES + 5);
    let request = Request::new("GET /api/v1/resources").header("x-service-api-key", &key);
    assert_eq!(statuses(&server, "192.0.2.1", &request, 3), [200; 3]);
}

#[test]
fn only_a_trusted_proxy_names_the_client() {
    let limit = format!("{FAILURES}/h");
    let untrusting = Settings::new(Provider::shared()).set("RATE_LIMIT_FAILURES", limit).start();
    let guess = &guesses()[1];
    for number in 0..FAILURES {
        assert_eq!(statuses(&untrusting, &format!("192.0.2.{number}"), guess, 1), [401]);
    }
    assert_eq!(statuses(&untrusting, "198.51.100.1", guess, 1), [429], "the header is not read");
    let trusting = limited(Settings::new(Provider::shared()));
    // What a client writes itself is to the left of what the proxy adds.
    for number in 0..FAILURES {
        let claimed = format!("198.51.100.{number}, 2001:db8::{number}");
        assert_eq!(statuses(&trusting, &claimed, guess, 1), [401]);
    }
    assert_eq!(statuses(&trusting, "2001:db8::ffff", guess, 1), [429], "the /64 counts as one");
    assert_eq!(statuses(&trusting, "2001:db8:0:1::1", guess, 1), [401]);
    let forwarded = guess.clone().header("forwarded", "for=\"[2001:db8::1]:4711\"");
    assert_eq!(forwarded.send(trusting.address).status, 429);
}

#[test]
fn a_rate_lets_exactly_its_number_pass() {
    let settings = Settings::new(Provider::shared())
        .set("RATE_LIMIT_CHECKS", "tenant=8/h,credential=5/h")
        .set("RATE_LIMIT_WRITES", "tenant=2/h");
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let check = |tenant: &Tenant<'_>, subject: &str| {
        tenant.check_by(&tenant.token(subject, &["service"]), &check)
    };
    let first = check(&tenant, "one").is(200);
    let policy = r#""credential-checks";q=5;w=3600, "tenant-checks";q=8;w=3600"#;
    assert_eq!(first.header("ratelimit-policy"), Some(policy));
    let left = r#""credential-checks";r=4;t=720, "tenant-checks";r=7;t=450"#;
    assert_eq!(first.header("ratelimit"), Some(left));
    let passed = |subject: &str, count: usize| {
        let (tenant, check) = (&tenant, &check);
        let answers = std::thread::scope(|scope| {
            let send = |_| scope.spawn(move || check(tenant, subject).status);
            let all: Vec<_> = (0..count).map(send).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(answers.iter().all(|status| [200, 429].contains(status)), "{answers:?}");
        answers.iter().filter(|status| **status == 200).count()
    };
    assert_eq!(passed("one", 20), 4);
    is_limited(check(&tenant, "one"), "credential-checks");
    assert_eq!(passed("two", 20), 3, "the tenant has no more");
    let refused = check(&tenant, "three");
    assert_eq!((refused.status, refused.details()), (429, json!({"limit": "tenant-checks"})));
    let other = Tenant::with_provider(&server, Provider::shared(), "globex");
    check(&other, "one").is(200);
    // Other kinds of requests are counted apart.
    assert_eq!(tenant.get("/api/v1/resources").is(200).header("ratelimit"), None);
    tenant.resource("doc:read");
    tenant.resource("doc:write");
    let third = tenant.manage("POST /api/v1/resources", &json!({"name": "doc:x"}));
    is_limited(third, "tenant-writes");
}

/// A search is counted as one check, and as one more for each 100 candidates that it looked at.
#[test]
fn a_search_is_charged_by_its_candidates() {
    let settings = Settings::new(Provider::shared()).set("RATE_LIMIT_CHECKS", "credential=10/h");
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let record = |number: usize| json!({"type": "record", "id": format!("r{number}")});
    let records: Vec<_> = (0..250).map(record).collect();
    tenant.manage("PUT /api/v1/entities", &json!({"entities": records})).is(200);
    // No index finds the entities for which this holds, so that a search looks at each.
    let pair = json!({"type": "CONDITION", "attribute": "resource.a", "operator": "eq", "value": {"attribute": "resource.b"}});
    tenant.policy("pairs", "record:read", "allow", 1, &pair);
    let left = |reply: Reply| {
        let header = reply.header("ratelimit").expect("what is left").to_owned();
        let rest = header.split("r=").nth(1).expect("a number").to_owned();
        rest.split(';').next().unwrap_or_default().parse::<u32>().expect("a number")
    };
    let check = |token: &str| {
        let body = json!({"subject": "bob", "resource": "record:read", "action": "read"});
        tenant.check_by(token, &body)
    };
    let given = |count: usize| -> Vec<_> {
        (0..count).map(|number| json!({"id": format!("r{number}")})).collect()
    };
    let native = "POST /api/v1/search/resources";
    let about = json!({"subject": "bob", "resource": "record:read", "action": "read"});
    let with = |candidates: Option<Vec<serde_json::Value>>| {
        let mut body = about.clone();
        if let Some(candidates) = candidates {
            body["candidates"] = candidates.into();
        }
        body
    };
    let standard = json!({
        "subject": {"type": "user", "id": "bob"}, "action": {"name": "read"}, "resource": {"type": "record"},
    });
    for (name, route, body, charged) in [
        ("few", native, with(Some(given(99))), 1),
        ("given", native, with(Some(given(301))), 4),
        ("stored", native, with(None), 3),
        ("standard", "POST /access/v1/search/resource", standard, 3),
    ] {
        // Each has its own credential, so that its first check finds ten.
        let token = tenant.token(name, &[MANAGER]);
        tenant.send(&Request::new(route).token(&token).json(&body)).is(200);
        assert_eq!(left(check(&token).is(200)), 10 - charged - 1, "{name}");
    }
    // A search beyond what is left empties the bucket, and the next request is refused.
    let token = tenant.token("greedy", &[MANAGER]);
    let body = with(Some(given(5_000)));
    tenant.send(&Request::new(native).token(&token).json(&body)).is(200);
    is_limited(check(&token), "credential-checks");
}

/// The control: by default nobody has a rate.
#[test]
fn without_rates_nothing_is_refused_and_no_answer_names_them() {
    let tenant = Tenant::new();
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    for _ in 0..30 {
        assert_eq!(tenant.check(&check).is(200).header("ratelimit"), None);
    }
}
