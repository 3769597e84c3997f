//! Batches: `POST /api/v1/checks`.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::support::resolver::{Form, RESOLVERS, directory, guest};
use crate::support::{Provider, Receiver, Reply, Request, Server, Settings, Tenant};

const CHECKS: &str = "POST /api/v1/checks";
/// The largest body of a batch.
const LIMIT: usize = 8 * 1024 * 1024;

fn send_to(tenant: &Tenant<'_>, query: &str, body: &Value) -> Reply {
    let token = tenant.token("gateway", &["service"]);
    tenant.send(&Request::new(format!("{CHECKS}{query}")).token(&token).json(body))
}

fn send(tenant: &Tenant<'_>, body: &Value) -> Reply {
    send_to(tenant, "", body)
}

/// Returns the decisions of an answer, one letter each.
#[track_caller]
fn decisions(reply: Reply) -> String {
    let answer = reply.is(200).json();
    let results = answer["results"].as_array().expect("results");
    results.iter().map(|result| if result["decision"] == "allow" { 'a' } else { 'd' }).collect()
}

#[test]
fn items_take_whole_defaults_and_are_answered_in_their_order() {
    let tenant = Tenant::new();
    let rule = tenant.rule("editor", "doc:read", "read", "allow");
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"roles": ["editor"]}},
        "checks": [
            {"id": "first"},
            {"attributes": {"resource": {"a": 1}}},
            {"id": "third", "action": "write"},
            {"subject": "bob"},
        ],
    });
    let reply = send(&tenant, &body).is(200);
    assert_eq!(reply.revision(), 1);
    let reason = format!("RBAC rule `editor, {}, doc:read, read` allows", tenant.name);
    let none = "no RBAC rule and no ABAC policy allows it";
    let denied = json!({"decision": "deny", "matched_rule_id": "default-deny", "reason": none});
    let mut third = denied.clone();
    third["id"] = json!("third");
    let allowed = json!({"decision": "allow", "matched_rule_id": rule, "reason": reason});
    let mut first = allowed.clone();
    first["id"] = json!("first");
    // The second has its own attributes, and so no role.
    assert_eq!(reply.json(), json!({"results": [first, denied, third, allowed]}));
    let compact = send_to(&tenant, "?fields=decision", &body).is(200);
    assert_eq!(compact.json(), json!({"allowed": [true, false, false, true]}));
    send_to(&tenant, "?fields=reason", &body).refused(400, "BAD_REQUEST");
}

#[test]
fn short_circuits_end_the_answer() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:read", "read", "allow");
    let body = |semantic: &str, actions: &str| {
        let action = |letter| if letter == 'r' { "read" } else { "write" };
        let items: Vec<_> =
            actions.chars().map(|letter| json!({"action": action(letter)})).collect();
        json!({"subject": "alice", "resource": "doc:read", "semantic": semantic, "checks": items})
    };
    for (semantic, actions, expected) in [
        ("execute_all", "rwr", "ada"),
        ("deny_on_first_deny", "rwr", "ad"),
        ("deny_on_first_deny", "rr", "aa"),
        ("permit_on_first_permit", "wrw", "da"),
        ("permit_on_first_permit", "ww", "dd"),
    ] {
        assert_eq!(decisions(send(&tenant, &body(semantic, actions))), expected, "{semantic}");
    }
    send(&tenant, &body("any", "r")).invalid();
}

#[test]
fn faults_name_their_item_and_refuse_the_batch() {
    let tenant = Tenant::new();
    let fault = |body: Value| send(&tenant, &body).invalid().text_of_details("path");
    let whole = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    assert_eq!(fault(json!({"checks": [whole, {"subject": "bob"}]})), "/checks/1");
    assert_eq!(fault(json!({"checks": [whole, {"subjekt": "bob"}]})), "/checks/1");
    assert_eq!(fault(json!({"checks": []})), "/checks");
    assert_eq!(fault(json!({"checks": vec![whole; 10_001]})), "/checks");
    let token = tenant.token("gateway", &[]);
    let announced = Request::new(CHECKS).token(&token).body("application/json", "");
    let refused = announced.announce(tenant.address, LIMIT + 1).refused(413, "PAYLOAD_TOO_LARGE");
    assert!(refused.message().contains(&LIMIT.to_string()), "{}", refused.message());
    // More than other bodies may have.
    let long = json!({"checks": [{"subject": "x".repeat(3 << 20)}]});
    send(&tenant, &long).invalid();
}

/// Two items are decided apart if anything of them differs.
#[test]
fn items_that_differ_in_anything_are_decided_apart() {
    let tenant = Tenant::new();
    let when = "user.a == 1 && resource.b == 1 && action.c == 1 && context.d == 1";
    let policy = json!({
        "name": "all", "resource": "doc:read", "effect": "allow", "priority": 1, "format": "expression",
        "rule_data": {"expression": when},
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    let item = |[a, b, c, d]: [u8; 4]| json!({"attributes": {"user": {"a": a}, "resource": {"b": b}, "action": {"c": c}, "context": {"d": d}}});
    let values =
        [[1, 1, 1, 1], [2, 1, 1, 1], [1, 2, 1, 1], [1, 1, 2, 1], [1, 1, 1, 2], [1, 1, 1, 1]];
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read", "checks": values.map(item),
    });
    assert_eq!(decisions(send(&tenant, &body)), "adddda");
}

