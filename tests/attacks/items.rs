//! Attacks "items" and "named": a list of 50,000 items under a thousand tests and patterns, and names that stand for very much.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cost::{Figure, cpu, memory};
use crate::plans::p99;
use crate::support::{Provider, Server, Settings, Tenant};

/// The items of the list: it fills most of a body.
const ITEMS: usize = 50_000;
/// The tests of a condition: nearly as many as a policy may have.
const TESTS: usize = 900;
const PATTERNS: usize = 100;
/// The names, each of which is twice the one before.
const NAMES: usize = 40;
const POLICIES: usize = 2_000;

/// Starts the service with a tenant that attacks, and another one.
fn start() -> (Server, [Tenant<'static>; 2]) {
    let server = Settings::new(Provider::shared()).start();
    let tenants =
        ["attacker", "quiet"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    (server, tenants)
}

/// Attack "items": checks whose list is asked 900 tests, and 100 patterns, for each of its items.
pub(crate) fn many_items() -> Vec<Figure> {
    let (server, [tenant, quiet]) = start();
    let any = |tests: Vec<String>| format!("any(user.groups, {})", tests.join(" || "));
    let equal = any((0..TESTS).map(|n| format!("item == \"no-{n}\"")).collect());
    let pattern = |n: usize| format!("item matches \"(a|b)*[a-z]{{1,40}}{n}\"");
    let patterns = any((0..PATTERNS).map(pattern).collect());
    let groups: Vec<String> = (0..ITEMS).map(|item| format!("group-{item}")).collect();
    let body = json!({"subject": "ann", "resource": "doc:read", "attributes": {"user": {"groups": groups}}});
    let mut figures = Vec::new();
    for (what, when) in
        [("CPU of a check with 900 tests", equal), ("CPU of a check with 100 patterns", patterns)]
    {
        let id = tenant.policy_when("items", "doc:read", "allow", &when);
        tenant.decide("ann", "doc:read", "read");
        let before = cpu(&server);
        tenant.check(&body).is(200);
        let bound = Duration::from_millis(250);
        figures.push(Figure::time(what, cpu(&server).saturating_sub(before), bound));
        tenant.delete(&format!("/api/v1/abac/policies/{id}")).is(204);
    }
    quiet.rule("alice", "*", "read", "allow");
    let bound = Duration::from_millis(50);
    figures.push(Figure::time("a check of another tenant, p99", p99(&quiet), bound));
    figures
}

fn put(tenant: &Tenant<'_>, name: &str, when: &str) {
    tenant.manage(format!("PUT /api/v1/conditions/{name}"), &json!({"when": when})).is(201);
}

/// Attack "named": forty names that double, and 2,000 policies on one name of 900 tests.
pub(crate) fn many_names() -> Vec<Figure> {
    let (server, [tenant, _]) = start();
    put(&tenant, "c0", "user.a == 1");
    for name in 1..=NAMES {
        put(&tenant, &format!("c{name}"), &format!("condition.c{0} && condition.c{0}", name - 1));
    }
    let policy = |name: &str, when: &str| json!({"name": name, "resource": "doc:read", "effect": "allow", "priority": 1, "when": when});
    let (before, _) = memory(&server);
    let begun = cpu(&server);
    let doubled = json!({"owner": "git:a", "bundle": {"policies": [policy("p", &format!("condition.c{NAMES}"))]}});
    tenant.manage("POST /api/v1/apply", &doubled).is(400);
    let of_names = cpu(&server).saturating_sub(begun);
    let tests: Vec<String> = (0..TESTS).map(|n| format!("user.a{n} == {n}")).collect();
    put(&tenant, "shared", &tests.join(" || "));
    let policies: Vec<Value> = (0..POLICIES)
        .map(|n| policy(&format!("p{n}"), &format!("user.team == 't{n}' && condition.shared")))
        .collect();
    let shared = json!({"owner": "git:a", "bundle": {"policies": policies}});
    tenant.manage("POST /api/v1/apply", &shared).is(200);
    let begun = cpu(&server);
    tenant.decide("ann", "doc:read", "read");
    let first = cpu(&server).saturating_sub(begun);
    let (_, most) = memory(&server);
    vec![
        Figure::time(
            "CPU of a policy on a name of 2⁴⁰ tests",
            of_names,
            Duration::from_millis(250),
        ),
        Figure::time(
            "CPU of the first check by 2,000 policies on one name",
            first,
            Duration::from_secs(1),
        ),
        Figure::mib("memory, more than before", most - before, 128.0),
    ]
}
