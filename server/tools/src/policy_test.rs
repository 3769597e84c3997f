//! `portcullis test`: decides the cases of tenant folders and reports unexpected decisions.

mod cases;
mod coverage;
mod error;
mod folders;
mod junit;
mod resolvers;
mod results;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use portcullis_bundle::{Bundle, Case, FolderFacts, FolderQuestion};
use portcullis_config::Variables;
use portcullis_engine::AttributeAnswers;

use crate::exit;
use cases::CaseResult;
use coverage::{Coverage, Points};
pub use error::TestError;
pub use folders::tenant_folders;
pub use folders::{TenantFolder, read_all};
use resolvers::FolderResolvers;
use results::TenantResults;

/// The arguments of `portcullis test`.
#[derive(Debug, Default, clap::Args)]
pub struct CaseTestArguments {
    /// The folder of a tenant, or a folder of such folders.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// Run only the cases whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub case: Option<String>,
    /// Show which policies, tests of conditions and rules the cases cover.
    #[arg(long)]
    pub coverage: bool,
    /// Fail if the cases cover less than this, in percent of all points.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    pub min_coverage: Option<u8>,
    /// Write the results to this file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Runs the cases of the tenant folders that the paths are or contain. Results go to `out`, and errors to `err`. The exit
/// code is 1 if a case has another decision, or too little is covered.
pub async fn run(
    arguments: &CaseTestArguments,
    variables: &Variables,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    exit::judged(test(arguments, variables, out).await, err)
}

/// Calls the resolvers of a tenant for each of its cases. Returns the answers that the decision of each case needs, in the
/// order of the cases.
///
/// # Errors
/// A resolver cannot be called.
pub async fn answers(
    found: &TenantFolder,
    variables: &Variables,
) -> Result<Vec<AttributeAnswers>, TestError> {
    let TenantFolder { folder, bundle } = found;
    let resolvers = FolderResolvers::open(folder, bundle, variables).await?;
    let mut all = Vec::with_capacity(bundle.cases.len());
    for case in &bundle.cases {
        let sent = case.to_check(&bundle.users, &bundle.tenant)?;
        let plan = bundle.rulebook.plan(sent.resource);
        let facts = FolderFacts { rulebook: &bundle.rulebook, tuples: Some(case.tuples()) };
        let mut question = FolderQuestion::combined(&plan, &facts, sent);
        resolvers.decide(bundle, &mut question, case).await?;
        all.push(question.into_answers());
    }
    Ok(all)
}

/// A failed case, with the explanation as pairs of a label and a text.
#[derive(Debug, PartialEq)]
pub struct ReportedCase {
    pub name: String,
    pub lines: Vec<(&'static str, String)>,
}

/// Runs the cases of the tenant folder `folder`, whose content is `bundle`, and returns those that fail.
///
/// # Errors
/// A resolver cannot be called.
pub async fn failed_cases(
    folder: &Path,
    bundle: &Bundle,
    variables: &Variables,
) -> Result<Vec<ReportedCase>, TestError> {
    let resolvers = FolderResolvers::open(folder, bundle, variables).await?;
    let (results, _) = run_cases(bundle, &bundle.cases, &resolvers).await?;
    let failed = results.iter().filter(|result| !result.passed());
    let reported = |result: &CaseResult<'_>| ReportedCase {
        name: result.case.name.clone(),
        lines: result.lines(),
    };
    Ok(failed.map(reported).collect())
}

/// Runs the cases and writes all reports. Returns whether everything is as expected.
async fn test(
    arguments: &CaseTestArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> Result<bool, Vec<TestError>> {
    let found = read_all(&arguments.paths)?;
    let chosen = open_all(&found, arguments.case.as_deref(), variables).await?;
    if chosen.is_empty() {
        let none = |part: &String| TestError::NoSuchCase(part.clone());
        return Err(vec![arguments.case.as_ref().map_or(TestError::NoCase, none)]);
    }
    let mut results = Vec::with_capacity(chosen.len());
    for (found, cases, resolvers) in chosen {
        let ran = run_cases(&found.bundle, cases, &resolvers).await;
        let (cases, coverage) = ran.map_err(|error| vec![error])?;
        results.push(TenantResults { found, cases, coverage });
    }
    report(arguments, &results, out).map_err(|error| vec![error])
}

/// A tenant, its chosen cases, and its resolvers.
type Chosen<'f> = (&'f TenantFolder, Vec<&'f Case>, FolderResolvers);

/// Chooses the cases whose name contains `filter`, and opens the resolvers of their tenants. The faults of all resolvers
/// are reported together, before any case runs.
async fn open_all<'f>(
    found: &'f [TenantFolder],
    filter: Option<&str>,
    variables: &Variables,
) -> Result<Vec<Chosen<'f>>, Vec<TestError>> {
    let (mut chosen, mut errors) = (Vec::new(), Vec::new());
    for tenant in found {
        let wanted = |case: &&Case| filter.is_none_or(|part| case.name.contains(part));
        let cases: Vec<_> = tenant.bundle.cases.iter().filter(wanted).collect();
        // Resolvers of a tenant without chosen cases are not opened, because that may compile modules.
        if cases.is_empty() {
            continue;
        }
        match FolderResolvers::open(&tenant.folder, &tenant.bundle, variables).await {
            Ok(resolvers) => chosen.push((tenant, cases, resolvers)),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(chosen) } else { Err(errors) }
}

/// Decides cases of a tenant, whose content is `bundle`.
async fn run_cases<'f>(
    bundle: &'f Bundle,
    chosen: impl IntoIterator<Item = &'f Case>,
    resolvers: &FolderResolvers,
) -> Result<(Vec<CaseResult<'f>>, Coverage), TestError> {
    let mut coverage = Coverage::new(&bundle.rulebook);
    let mut results = Vec::new();
    for case in chosen {
        results.push(cases::decide(bundle, resolvers, case, &mut coverage).await?);
    }
    Ok((results, coverage))
}

/// Writes the reports that the arguments ask for. Returns whether everything is as expected.
fn report(
    arguments: &CaseTestArguments,
    results: &[TenantResults<'_>],
    out: &mut dyn Write,
) -> Result<bool, TestError> {
    if let Some(file) = &arguments.junit {
        // The file is written first, so that it exists even if the terminal cannot be written to.
        let written = fs::write(file, junit::document(results));
        written.map_err(|error| TestError::Report(file.display().to_string(), error))?;
    }
    for tenant in results {
        tenant.write_cases(out)?;
        tenant.write_warnings(out)?;
        // Where only some cases run, most policies decide none.
        if arguments.case.is_none() {
            tenant.write_note(out)?;
        }
        if arguments.coverage {
            write!(out, "{}", tenant.coverage)?;
        }
        writeln!(out)?;
    }
    let failed: usize = results.iter().map(TenantResults::failed).sum();
    let all: usize = results.iter().map(|tenant| tenant.cases.len()).sum();
    // The share is one of all points together, and not the mean of the tenants.
    let points = results.iter().fold(Points::default(), |sum, one| sum.and(one.coverage.points()));
    let is_covered = arguments.min_coverage.is_none_or(|percent| points.reaches(percent));
    if let Some(percent) = arguments.min_coverage {
        let verdict = if is_covered { "ok" } else { "FAILED" };
        writeln!(out, "coverage {verdict}: {points}, at least {percent} % wanted")?;
    }
    writeln!(out, "{} passed, {failed} failed", all - failed)?;
    Ok(failed == 0 && is_covered)
}

#[cfg(test)]
mod resolver_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod undetermined_tests;
