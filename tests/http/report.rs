//! Runs the scenarios, and prints the table.

use std::net::SocketAddr;
use std::process::Command;

use crate::child::send;
use crate::echo::Echo;
use crate::echo::path_with_signature;
use crate::load::{Check, Load};
use crate::peers;
use crate::scenario::{
    Beside, LEAST_THROUGHPUT, MAX_CPU, MAX_FOR_NEW, NEW_TOKENS, PATH, Scenario, TURN, TURNS,
    Tokens, WARM_UP,
};
use crate::support::{Provider, Server, Settings};
use crate::tokens::{Algorithm, Tenants};
use crate::turn::{Pair, Turn, median};

/// Prints the scenarios whose name contains one of `wanted`; all if it is empty.
pub(crate) fn print(wanted: &[String]) {
    let settings = || Settings::new(Provider::shared());
    let servers = [settings(), settings().recording(), settings()].map(|one| one.start());
    let [server, recording, shadowing] = &servers;
    let [tenants, recorded, shadowed] = [server, recording, shadowing].map(Tenants::on);
    shadowed.put_into_shadow();
    let echo = Echo::start();
    println!("| scenario | measurement | portcullis | echo | ratio | bar | |");
    println!("|---|---|---:|---:|---:|---|---|");
    for scenario in Scenario::all() {
        let name = scenario.name();
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted)) {
            let ours = match scenario.beside {
                Beside::Nothing => (server, &tenants),
                Beside::Record => (recording, &recorded),
                Beside::Shadow => (shadowing, &shadowed),
            };
            measure(&scenario, ours, &echo);
        }
    }
    peers::measure(&echo, &tenants.checks(Algorithm::Es256, 1), wanted);
    println!();
    println!("{}", allocations());
}

/// Returns the allocations of a check, which a test of the server counts in its own process.
fn allocations() -> String {
    let arguments = [
        "test",
        "-p",
        "portcullis-server",
        "--bin",
        "portcullis",
        "request_costs",
        "--",
        "--nocapture",
    ];
    let counted = Command::new(env!("CARGO")).args(arguments).output();
    let text = counted.map(|done| String::from_utf8_lossy(&done.stdout).into_owned());
    let line = text.ok().and_then(|text| {
        text.lines().find(|line| line.contains("allocations per check")).map(str::to_owned)
    });
    line.unwrap_or_else(|| format!("NOT COUNTED: `cargo {}` failed", arguments.join(" ")))
}

fn measure(scenario: &Scenario, (server, tenants): (&Server, &Tenants), echo: &Echo) {
    let is_new = scenario.tokens == Tokens::New;
    let mut checks = tenants.checks(scenario.algorithm, count(scenario.tokens));
    let mut load = |address: SocketAddr, millis: u64| {
        // A token that was sent is not new any more.
        let requests: Vec<Check> =
            if is_new { checks.drain(..NEW_TOKENS).collect() } else { checks.clone() };
        let (path, protocol) = (PATH.to_owned(), scenario.protocol);
        Load { address, path, protocol, millis, once: is_new, requests }
    };
    if !is_new {
        send(&load(server.address, WARM_UP));
        send(&load(echo.address, WARM_UP));
    }
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let ours = load(server.address, TURN);
        let path = if is_new { path_with_signature(scenario.algorithm) } else { PATH };
        let theirs = Load { address: echo.address, path: path.to_owned(), ..ours.clone() };
        turns.push((Turn::take(&ours, server.process.id()), Turn::take(&theirs, echo.id())));
    }
    show(scenario, &turns);
}

/// Returns the number of tokens of a scenario.
fn count(tokens: Tokens) -> usize {
    match tokens {
        Tokens::Many => 1_000,
        Tokens::One => 1,
        Tokens::New => NEW_TOKENS * TURNS,
    }
}

/// A latency of a turn and its name.
type Latency = (&'static str, fn(&Turn) -> f64);

fn show(scenario: &Scenario, turns: &[(Turn, Turn)]) {
    let name = scenario.name();
    let cpu = Pair::new(turns, |turn| turn.cpu);
    let rate = Pair::new(turns, |turn| turn.rate);
    if scenario.tokens == Tokens::New {
        let rest = median(turns.iter().map(|(ours, echo)| ours.cpu - echo.cpu));
        println!(
            "| {name} | CPU per request, µs | {:.1} | {:.1} with a signature | {:.2} | | |",
            cpu.ours, cpu.echo, cpu.ratio
        );
        let bar = verdict(rest <= MAX_FOR_NEW);
        println!(
            "| {name} | beyond echo and signature, µs | {rest:.1} | | | ≤ {MAX_FOR_NEW} | {bar} |"
        );
    } else {
        let bar = verdict(cpu.ratio <= MAX_CPU);
        println!(
            "| {name} | CPU per request, µs | {:.1} | {:.1} | {:.2} | ≤ {MAX_CPU} | {bar} |",
            cpu.ours, cpu.echo, cpu.ratio
        );
        let bar = verdict(rate.ratio >= LEAST_THROUGHPUT);
        println!(
            "| {name} | requests per second | {:.0} | {:.0} | {:.2} | ≥ {LEAST_THROUGHPUT} | {bar} |",
            rate.ours, rate.echo, rate.ratio
        );
    }
    let latencies: [Latency; 3] = [
        ("p50", |turn| turn.seen.p50 as f64),
        ("p99", |turn| turn.seen.p99 as f64),
        ("p99.9", |turn| turn.seen.p999 as f64),
    ];
    for (what, of) in latencies {
        let Pair { ours, echo, ratio } = Pair::new(turns, of);
        println!("| {name} | {what}, µs | {ours:.0} | {echo:.0} | {ratio:.2} | | |");
    }
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}
