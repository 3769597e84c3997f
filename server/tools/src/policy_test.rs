//! `portcullis test`: decides the cases of tenant folders and reports unexpected decisions.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{DateTime, Utc};
use portcullis_bundle::{Bundle, BundleError, Case, Expected, SampleUser, TENANT_FILE};
use portcullis_engine::{Check, CheckBody, Invalid};
use uuid::Uuid;

/// The instant of a case without `now`: 2026-01-15T10:00:00Z, a Thursday morning. It is fixed, so that a case that
/// passes today passes tomorrow.
pub const DEFAULT_NOW: DateTime<Utc> = match DateTime::from_timestamp(1_768_471_200, 0) {
    Some(instant) => instant,
    None => DateTime::UNIX_EPOCH,
};

/// The exit code if every case has the expected decision.
const PASSED: u8 = 0;
/// The exit code if a case has another decision.
const FAILED: u8 = 1;
/// The exit code if nothing was tested, because something is missing or invalid.
const REFUSED: u8 = 2;

/// The reason why nothing was tested.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error("{0}: cannot be read: {1}")]
    Path(String, io::Error),
    #[error(
        "{0}: expected a tenant folder or a folder of tenant folders, but there is no `{TENANT_FILE}`"
    )]
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

/// A tenant folder with its content.
pub struct TenantFolder {
    pub folder: PathBuf,
    pub bundle: Bundle,
}

/// The numbers of cases.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

/// The decision of a case.
struct CaseDecision {
    got: Expected,
    decider: Option<Uuid>,
    reason: String,
}

/// Runs the cases of the tenant folders that `paths` are or contain. With `filter`, runs only the cases whose name
/// contains it. Results go to `out`, and errors to `err`.
pub fn run(
    paths: &[PathBuf],
    filter: Option<&str>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    ExitCode::from(status(paths, filter, out, err))
}

fn status(paths: &[PathBuf], filter: Option<&str>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let outcome =
        read_all(paths).and_then(|found| run_all(&found, filter, out).map_err(|error| vec![error]));
    match outcome {
        Ok(Tally { failed: 0, .. }) => PASSED,
        Ok(_) => FAILED,
        Err(errors) => {
            for error in errors {
                // If standard error is closed too, the exit code still reports the failure.
                let _ = writeln!(err, "{error}");
            }
            REFUSED
        }
    }
}

