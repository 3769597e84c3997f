//! Figures, for who wants to know: they are printed, and only what is promised is asserted.
//!
//! `cargo build --release -p portcullis-server`, and then `PORTCULLIS_BIN=$PWD/target/release/portcullis cargo test
//! -p portcullis-server --test blackbox -- --ignored --test-threads 1 measurements`, which runs on both databases.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::everywhere::deliveries::{register, settings, tenant};
use crate::setup;
use crate::support::costs::{cpu_time, cpu_time_of_postgres, memory};
use crate::support::openid::say;
use crate::support::{Answer, Provider, Receiver, Request, Tenant};

fn database() -> &'static str {
    if setup::is_postgres() { "PostgreSQL" } else { "SQLite" }
}

/// The value below which this part of all is, in milliseconds.
fn quantile(times: &mut [Duration], part: f64) -> f64 {
    times.sort_unstable();
    times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3
}

#[test]
#[ignore = "prints measurements"]
fn measurements_of_the_first_attempt() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    register(&tenant, &receiver.url("/"), &["policy.rbac.changed"]);
    let (mut since_request, mut since_answer) = (Vec::new(), Vec::new());
    for number in 0..300 {
        let began = Instant::now();
        tenant.rule(&format!("user-{number}"), "doc:read", "read", "allow");
        let answered = Instant::now();
        let arrived = receiver.wait_for(number + 1)[number].at;
        since_request.push(arrived.duration_since(began));
        since_answer.push(arrived.saturating_duration_since(answered));
    }
    let median = quantile(&mut since_request, 0.5);
    say(&format!(
        "{}: from the request that changes something to the first attempt: median {median:.1} ms, 99 % {:.1} ms; \
         from its answer: median {:.1} ms, 99 % {:.1} ms",
        database(),
        quantile(&mut since_request, 0.99),
        quantile(&mut since_answer, 0.5),
        quantile(&mut since_answer, 0.99),
    ));
    assert!(median <= 50.0, "the commit is later than the request");
}

#[test]
#[ignore = "prints measurements"]
fn measurements_of_idleness() {
    let server = settings().start();
    let (tenant, receiver) = (tenant(&server), Receiver::start());
    for number in 0..20 {
        register(&tenant, &receiver.url(&format!("/{number}")), &["policy.rbac.changed"]);
    }
    tenant.rule("somebody", "doc:read", "read", "allow");
    receiver.wait_for(20);
    let (before, period) = (cpu_time(server.process.id()), Duration::from_secs(20));
    std::thread::sleep(period);
    let used = (cpu_time(server.process.id()) - before).as_secs_f64() / period.as_secs_f64();
    say(&format!("{}: idle with 20 webhooks: {:.2} % of one core", database(), used * 100.0));
}

