//! Portcullis beside the servers of other products, over HTTP, with the same facts on one machine.
//!
//! `cargo run --release -- [WORKLOAD]… [--questions N] [--seconds N] [--rounds N]`. Workloads are A (roles), B (attributes), C
//! (relations) and D (lists). Each server is a program in `PEERS_BIN` or `PATH`: `portcullis`, `opa`, `cerbos`, `openfga`,
//! `spicedb`; one that is not there is left out, and the table says so. A wrong answer ends the run. `docs/performance.md` has
//! the figures.

mod cerbos;
mod facts;
mod opa;
mod openfga;
mod portcullis;
mod server;
mod spicedb;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use facts::Facts;
use server::{Answer, Questions, Server, Turn};

type Start = fn(&Path, &Facts) -> Result<Option<(Server, Questions)>>;

const SERVERS: [(&str, Start); 5] = [
    ("Portcullis", portcullis::start),
    ("OPA", opa::start),
    ("Cerbos", cerbos::start),
    ("OpenFGA", openfga::start),
    ("SpiceDB", spicedb::start),
];
/// Connections of a turn.
const CONNECTIONS: usize = 16;

/// The options of a run.
struct Options {
    workloads: Vec<char>,
    questions: usize,
    seconds: u64,
    rounds: usize,
}

fn main() -> Result<()> {
    let options = Options::from_args(std::env::args().skip(1))?;
    for workload in &options.workloads {
        let facts = Facts::of(*workload, options.questions);
        compare(*workload, &facts.context("workloads are A, B, C and D")?, &options)?;
    }
    Ok(())
}

impl Options {
    fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self { workloads: Vec::new(), questions: 10_000, seconds: 5, rounds: 3 };
        while let Some(arg) = args.next() {
            let mut number = || -> Result<usize> {
                let value = args.next().with_context(|| format!("`{arg}` needs a number"))?;
                value.parse().with_context(|| format!("`{arg}` needs a number, not `{value}`"))
            };
            match arg.as_str() {
                "--questions" => options.questions = number()?,
                "--seconds" => options.seconds = number()? as u64,
                "--rounds" => options.rounds = number()?,
                letter if letter.len() == 1 => options.workloads.extend(letter.chars()),
                _ => bail!(
                    "`{arg}` is neither a workload (A, B, C, D) nor an option (--questions, --seconds, --rounds)"
                ),
            }
        }
        if options.workloads.is_empty() {
            options.workloads.extend("ABCD".chars());
        }
        ensure!(options.questions > 0 && options.rounds > 0, "ask and measure something");
        Ok(options)
    }
}

/// Measures all servers in turn, and prints a row for each.
fn compare(workload: char, facts: &Facts, options: &Options) -> Result<()> {
    let right = right_answers(facts);
    let folder = tempfile::tempdir()?;
    let mut running = Vec::new();
    for (name, start) in SERVERS {
        let folder = folder.path().join(name);
        std::fs::create_dir_all(&folder)?;
        let Some((server, questions)) = start(&folder, facts).with_context(|| name)? else {
            println!("{name} is not installed, or cannot answer {workload}");
            continue;
        };
        let wrong = server.wrong_answers(&questions, &right).with_context(|| name)?;
        ensure!(wrong == 0, "{name} answers {wrong} of {} wrongly", right.len());
        running.push((name, server, questions, Vec::new()));
    }
    for _ in 0..options.rounds {
        for (_, server, questions, turns) in &mut running {
            let turn = server.load(questions, CONNECTIONS, Duration::from_secs(options.seconds))?;
            turns.push(turn);
        }
    }
    println!(
        "\n| {workload}, {} right answers | CPU µs a request | requests/s | p50 ms | p99 ms | MiB |",
        right.len()
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for (name, server, _, turns) in &running {
        let median = |value: fn(&Turn) -> f64| {
            let mut values: Vec<f64> = turns.iter().map(value).collect();
            values.sort_unstable_by(f64::total_cmp);
            values[values.len() / 2]
        };
        println!(
            "| {name} | {:.0} | {:.0} | {:.2} | {:.2} | {} |",
            median(|turn| turn.cpu),
            median(|turn| turn.rate),
            median(|turn| turn.p50.as_secs_f64() * 1e3),
            median(|turn| turn.p99.as_secs_f64() * 1e3),
            server.memory()?
        );
    }
    Ok(())
}

fn right_answers(facts: &Facts) -> Vec<Answer> {
    match facts {
        Facts::Roles(it) => it.asked.iter().map(|(_, right)| Answer::Decision(*right)).collect(),
        Facts::Attributes(it) => {
            it.asked.iter().map(|(_, right)| Answer::Decision(*right)).collect()
        }
        Facts::Relations(it) => {
            it.asked.iter().map(|(_, right)| Answer::Decision(*right)).collect()
        }
        Facts::Lists(it) => it.asked.iter().map(|(_, ids)| Answer::Ids(ids.clone())).collect(),
    }
}
