//! Decides the requests of a workload again and again, for a count of instructions (`docs/performance.md`):
//! `decide_again w1|w3|w4 ROUNDS`. The difference between two counts of rounds is the cost of decisions alone.

#[expect(dead_code, reason = "the benchmark uses more of it")]
#[path = "../benches/decisions/ours.rs"]
mod ours;

use anyhow::{Context, Result, bail};
use portcullis_workloads::{w1, w3, w4};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let workload = match arguments.next().as_deref() {
        Some("w1") => w1(),
        Some("w3") => w3(10),
        Some("w4") => w4(),
        _ => bail!("expected `w1`, `w3` or `w4`"),
    };
    let rounds: usize = arguments.next().context("expected the number of rounds")?.parse()?;
    let (plans, bodies) = (ours::Plans::compile(&workload)?, ours::bodies(&workload)?);
    let allowed = std::iter::repeat_n(&bodies, rounds)
        .flatten()
        .filter(|body| plans.allows(std::hint::black_box(**body)))
        .count();
    println!("{allowed} of {} decisions allow", rounds * bodies.len());
    Ok(())
}
