//! Measures a replay of a million decisions on two threads, from the texts of the records to the report, and compares it with
//! its bars: `cargo bench -p portcullis-replay --bench replay`.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a measurement fails by a panic and prints its figures"
)]

use std::thread;
use std::time::{Duration, Instant};

use portcullis_bundle::Rulebook;
use portcullis_engine::{Effect, Policy, ResourcePattern, Rule, RuleTuple, expression};
use portcullis_model::decision_log::DecisionLogSettings;
use portcullis_replay::{RecordedDirectory, RecordedInputs, Side, Tally, compare};
use serde_json::json;
use uuid::Uuid;

const RECORDS: usize = 1_000_000;
const THREADS: usize = 2;
/// The records of a part, and of the first one, as in `operations/src/record/replays/run.rs`.
const PART: usize = 8_192;
const FIRST_PART: usize = 512;
/// The most time of all records, and until the first numbers.
const BAR: Duration = Duration::from_secs(2);
const FIRST_BAR: Duration = Duration::from_millis(200);
const RESOURCES: usize = 50;

fn policy(id: u128, name: &str, effect: Effect, when: &str) -> Policy {
    Policy {
        id: Uuid::from_u128(id),
        name: name.to_owned(),
        resource: ResourcePattern::Any,
        effect,
        priority: 0,
        condition: Ok(expression::parse(when).expect("an expression")),
    }
}

/// Returns the rules of a ward; with the policy about VIPs, the rules of the candidate.
fn side(has_vip: bool) -> Side {
    let mut policies = vec![
        policy(1, "own-ward", Effect::Allow, "user.ward == resource.ward && user.level >= 2"),
        policy(2, "suspended", Effect::Deny, "(user.suspended == true) ?? false"),
    ];
    if has_vip {
        let when = "((resource.vip == true) ?? false) && user.level < 4";
        policies.push(policy(3, "vip-record", Effect::Deny, when));
    }
    let tuple = RuleTuple {
        sub: "auditor".to_owned(),
        dom: "*".to_owned(),
        obj: ResourcePattern::Any,
        act: "read".to_owned(),
    };
    let rule = Rule { id: Uuid::from_u128(4), tuple, effect: Effect::Allow };
    let rulebook = Rulebook::from_stored(vec![rule], policies);
    Side::new(rulebook, Vec::new(), &DecisionLogSettings::default())
}

/// Returns the text of a record that the rules reproduce.
fn record(number: usize) -> String {
    let (is_own, is_vip) = (!number.is_multiple_of(4), number % 16 == 1);
    let (decision, rule, reason) = match is_own {
        true => ("allow", Uuid::from_u128(1).to_string(), "ABAC policy `own-ward` allows"),
        false => ("deny", "default-deny".to_owned(), "no RBAC rule and no ABAC policy allows it"),
    };
    let ward = if is_own { "er" } else { "icu" };
    let record = json!({
        "id": Uuid::from_u128(number as u128 + 1), "time": "2026-05-16T09:30:00.000Z", "tenant": "acme", "revision": 7,
        "entities_revision": 3, "via": "check", "request_id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70",
        "caller": {"kind": "key", "sub": "key:gateway"},
        "subject": format!("user-{}", number % 997), "domain": "acme",
        "resource": format!("chart-{}:read", number % RESOURCES), "action": "read",
        "attributes": {
            "user": {"roles": ["nurse"], "ward": "er", "level": 3, "suspended": false},
            "resource": {"id": format!("c-{number}"), "ward": ward, "vip": is_vip},
        },
        "decision": decision, "rule": rule, "reason": reason, "us": 7,
    });
    record.to_string()
}

/// Reads and decides the texts of a part.
fn decide<'t>(texts: &'t [String], recorded: &Side, candidate: &Side) -> Tally {
    let read = |text: &'t String| RecordedInputs::read(text.as_bytes()).expect("a record");
    let inputs: Vec<_> = texts.iter().map(read).collect();
    let (directory, mut tally) = (RecordedDirectory::new(&inputs), Tally::default());
    for (place, inputs) in inputs.iter().enumerate() {
        let compared = compare(inputs, directory.known(place), (recorded, candidate), false);
        tally.add(inputs, compared);
    }
    tally
}

fn report(what: &str, time: Duration, bar: Duration) {
    let verdict = if time <= bar { "met" } else { "missed" };
    println!("{what}: {:.3} s, bar {:.1} s: {verdict}", time.as_secs_f64(), bar.as_secs_f64());
}

fn main() {
    let texts: Vec<String> = (0..PART).map(record).collect();
    let (recorded, candidate) = (side(false), side(true));
    let began = Instant::now();
    let first = decide(&texts[..FIRST_PART], &recorded, &candidate);
    report("first numbers", began.elapsed(), FIRST_BAR);
    assert_eq!(first.report(true).reproduced, FIRST_PART as u64, "the rules reproduce the records");
    let (recorded, candidate) = (side(false), side(true));
    let began = Instant::now();
    let parts = RECORDS.div_ceil(PART);
    let tally = thread::scope(|scope| {
        let work = |thread: usize| {
            let (texts, recorded, candidate) = (&texts, &recorded, &candidate);
            move || {
                let own = (thread..parts).step_by(THREADS);
                own.fold(Tally::default(), |mut tally, _| {
                    tally.merge(decide(texts, recorded, candidate));
                    tally
                })
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(work(thread))).collect();
        let tallies = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        tallies.fold(Tally::default(), |mut all, tally| {
            all.merge(tally);
            all
        })
    });
    let elapsed = began.elapsed();
    let outcome = tally.report(true);
    println!(
        "{} replayed, {} allow to deny, {:.0} ns a record and thread",
        outcome.replayed,
        outcome.allow_to_deny,
        elapsed.as_secs_f64() * 1e9 * THREADS as f64 / outcome.replayed as f64
    );
    report(&format!("{} decisions on {THREADS} threads", outcome.replayed), elapsed, BAR);
}
