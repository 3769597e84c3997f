//! Attacks 49 and 50: policies that walk many relations, and claims that do not say what a deny asks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::{Figure, cpu};
use crate::plans::p99;
use crate::support::{MANAGER, Provider, Request, Server, Settings, Tenant};

/// The folders of a chain, each in the next one.
const FOLDERS: usize = 20_000;
/// The tuples of one write.
const TUPLES: usize = 1_000;
/// The relations of one policy: some 42 KB.
const WALKS: usize = 999;
const POLICIES: usize = 3;
/// The clients of the noisy tenant.
const CLIENTS: usize = 4;

/// Attack 49: checks by three policies of 42 KB, each of whose tests walks up a chain of folders.
pub(crate) fn walks() -> Vec<Figure> {
    let server: Server = Settings::new(Provider::shared()).start();
    let [quiet, noisy] =
        ["quiet", "noisy"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    quiet.rule("alice", "*", "read", "allow");
    let folder = json!({"relations": {"parent": "[folder]", "viewer": "[user] || parent.viewer"}});
    noisy.manage("PUT /api/v1/types/folder", &folder).is(201);
    let tuples: Vec<Value> = (1..FOLDERS)
        .map(|number| {
            let (object, subject) =
                (format!("folder:f{}", number - 1), format!("folder:f{number}"));
            json!({"object": object, "relation": "parent", "subject": subject})
        })
        .collect();
    for tuples in tuples.chunks(TUPLES) {
        noisy.manage("POST /api/v1/relations", &json!({"write": tuples})).is(200);
    }
    for policy in 0..POLICIES {
        let first = policy * WALKS;
        let tests: Vec<String> = (first..first + WALKS)
            .map(|number| format!(r#"relation["folder:f{number}#viewer"] == true"#))
            .collect();
        noisy.policy_when(&format!("walks {policy}"), "folder:read", "allow", &tests.join(" || "));
    }
    let token = noisy.token("eve", &["reader"]);
    let body = json!({"subject": "eve", "resource": "folder:read", "action": "read"});
    let check = || Request::new("POST /api/v1/check").token(&token).json(&body);
    check().send(server.address).is(200);
    p99(&quiet);
    let before = cpu(&server);
    check().send(server.address).is(200);
    let of_check = cpu(&server).saturating_sub(before);
    let done = AtomicBool::new(false);
    let (others, probe) = std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = check().try_send(server.address);
                }
            });
        }
        let others = p99(&quiet);
        let began = Instant::now();
        Request::new("GET /healthz/live").send(server.address).is(200);
        let probe = began.elapsed();
        done.store(true, Ordering::Relaxed);
        (others, probe)
    });
    vec![
        Figure::time("processor time of a check", of_check, Duration::from_millis(250)),
        Figure::time("a check of another tenant, p99", others, Duration::from_millis(50)),
        Figure::time("a probe", probe, Duration::from_millis(50)),
    ]
}

/// Attack 50: tokens whose claim `groups` cannot say that their subject is in a group that a rule denies.
pub(crate) fn unsaid_groups() -> Vec<Figure> {
    let server: Server = Settings::new(Provider::shared()).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let member = json!({"from": "[user]", "claim": {"name": "groups", "absent": "nobody"}});
    let group = json!({"relations": {"member": member}});
    tenant.manage("PUT /api/v1/types/group", &group).is(201);
    tenant.rule("*", "doc:read", "read", "allow");
    tenant.rule("group:banned#member", "doc:read", "read", "deny");
    let allowed = |claims: Value| {
        let token = tenant.token_with("eve", &[MANAGER], &claims);
        let body = json!({"subject": "eve", "resource": "doc:read", "action": "read"});
        tenant.check_by(&token, &body).is(200).text_of("decision") == "allow"
    };
    assert!(allowed(json!({"groups": []})), "a claim that says enough");
    let unsaid = [
        json!({"_claim_names": {"groups": "src1"}}),
        json!({"hasgroups": true}),
        json!({"groups": 7}),
        json!({"groups": {"banned": true}}),
        json!({"groups": [["banned"]]}),
    ];
    let evaded = unsaid.into_iter().filter(|claims| allowed(claims.clone())).count();
    vec![Figure::count("tokens that evade a deny by group", evaded, 0)]
}