/// Reads all tenants before any case runs. So the faults of all files are reported together, and not after screens of
/// results.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<TenantFolder>, Vec<TestError>> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match tenant_folders(path) {
            Ok(folders) => {
                for folder in folders {
                    match Bundle::read_folder(&folder) {
                        Ok(bundle) => found.push(TenantFolder { folder, bundle }),
                        Err(error) => errors.push(error.into()),
                    }
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// Returns the tenant folder that `path` is, or those directly inside it, sorted.
fn tenant_folders(path: &Path) -> Result<Vec<PathBuf>, TestError> {
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

/// Returns whether a folder is a tenant folder.
fn is_tenant(folder: &Path) -> bool {
    folder.join(TENANT_FILE).is_file()
}

fn run_all(
    found: &[TenantFolder],
    filter: Option<&str>,
    out: &mut dyn Write,
) -> Result<Tally, TestError> {
    let mut tally = Tally::default();
    for TenantFolder { folder, bundle } in found {
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

/// Runs `cases`, and returns the policies and rules that decided at least one of them.
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

/// A decision as the results show it.
struct Shown<'e>(&'e Expected);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by `{}`", self.0.decision, self.0.rule)
    }
}

/// Decides a case as the service would, with the domain and the claims of the caller.
fn decide(bundle: &Bundle, case: &Case) -> Result<CaseDecision, Invalid> {
    let body = CheckBody::parse(&case.check)?;
    let caller = case.caller.as_deref().and_then(|sub| bundle.user(sub));
    let domain = body.domain.unwrap_or(&bundle.tenant);
    let now = case.now.unwrap_or(DEFAULT_NOW);
    let plan = bundle.rulebook.plan(body.resource);
    let check = Check::new(body, domain, caller.map(SampleUser::caller), now);
    let decision = plan.evaluate_with(&check, &case.resolved);
    let decider = decision.rule_id();
    let got = Expected { decision: decision.effect(), rule: bundle.rulebook.name(decider) };
    Ok(CaseDecision { got, decider, reason: decision.reason() })
}

/// Writes one line about the policies and rules that decide no case. No case fails if one of these breaks.
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
        writeln!(
            out,
            "  note: {count} of {all} policies and rules decide no case: {}",
            silent.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use portcullis_bundle::fixture::{edit, write_tenant};

    use super::*;

    /// Exit status, standard output and standard error.
    type Ran = (u8, String, String);

    fn test(paths: &[&Path], filter: Option<&str>) -> Ran {
        let paths: Vec<PathBuf> = paths.iter().map(|path| (*path).to_owned()).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let status = status(&paths, filter, &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (status, text(out), text(err))
    }

    fn tenant() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let tenant = folder.path().join("acme");
        write_tenant(&tenant);
        (folder, tenant)
    }

    #[test]
    fn results_are_listed_and_what_nothing_covers_is_noted() {
        let (_folder, tenant) = tenant();
        let (status, out, err) = test(&[&tenant], None);
        let expected = format!(
            "tenant acme ({})
  ok      a reader reads
  ok      demo: nobody reads what is locked
  note: 2 of 4 policies and rules decide no case: `writer, acme, wiki:read, read`, `guest, acme, wiki:read, read`

2 passed, 0 failed
",
            tenant.display()
        );
        assert_eq!((status, &*out, &*err), (PASSED, &*expected, ""));
    }

    #[test]
    fn a_mismatch_shows_what_came_instead_and_why() {
        let (_folder, tenant) = tenant();
        edit(&tenant, "cases.yaml", "{decision: allow, ", "{decision: deny, ");
        edit(&tenant, "cases.yaml", "rule: locked", "rule: default-deny");
        let (status, out, err) = test(&[&tenant], None);
        let expected = "
  FAILED  a reader reads
          expected  deny by `reader, acme, wiki:read, read`
          got       allow by `reader, acme, wiki:read, read`
          why       RBAC rule `reader, acme, wiki:read, read` allows
  FAILED  demo: nobody reads what is locked
          expected  deny by `default-deny`
          got       deny by `locked`
          why       ABAC policy `locked` denies: its condition is true
";
        assert!(out.contains(expected), "{out}");
        assert!(out.ends_with("\n0 passed, 2 failed\n"), "{out}");
        assert_eq!((status, &*err), (FAILED, ""));
    }

    #[test]
    fn a_filter_picks_cases_by_name() {
        let (folder, tenant) = tenant();
        write_tenant(&folder.path().join("other"));
        edit(&tenant, "cases.yaml", "a reader reads", "the needle");
        let (status, out, _) = test(&[folder.path()], Some("needle"));
        let heading = format!("tenant acme ({})", tenant.display());
        let expected = format!("{heading}\n  ok      the needle\n\n1 passed, 0 failed\n");
        assert_eq!((status, out), (PASSED, expected));
        let (status, out, err) = test(&[folder.path()], Some("thimble"));
        assert_eq!((status, &*out), (REFUSED, ""));
        assert_eq!(err, "no case found whose name contains `thimble`\n");
    }

    #[test]
    fn folders_of_tenants_are_run_in_order() {
        let (folder, tenant) = tenant();
        write_tenant(&folder.path().join("zeta"));
        write_tenant(&folder.path().join("beta"));
        fs::create_dir(folder.path().join("no-tenant")).expect("writable");
        edit(&folder.path().join("zeta"), "tenant.yaml", "acme", "zeta");
        edit(&folder.path().join("zeta"), "cases.yaml", "reader, acme", "reader, zeta");
        let (status, out, _) = test(&[folder.path(), &tenant], None);
        let headings: Vec<_> =
            out.lines().filter_map(|line| line.strip_prefix("tenant ")).collect();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let expected = ["acme", "beta", "zeta", "acme"].map(at);
        for (heading, folder) in iter::zip(&headings, &expected) {
            assert!(heading.ends_with(&format!("({folder})")), "{heading}");
        }
        assert_eq!((status, headings.len()), (PASSED, expected.len()));
        assert!(out.ends_with("\n8 passed, 0 failed\n"), "{out}");
    }

    #[test]
    fn every_unusable_folder_is_reported_before_anything_runs() {
        let (folder, tenant) = tenant();
        let other = folder.path().join("other");
        write_tenant(&other);
        write_tenant(&folder.path().join("sound"));
        edit(&tenant, "cases.yaml", "as: ann", "as: anne");
        edit(&other, "policies.yaml", "operator: exists", "operator: is");
        let missing = folder.path().join("missing");
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).expect("writable");
        let (status, out, err) = test(&[folder.path(), &missing, &empty], None);
        assert_eq!((status, &*out), (REFUSED, ""));
        let lines: Vec<_> = err.lines().collect();
        let [acme, other, missing, empty] = &*lines else { panic!("{err}") };
        assert!(acme.contains("/acme/cases.yaml: at `/0/as`: expected "), "{acme}");
        assert!(other.contains("/other/policies.yaml: at `/1/rule_data/operator`: "), "{other}");
        assert!(missing.contains("/missing: cannot be read: "), "{missing}");
        assert!(empty.contains("/empty: expected a tenant folder "), "{empty}");
    }

    #[test]
    fn no_case_at_all_is_no_success() {
        let (_folder, tenant) = tenant();
        fs::write(tenant.join("cases.yaml"), "[]").expect("writable");
        assert_eq!(test(&[&tenant], None), (REFUSED, String::new(), "no case found\n".to_owned()));
        assert_eq!(test(&[], None).0, REFUSED);
    }

    #[test]
    fn results_that_cannot_be_written_are_no_success() {
        let (_folder, tenant) = tenant();
        let mut err = Vec::new();
        // A writer without room, like a full disk.
        let status = status(&[tenant], None, &mut [0; 4].as_mut_slice(), &mut err);
        let err = String::from_utf8(err).expect("text");
        assert!(err.starts_with("the results cannot be written: "), "{err}");
        assert_eq!(status, REFUSED);
    }

    #[test]
    fn every_sample_case_passes_and_every_sample_rule_decides_one() {
        for bundle in Bundle::embedded().expect("sound") {
            let mut deciders = HashSet::new();
            for case in &bundle.cases {
                let answer = decide(&bundle, case).expect("sound");
                assert_eq!(answer.got, case.expected, "{}: {}", case.name, answer.reason);
                deciders.extend(answer.decider);
            }
            let silent = bundle.rulebook.named().find(|(id, _)| !deciders.contains(id));
            assert_eq!(silent, None, "{}", bundle.tenant);
        }
    }
}
