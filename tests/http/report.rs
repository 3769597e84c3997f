//! Runs the scenarios, and prints the table.

use std::net::SocketAddr;

use crate::child::{Echo, send};
use crate::load::{Check, Load, Measured};
use crate::scenario::{LEAST_THROUGHPUT, MOST_CPU, MOST_FOR_NEW, NEW_TOKENS, Scenario, Tokens};
use crate::signature;
use crate::support::{Provider, Server, Settings, costs};
use crate::tokens::Tenants;

/// Turns of each alternative. A value is the median of the turns, a ratio the median of the ratios.
const TURNS: usize = 5;
/// Milliseconds of one turn.
const TURN: u64 = 2_000;
/// Milliseconds before the first turn.
const WARM_UP: u64 = 500;

/// One turn of one alternative.
struct Turn {
    /// Microseconds of CPU per request.
    cpu: f64,
    /// Requests per second.
    rate: f64,
    seen: Measured,
}

/// Prints the scenarios whose name contains one of `wanted`; all if it is empty.
pub(crate) fn print(wanted: &[String]) {
    let server = Settings::of(Provider::shared()).start();
    let (echo, tenants) = (Echo::start(), Tenants::on(&server));
    println!("| scenario | measurement | portcullis | echo | ratio | bar | |");
    println!("|---|---|---:|---:|---:|---|---|");
    for scenario in Scenario::all() {
        let name = scenario.name();
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted)) {
            measure(&scenario, &server, &echo, &tenants);
        }
    }
    println!();
    println!(
        "`cargo test -p portcullis-server --bin portcullis request_costs -- --nocapture` counts the allocations of a check."
    );
}

fn measure(scenario: &Scenario, server: &Server, echo: &Echo, tenants: &Tenants) {
    let is_new = scenario.tokens == Tokens::New;
    let mut checks = tenants.checks(scenario.algorithm, count(scenario.tokens));
    let mut load = |address: SocketAddr, millis: u64| {
        // A token that was sent is not new any more.
        let requests: Vec<Check> =
            if is_new { checks.drain(..NEW_TOKENS).collect() } else { checks.clone() };
        Load { address, protocol: scenario.protocol, millis, once: is_new, requests }
    };
    if !is_new {
        send(&load(server.address, WARM_UP));
        send(&load(echo.address, WARM_UP));
    }
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let ours = load(server.address, TURN);
        let theirs = Load { address: echo.address, ..ours.clone() };
        turns.push((turn(&ours, server.process.id()), turn(&theirs, echo.id())));
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

fn turn(load: &Load, process: u32) -> Turn {
    let before = costs::cpu_time(process);
    let seen = send(load);
    let cpu = costs::cpu_time(process).saturating_sub(before);
    assert_eq!(seen.wrong, 0, "every check is a 200");
    let answers = seen.answers as f64;
    Turn { cpu: cpu.as_secs_f64() * 1e6 / answers, rate: answers / seen.seconds, seen }
}

/// A latency of a turn and its name.
type Latency = (&'static str, fn(&Turn) -> f64);

fn show(scenario: &Scenario, turns: &[(Turn, Turn)]) {
    let name = scenario.name();
    let cpu = Pair::of(turns, |turn| turn.cpu);
    let rate = Pair::of(turns, |turn| turn.rate);
    if scenario.tokens == Tokens::New {
        let signature = signature::micros(scenario.algorithm);
        let rest = median(turns.iter().map(|(ours, echo)| ours.cpu - echo.cpu - signature));
        println!(
            "| {name} | CPU per request, µs | {:.1} | {:.1} | {:.2} | | |",
            cpu.ours, cpu.echo, cpu.ratio
        );
        println!("| {name} | one signature, µs | {signature:.1} | | | | |");
        let bar = verdict(rest <= MOST_FOR_NEW);
        println!(
            "| {name} | the rest of a new token, µs | {rest:.1} | | | ≤ {MOST_FOR_NEW} | {bar} |"
        );
    } else {
        let bar = verdict(cpu.ratio <= MOST_CPU);
        println!(
            "| {name} | CPU per request, µs | {:.1} | {:.1} | {:.2} | ≤ {MOST_CPU} | {bar} |",
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
        let Pair { ours, echo, ratio } = Pair::of(turns, of);
        println!("| {name} | {what}, µs | {ours:.0} | {echo:.0} | {ratio:.2} | | |");
    }
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}

/// The medians of both alternatives, and of their ratio turn by turn.
struct Pair {
    ours: f64,
    echo: f64,
    ratio: f64,
}

impl Pair {
    fn of(turns: &[(Turn, Turn)], value: impl Fn(&Turn) -> f64) -> Self {
        Self {
            ours: median(turns.iter().map(|(ours, _)| value(ours))),
            echo: median(turns.iter().map(|(_, echo)| value(echo))),
            ratio: median(turns.iter().map(|(ours, echo)| value(ours) / value(echo))),
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
