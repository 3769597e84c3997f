//! `portcullis test`: decides the cases of tenant folders and says which came out otherwise.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::fs;

use chrono::{DateTime, Utc};
use portcullis_engine::{Check, CheckBody, Invalid};
use uuid::Uuid;

use crate::bundle::{Bundle, BundleError, Case, Expected, SampleUser, TENANT_FILE};

/// The instant of a case without `now`: 2026-01-15T10:00:00Z, a Thursday morning. It never moves, so
/// that a case that passes today passes tomorrow.
pub(crate) const DEFAULT_NOW: DateTime<Utc> = match DateTime::from_timestamp(1_768_471_200, 0) {
    Some(instant) => instant,
    None => DateTime::UNIX_EPOCH,
};

/// Every case came out as expected.
const PASSED: u8 = 0;
/// At least one case did not.
const FAILED: u8 = 1;
/// Nothing was tested, since something is missing or invalid.
const REFUSED: u8 = 2;

/// Why nothing was tested.
#[derive(Debug, thiserror::Error)]
enum TestError {
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error("{0}: cannot be read: {1}")]
    Path(String, io::Error),
    #[error("{0}: no tenant folder: neither it nor a folder in it has a `{TENANT_FILE}`")]
    NoTenant(String),
    #[error("no case found")]
    NoCase,
    #[error("no case found whose name contains `{0}`")]
    NoSuchCase(String),
    #[error("a check cannot be read: {0}")]
    Check(#[from] Invalid),
    #[error("the results cannot be written: {0}")]
    Output(#[from] io::Error),
}

/// A tenant folder that was read, and where it was found.
struct Found {
    folder: PathBuf,
    bundle: Bundle,
}

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

/// What the rules answered to a case.
struct Answer {
    got: Expected,
    decider: Option<Uuid>,
    reason: String,
}

/// Runs the cases of the tenant folders that `paths` are or hold, only those whose name contains
/// `filter` if there is one. Results go to `out`, and what keeps them from being computed to `err`.
pub(crate) fn run(
    paths: &[PathBuf],
    filter: Option<&str>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    ExitCode::from(status(paths, filter, out, err))
}

fn status(paths: &[PathBuf], filter: Option<&str>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let outcome = read_all(paths)
        .and_then(|found| run_all(&found, filter, out).map_err(|error| vec![error]));
    match outcome {
        Ok(Tally { failed: 0, .. }) => PASSED,
        Ok(_) => FAILED,
        Err(errors) => {
            for error in errors {
                // Where standard error is gone too, the exit code still says it.
                let _ = writeln!(err, "{error}");
            }
            REFUSED
        }
    }
}

/// Reads every tenant before a case of any runs: a typing error in the last one is not found only after
/// screens of results, and all of them are reported together.
fn read_all(paths: &[PathBuf]) -> Result<Vec<Found>, Vec<TestError>> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match tenant_folders(path) {
            Ok(folders) => {
                for folder in folders {
                    match Bundle::read_folder(&folder) {
                        Ok(bundle) => found.push(Found { folder, bundle }),
                        Err(error) => errors.push(error.into()),
                    }
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// The tenant folder that `path` is, or those directly inside it, sorted.
fn tenant_folders(path: &Path) -> Result<Vec<PathBuf>, TestError> {
    let is_tenant = |folder: &Path| folder.join(TENANT_FILE).is_file();
    if is_tenant(path) {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error| TestError::Path(path.display().to_string(), error);
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let folder = entry.map_err(unreadable)?.path();
        if is_tenant(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        return Err(TestError::NoTenant(path.display().to_string()));
    }
    folders.sort_unstable();
    Ok(folders)
}

fn run_all(
    found: &[Found],
    filter: Option<&str>,
    out: &mut dyn Write,
) -> Result<Tally, TestError> {
    let mut tally = Tally::default();
    for Found { folder, bundle } in found {
        let wanted = |case: &&Case| filter.is_none_or(|part| case.name.contains(part));
        let cases: Vec<&Case> = bundle.cases.iter().filter(wanted).collect();
        if !cases.is_empty() {
            writeln!(out, "tenant {} ({})", bundle.tenant, folder.display())?;
            let deciders = run_cases(bundle, &cases, &mut tally, out)?;
            if filter.is_none() {
                report_coverage(bundle, &deciders, out)?;
            }
            writeln!(out)?;
        }
    }
    if tally.passed + tally.failed == 0 {
        let none = |part: &str| TestError::NoSuchCase(part.to_owned());
        return Err(filter.map_or(TestError::NoCase, none));
    }
    writeln!(out, "{} passed, {} failed", tally.passed, tally.failed)?;
    Ok(tally)
}

/// Runs `cases` and returns the policies and rules that decided one.
fn run_cases(
    bundle: &Bundle,
    cases: &[&Case],
    tally: &mut Tally,
    out: &mut dyn Write,
) -> Result<HashSet<Uuid>, TestError> {
    let mut deciders = HashSet::new();
    for case in cases {
        let answer = decide(bundle, case)?;
        deciders.extend(answer.decider);
        if answer.got == case.expected {
            tally.passed += 1;
            writeln!(out, "  ok      {}", case.name)?;
        } else {
            tally.failed += 1;
            writeln!(out, "  FAILED  {}", case.name)?;
            writeln!(out, "          expected  {}", Shown(&case.expected))?;
            writeln!(out, "          got       {}", Shown(&answer.got))?;
            writeln!(out, "          why       {}", answer.reason)?;
        }
    }
    Ok(deciders)
}

struct Shown<'e>(&'e Expected);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by `{}`", self.0.decision, self.0.rule)
    }
}

/// Decides a case as the service would: in the caller's domain, with the caller's claims.
fn decide(bundle: &Bundle, case: &Case) -> Result<Answer, Invalid> {
    let body = CheckBody::parse(&case.check)?;
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub));
    let domain = body.domain.unwrap_or(&bundle.tenant);
    let now = case.now.unwrap_or(DEFAULT_NOW);
    let plan = bundle.rulebook.plan(body.resource);
    let decision = plan.evaluate(&Check::new(body, domain, caller.map(SampleUser::caller), now));
    let decider = decision.rule_id();
    let got = Expected { decision: decision.effect(), rule: bundle.rulebook.name(decider) };
    Ok(Answer { got, decider, reason: decision.reason() })
}

/// Says in one line what no case speaks for: whoever breaks that would not be told.
fn report_coverage(
    bundle: &Bundle,
    deciders: &HashSet<Uuid>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = bundle.rulebook.named().count();
    let silent = bundle.rulebook.named().filter(|(id, _)| !deciders.contains(id));
    let silent: Vec<String> = silent.map(|(_, name)| format!("`{name}`")).collect();
    if silent.is_empty() {
        writeln!(out, "  note: each of the {all} policies and rules decides at least one case")
    } else {
        let count = silent.len();
        writeln!(out, "  note: {count} of {all} policies and rules decide no case: {}", silent.join(", "))
    }
}