/// One rule moves between two resources with each commit. At each revision exactly one of the two is allowed.
#[test]
fn all_items_are_decided_by_one_revision() {
    let tenant = Tenant::new();
    let id = tenant.rule("alice", "doc-a:read", "read", "allow");
    let body = json!({
        "subject": "alice", "action": "read",
        "checks": [{"resource": "doc-a:read"}, {"resource": "doc-b:read"}],
    });
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..60 {
                let obj = ["doc-b:read", "doc-a:read"][round % 2];
                let change = json!({"id": id, "obj": obj});
                tenant.manage("PUT /api/v1/resources/policies", &change).is(200);
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let (mut seen, mut last) = (Vec::new(), 0);
        while !is_done.load(Ordering::Relaxed) {
            let reply = send(&tenant, &body).is(200);
            assert!(reply.revision() >= last, "a revision went back");
            last = reply.revision();
            seen.push(decisions(reply));
        }
        writer.join().expect("the writer ends");
        assert!(seen.iter().all(|seen| seen == "ad" || seen == "da"), "{seen:?}");
        let demanded = Request::new(CHECKS).token(&tenant.token("gateway", &[])).json(&body);
        let newest = tenant.send(&demanded.header("x-min-policy-revision", "61"));
        assert_eq!((newest.revision(), &*decisions(newest)), (61, "ad"));
    });
}

#[test]
fn a_resolver_is_asked_once_for_the_same_inputs() {
    let tenant = Tenant::new();
    let mut manifest = directory("hr");
    // Nothing stays in the cache.
    manifest["cache_ttl_ms"] = json!(0);
    let form = Form::new(&manifest, &guest("directory"));
    let id = tenant.upload(format!("POST {RESOLVERS}"), &form).is(201).id();
    let policy = json!({
        "name": "staff", "resource": "doc:*", "effect": "allow", "priority": 1, "format": "expression",
        "rule_data": {"expression": r#"hr.department == "obstetrics" && context.open == true"#},
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    let item = |number: usize| {
        // The resource and the context are no inputs of the module, and decide all the same.
        let context = json!({"open": !number.is_multiple_of(3), "number": number});
        let subject = ["alice", "bob"][number % 2];
        json!({
            "subject": subject, "resource": format!("doc:read-{}", number % 4),
            "attributes": {"context": context},
        })
    };
    let items: Vec<_> = (0..24).map(item).collect();
    let expected: String = (0..24).map(|n| if n % 3 == 0 { 'd' } else { 'a' }).collect();
    let body = json!({"action": "read", "checks": items});
    assert_eq!(decisions(send(&tenant, &body)), expected);
    let calls =
        || tenant.get(&format!("{RESOLVERS}/{id}")).is(200).json()["activity"]["calls"].clone();
    assert_eq!(calls(), 2);
    send(&tenant, &body).is(200);
    assert_eq!(calls(), 4);
}

#[test]
fn each_denied_item_has_an_event() {
    let settings = Settings::new(Provider::shared());
    let server =
        settings.set("EGRESS_ALLOW_HTTP", "true").set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8").start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let receiver = Receiver::start();
    tenant.rule("alice", "doc:read", "read", "allow");
    let webhook = json!({
        "url": receiver.url("/"), "events": ["access.denied"], "secret": "0123456789abcdef",
    });
    tenant.manage("POST /api/v1/webhooks", &webhook).is(201);
    let actions = ["write", "read", "list", "write"].map(|action| json!({"action": action}));
    let body = |semantic: &str| json!({"subject": "alice", "resource": "doc:read", "semantic": semantic, "checks": actions});
    assert_eq!(decisions(send(&tenant, &body("execute_all"))), "dadd");
    // Items that are not answered were denied nothing.
    assert_eq!(decisions(send(&tenant, &body("deny_on_first_deny"))), "d");
    let deliveries = receiver.wait_for(4);
    let mut denied: Vec<_> =
        deliveries.iter().map(|one| one.json()["data"]["action"].to_string()).collect();
    denied.sort();
    assert_eq!(denied, [r#""list""#, r#""write""#, r#""write""#, r#""write""#]);
}

fn limited() -> Server {
    Settings::new(Provider::shared()).set("RATE_LIMIT_CHECKS", "tenant=10/h").start()
}

#[test]
fn the_rates_of_checks_count_each_item() {
    let server = limited();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let body = |count: usize| json!({"subject": "alice", "resource": "doc:read", "action": "read", "checks": vec![json!({}); count]});
    send(&tenant, &body(6)).is(200);
    // Four are left: one for the request, three for further items.
    let refused = send(&tenant, &body(5)).refused(429, "RATE_LIMITED");
    assert_eq!(refused.details(), json!({"limit": "tenant-checks"}));
    send(&tenant, &body(3)).is(200);
    send(&tenant, &body(1)).refused(429, "RATE_LIMITED");
}

#[test]
fn a_batch_is_of_one_tenant_and_needs_the_right_to_check() {
    let tenant = Tenant::new();
    let item = |domain: &str| json!({"subject": "a", "resource": "doc:read", "action": "read", "domain": domain});
    let both = json!({"checks": [item(&tenant.name), item("elsewhere")]});
    let reply = send(&tenant, &both);
    if crate::setup::is_saas() {
        assert_eq!(decisions(reply), "dd");
    } else {
        reply.refused(403, "ACCESS_DENIED");
        let claims = json!({"adm": "elsewhere"});
        let token = tenant.token_with("gateway", &["service"], &claims);
        let request = Request::new(CHECKS).token(&token).json(&both);
        tenant.send(&request).refused(400, "BAD_REQUEST");
    }
    tenant.send(&Request::new(CHECKS).json(&both)).refused(401, "UNAUTHENTICATED");
}