/// Denied checks of `tenant` by so many clients: median and 99 % in milliseconds, and how many in a second.
fn denied(tenant: &Tenant<'_>, clients: usize, each: usize) -> (f64, f64, f64) {
    let token = tenant.token("gateway", &["service"]);
    let check = json!({"subject": "mallory", "resource": "doc:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(&token).json(&check);
    let began = Instant::now();
    let client = || -> Vec<Duration> {
        let one = |_| {
            let began = Instant::now();
            request.send(tenant.address).is(200);
            began.elapsed()
        };
        (0..each).map(one).collect()
    };
    let mut times: Vec<_> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    (quantile(&mut times, 0.5), quantile(&mut times, 0.99), rate)
}

#[test]
#[ignore = "prints measurements"]
fn measurements_of_denied_checks() {
    let server = settings().start();
    let receiver = Receiver::start();
    let quiet = tenant(&server);
    let told = Tenant::with_provider(&server, Provider::shared(), "listening");
    register(&told, &receiver.url("/"), &["access.denied"]);
    for (name, tenant) in [("nobody wants to know", &quiet), ("a webhook wants to know", &told)] {
        denied(tenant, 1, 50);
        for (clients, each) in [(1, 500), (32, 100)] {
            let (median, most, rate) = denied(tenant, clients, each);
            say(&format!(
                "{}: denied checks, {name}, {clients} clients: median {median:.2} ms, 99 % {most:.2} ms, {rate:.0}/s",
                database()
            ));
        }
    }
    // Others' checks while many are written.
    let (median, most, _) = std::thread::scope(|scope| {
        let noise = scope.spawn(|| denied(&told, 16, 150));
        let quiet = denied(&quiet, 1, 200);
        noise.join().unwrap();
        quiet
    });
    say(&format!(
        "{}: denied checks of a tenant that nobody listens to, meanwhile: median {median:.2} ms, 99 % {most:.2} ms",
        database()
    ));
}

/// Runs `each` for so many numbers of each of eight tenants, and prints the CPU time of one.
fn cost(what: &str, count: usize, each: impl Fn(&Tenant<'_>, usize) + Sync) {
    let server = settings().start();
    let tenants: Vec<_> = (0..8)
        .map(|number| Tenant::with_provider(&server, Provider::shared(), &format!("load-{number}")))
        .collect();
    tenants.iter().for_each(|tenant| (0..5).for_each(|number| each(tenant, number)));
    let cpu = || [cpu_time(server.process.id()), cpu_time_of_postgres()];
    let (before, began) = (cpu(), Instant::now());
    std::thread::scope(|scope| {
        for tenant in &tenants {
            scope.spawn(|| (5..5 + count).for_each(|number| each(tenant, number)));
        }
    });
    let (took, after) = (began.elapsed().as_secs_f64(), cpu());
    let total = (tenants.len() * count) as f64;
    let micros = |part: usize| after[part].saturating_sub(before[part]).as_secs_f64() * 1e6 / total;
    say(&format!(
        "{}: {what}: {:.0}/s by 8 clients; CPU of each: server {:.0} \u{b5}s, database {:.0} \u{b5}s",
        database(),
        total / took,
        micros(0),
        micros(1),
    ));
}

#[test]
#[ignore = "prints measurements"]
fn measurements_of_the_load_of_a_primary() {
    cost("changes of a rule", 400, |tenant, number| {
        tenant.rule(&format!("user-{number}"), "doc:read", "read", "allow");
    });
    cost("loads of a plan", 1_000, |tenant, number| {
        tenant.decide("user-1", &format!("doc-{number}:read"), "read").is_default();
    });
}

const TENANTS: usize = 100;
const WEBHOOKS: usize = 10;
const EVENTS: usize = 100;
/// One webhook of each two tenants is dead or slow.
const BAD: usize = TENANTS / 2;

#[test]
#[ignore = "takes minutes"]
fn measurements_of_a_thousand_webhooks() {
    let server = settings().set("WEBHOOK_BACKOFF", "10s").start();
    // Several, for their ports: each connection needs one.
    let receivers: Vec<_> = (0..WEBHOOKS).map(|_| Receiver::start()).collect();
    let bad = Receiver::with(|one| match one.path.as_str() {
        "/dead" => Answer::Status(500),
        _ => Answer::Hang,
    });
    let tenants: Vec<_> = (0..TENANTS)
        .map(|number| Tenant::with_provider(&server, Provider::shared(), &format!("load-{number}")))
        .collect();
    for (number, tenant) in tenants.iter().enumerate() {
        for (index, receiver) in receivers.iter().enumerate() {
            let url = match (index, number % 4) {
                (0, 0) => bad.url("/dead"),
                (0, 2) => bad.url("/hanging"),
                _ => receiver.url(&format!("/{number}")),
            };
            register(tenant, &url, &["policy.rbac.changed"]);
        }
    }
    let began = Instant::now();
    std::thread::scope(|scope| {
        for part in tenants.chunks(TENANTS / 4) {
            scope.spawn(move || {
                for event in 0..EVENTS {
                    for tenant in part {
                        tenant.rule(&format!("user-{event}"), "doc:read", "read", "allow");
                    }
                }
            });
        }
    });
    let caused = began.elapsed();
    let healthy = (TENANTS * WEBHOOKS - BAD) * EVENTS;
    let deadline = began + Duration::from_secs(900);
    let count = || receivers.iter().map(Receiver::count).sum::<usize>();
    while count() < healthy && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(200));
    }
    let done = began.elapsed();
    let peak = memory(server.process.id(), "VmHWM:").expect("a number") / 1_024;
    say(&format!(
        "{}: {} events to {} webhooks, {BAD} of them dead or hanging: caused in {:.0} s, {healthy} deliveries to the \
         healthy ones done after {:.0} s ({:.0}/s), most memory {peak} MiB",
        database(),
        TENANTS * EVENTS,
        TENANTS * WEBHOOKS,
        caused.as_secs_f64(),
        done.as_secs_f64(),
        healthy as f64 / done.as_secs_f64(),
    ));
    assert_eq!(count(), healthy, "each is delivered, and once");
    assert!(peak < 512, "memory is bounded");
    for receiver in &receivers {
        in_order(&receiver.deliveries());
    }
}

/// Asserts that each webhook got its events in order.
fn in_order(deliveries: &[crate::support::Delivery]) {
    let mut webhooks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in deliveries {
        webhooks.entry(&one.path).or_default().push(one.id());
    }
    for ids in webhooks.values() {
        assert!(ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == EVENTS);
    }
}
