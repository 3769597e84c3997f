//! The set-ups in which the tests run: a mode and a database each.
//!
//! The tests are compiled once. The program that `cargo test` starts runs itself once for each set-up. `TEST_SETUP` names
//! the set-ups to run, with commas between them.

#![expect(clippy::expect_used, reason = "it is test code")]

use std::env;
use std::process::{Command, exit};

use ctor::ctor;

/// The variable that names the set-ups to run. Without it all of them run.
const CHOICE: &str = "TEST_SETUP";

/// The variable by which a process knows its set-up.
const OWN: &str = "TEST_SETUP_OF_PROCESS";

/// The exit code of a harness in which a test failed.
const FAILED: i32 = 101;

/// A mode of the service and a database, and the top modules that have no test for them.
struct Setup {
    name: &'static str,
    is_saas: bool,
    is_postgres: bool,
    left_out: &'static [&'static str],
}

impl Setup {
    /// Returns whether the set-up has the tests that `arguments` name. Only with `--exact` it may have none: the harness then
    /// takes `--skip` for a whole name as well.
    fn has(&self, arguments: &[String]) -> bool {
        let is_left_out =
            |argument: &String| self.left_out.iter().any(|module| argument.starts_with(module));
        !arguments.iter().any(|argument| argument == "--exact")
            || !arguments.iter().any(is_left_out)
    }

    /// Runs the tests in a process, and returns whether all passed.
    fn passes(&self, arguments: &[String]) -> bool {
        eprintln!("\n== {}", self.name);
        let run = || {
            Command::new(env::current_exe()?)
                .args(arguments)
                .args(self.left_out.iter().flat_map(|module| ["--skip", module]))
                .env(OWN, self.name)
                .status()
        };
        run().map_or_else(
            |error| {
                eprintln!("cannot run the tests: {error}");
                false
            },
            |status| status.success(),
        )
    }
}

/// The set-ups in the order in which they run. What needs neither mode nor database (`once`) runs in the first.
const SETUPS: [Setup; 4] = [
    Setup {
        name: "selfhost_sqlite",
        is_saas: false,
        is_postgres: false,
        left_out: &["backups::", "faults::", "replicas::", "saas::", "saas_replicas::"],
    },
    Setup {
        name: "selfhost_postgres",
        is_saas: false,
        is_postgres: true,
        left_out: &["once::", "saas::", "saas_replicas::"],
    },
    Setup {
        name: "saas_sqlite",
        is_saas: true,
        is_postgres: false,
        left_out: &[
            "backups::",
            "faults::",
            "once::",
            "replicas::",
            "saas_replicas::",
            "selfhost::",
            "soak::",
        ],
    },
    Setup {
        name: "saas_postgres",
        is_saas: true,
        is_postgres: true,
        left_out: &["faults::", "once::", "selfhost::", "soak::"],
    },
];

/// Returns whether the tests of this process are in `saas` mode.
pub(crate) fn is_saas() -> bool {
    own().is_saas
}

/// Returns whether the tests of this process are on PostgreSQL.
pub(crate) fn is_postgres() -> bool {
    own().is_postgres
}

fn own() -> &'static Setup {
    find(&env::var_os(OWN).and_then(|name| name.into_string().ok()).unwrap_or_default())
        .expect("the process has a set-up")
}

fn find(name: &str) -> Option<&'static Setup> {
    SETUPS.iter().find(|setup| setup.name == name)
}

/// Runs before `main`, which the harness of the tests brings along: a process without a set-up starts one for each.
#[ctor(unsafe)]
fn start_processes() {
    if env::var_os(OWN).is_none() {
        exit(run_setups());
    }
}

/// Runs the chosen set-ups one after the other, with the arguments of this process, and returns the exit code.
fn run_setups() -> i32 {
    let mut chosen = match chosen() {
        Ok(chosen) => chosen,
        Err(unknown) => {
            let names = SETUPS.map(|setup| setup.name).join("`, `");
            eprintln!("{CHOICE}: `{unknown}` is not a set-up: write one of `{names}`");
            return FAILED;
        }
    };
    let arguments: Vec<String> = env::args().skip(1).collect();
    chosen.retain(|setup| setup.has(&arguments));
    let failed: Vec<&str> =
        chosen.iter().filter(|setup| !setup.passes(&arguments)).map(|setup| setup.name).collect();
    if failed.is_empty() {
        return 0;
    }
    let repeat = "cargo test -p portcullis-server --test blackbox";
    eprintln!("\nTests failed. To repeat: {CHOICE}={} {repeat}", failed.join(","));
    FAILED
}

/// Returns the set-ups of `TEST_SETUP`. The error is the name of none.
fn chosen() -> Result<Vec<&'static Setup>, String> {
    let Some(names) = env::var_os(CHOICE) else { return Ok(SETUPS.iter().collect()) };
    let names = names.to_string_lossy();
    names.split(',').map(|name| find(name).ok_or_else(|| name.to_owned())).collect()
}
