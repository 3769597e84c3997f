//! `cargo bench -p portcullis-server --bench attacks [-- NUMBER …]`
//!
//! Runs the attacks of `docs/security.md` ("What one caller can cost others") against the release build, and prints
//! attack, bound and measured cost as a table. Ends with exit code 1 if a cost exceeds its bound. Each defence also has
//! a test without a clock, with a control; this command shows the real costs.

/// The set-up of this binary.
mod setup {
    pub(crate) const SAAS: bool = false;
    pub(crate) const POSTGRES: bool = false;
}

#[path = "../support/mod.rs"]
mod support;

mod compile;
mod cost;

use cost::Figure;

/// An attack: its number in `docs/security.md`, what the caller does, and the function that does it.
struct Attack {
    number: &'static str,
    name: &'static str,
    run: fn() -> Vec<Figure>,
}

/// Every attack, in the order of `docs/security.md`.
const ATTACKS: &[Attack] = &[Attack {
    number: "2",
    name: "modules that cost their compiler far more than their size",
    run: compile::costly_modules,
}];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("| # | Attack | Cost | Bound | Measured | |");
    println!("|---|---|---|---|---|---|");
    let mut exceeded = 0;
    for attack in ATTACKS {
        if !wanted.is_empty() && !wanted.iter().any(|number| number == attack.number) {
            continue;
        }
        for figure in (attack.run)() {
            let verdict = if figure.holds() { "holds" } else { "**exceeded**" };
            exceeded += usize::from(!figure.holds());
            println!("| {} | {} | {figure} | {verdict} |", attack.number, attack.name);
        }
    }
    if exceeded > 0 {
        eprintln!("{exceeded} costs exceed their bounds");
        std::process::exit(1);
    }
}
