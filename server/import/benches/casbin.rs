//! The time and the bytes of an import of 11,000 lines of Casbin with roles in 100 domains.
//!
//! `cargo bench -p portcullis-import --bench casbin -- [--json FILE]`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use clap::Parser;
use portcullis_config::Variables;
use portcullis_import::casbin::{self, CasbinArguments};
use portcullis_workloads::measure::thread_time;
use portcullis_workloads::report::{Bar, Group, Report};
use tokio::runtime;

const DOMAINS: usize = 100;
/// The roles of a domain, each with one member.
const ROLES: usize = 10;
/// The lines of a role.
const LINES: usize = 10;

const MODEL: &str = "[request_definition]\nr = sub, dom, obj, act\n\n[policy_definition]\np = sub, dom, obj, act\n\n\
    [role_definition]\ng = _, _, _\n\n[policy_effect]\ne = some(where (p.eft == allow))\n\n[matchers]\nm = ";
/// A matcher whose lines become rules, and one whose lines become policies.
const MATCHERS: [(&str, &str); 2] = [
    ("rules", "g(r.sub, p.sub, r.dom) && r.dom == p.dom && r.obj == p.obj && r.act == p.act"),
    (
        "policies",
        "g(r.sub, p.sub, r.dom) && r.dom == p.dom && keyMatch2(r.obj, p.obj) && r.act == p.act",
    ),
];

/// The command line of an import.
#[derive(Parser)]
struct Import {
    #[command(flatten)]
    arguments: CasbinArguments,
}

fn main() -> Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    report.group("casbin", measure)?;
    report.finish()
}

fn measure(group: &mut Group<'_>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let policy = policy()?;
    fs::write(folder.path().join("policy.csv"), &policy)?;
    let lines = policy.lines().count();
    for (name, matcher) in MATCHERS {
        fs::write(folder.path().join("model.conf"), format!("{MODEL}{matcher}\n"))?;
        let begun = thread_time();
        let written = import(folder.path())?;
        let took = (thread_time() - begun).as_secs_f64();
        let what = format!("{lines} lines in {DOMAINS} domains become {name}");
        group.measurement(&what, took, " s", Bar::AtMost(5.0));
        let megabytes = written as f64 / 1e6;
        group.measurement(format!("{what}: written"), megabytes, " MB", Bar::AtMost(5.0));
    }
    Ok(())
}

/// Returns the lines of the policy.
fn policy() -> Result<String> {
    let mut text = String::new();
    for domain in 0..DOMAINS {
        for role in 0..ROLES {
            for line in 0..LINES {
                writeln!(text, "p, role-{role}, d{domain}, /docs/{line}/:id, read")?;
            }
            writeln!(text, "g, user-{domain}-{role}, role-{role}, d{domain}")?;
        }
    }
    Ok(text)
}

/// Imports the files of `folder`, and returns the bytes that are written.
fn import(folder: &Path) -> Result<usize> {
    let path = |name: &str| folder.join(name).into_os_string();
    let import = Import::parse_from(["casbin".into(), path("model.conf"), path("policy.csv")]);
    let variables = Variables::load(None)?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let run = casbin::run(&import.arguments, &variables, &mut out, &mut err);
    runtime::Builder::new_current_thread().build()?.block_on(run)?;
    Ok(out.len())
}
