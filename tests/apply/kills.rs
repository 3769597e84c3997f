//! `kill -9` during an apply: the content is the one before or the one after, and the history has the same revisions.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{APPLY, body, policy};
use crate::support::{Provider, Server, Settings, Tenant};

/// Objects of each kind: an apply takes many statements.
const OBJECTS: i64 = 150;

/// The bundle of a round: every object has the number of the round.
fn bundle(round: i64) -> Value {
    let effect = if round % 2 == 0 { "allow" } else { "deny" };
    let rules = (0..OBJECTS)
        .map(|n| json!({"sub": format!("s{n}"), "obj": "wiki:*", "act": "read", "effect": effect}));
    let policies = (0..OBJECTS).map(|n| policy(&format!("p{n}"), "wiki:*", round));
    let resources = (0..OBJECTS)
        .map(|n| json!({"name": format!("r{n}:read"), "displayName": format!("{round}")}));
    json!({
        "rules": rules.collect::<Vec<_>>(), "policies": policies.collect::<Vec<_>>(),
        "resources": resources.collect::<Vec<_>>(),
    })
}

/// Returns the revision and the rounds that the objects have.
fn stored(tenant: &Tenant<'_>) -> (u64, Vec<i64>) {
    let export = tenant.get("/api/v1/export").is(200).json();
    let list = |name: &str| export["bundle"][name].as_array().cloned().unwrap_or_default();
    let policies = list("policies");
    let resources = list("resources");
    let of_policies = policies.iter().filter_map(|one| one["priority"].as_i64());
    let of_resources = resources.iter().filter_map(|one| one["displayName"].as_str()?.parse().ok());
    let mut rounds: Vec<i64> = of_policies.chain(of_resources).collect();
    let parities = list("rules").into_iter().map(|one| i64::from(one["effect"] == "deny"));
    let parities: Vec<i64> = parities.collect();
    assert!(parities.windows(2).all(|pair| pair[0] == pair[1]), "rules of two bundles");
    assert_eq!((policies.len(), resources.len(), parities.len()), (150, 150, 150));
    rounds.dedup();
    assert_eq!(rounds.first().map(|round| round % 2), parities.first().copied());
    (export["revision"].as_u64().expect("a revision"), rounds)
}

fn kill_during_applies(kills: i64) {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "killed");
    let began = Instant::now();
    tenant.manage(APPLY, &body(&bundle(0))).is(200);
    // The first apply creates and so takes longest; kills fall before, into and after the others.
    let longest = began.elapsed().as_millis().max(1);
    let (mut server, mut known) = (server, stored(&tenant));
    let mut applied = 0;
    for round in 1..=kills {
        let wait = Duration::from_millis((u128::from(round.unsigned_abs()) * 37 % longest) as u64);
        server = killed_after(server, &tenant, round, wait, &settings);
        let here = tenant.at(&server);
        let (revision, rounds) = stored(&here);
        let (before, after) = ((known.0, known.1.clone()), (known.0 + 1, vec![round]));
        let now = (revision, rounds);
        assert!(now == before || now == after, "round {round}: {now:?} after {known:?}");
        applied += u32::from(now == after);
        assert_eq!(history(&here), (1..=now.0).rev().collect::<Vec<_>>());
        known = now;
    }
    crate::support::openid::say(&format!("kills: {kills}, applied: {applied}, between: 0"));
}

/// Returns the revisions of the history, newest first.
fn history(tenant: &Tenant<'_>) -> Vec<u64> {
    let revisions = tenant.get("/api/v1/revisions").is(200).json();
    let revisions = revisions.as_array().cloned().unwrap_or_default();
    revisions.iter().filter_map(|one| one["revision"].as_u64()).collect()
}

/// Sends the apply of a round, kills the server after `wait`, and starts another one.
fn killed_after(
    mut server: Server,
    tenant: &Tenant<'_>,
    round: i64,
    wait: Duration,
    settings: &Settings,
) -> Server {
    let request = tenant.at(&server).managing(APPLY).json(&body(&bundle(round)));
    let address = server.address;
    std::thread::scope(|scope| {
        let sender = scope.spawn(move || request.try_send(address));
        std::thread::sleep(wait);
        server.process.kill();
        let _ = sender.join();
    });
    settings.start()
}

#[test]
fn a_kill_leaves_the_content_before_or_after() {
    kill_during_applies(5);
}

#[test]
#[ignore = "a kill loop: `.ci/long` runs it"]
fn hundreds_of_kills_leave_the_content_before_or_after() {
    kill_during_applies(200);
}
