//! `portcullis lint`: finds mistakes in tenant folders that are valid, but not what anybody wants.

mod actions;
mod attributes;
mod cases;
mod code;
mod conditions;
mod datetimes;
mod domains;
mod explain;
mod finding;
mod missed;
mod names;
mod output;
mod policies;
mod predecessors;
mod relations;
mod rules;
mod silencers;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_bundle::Bundle;

use crate::exit;
use crate::policy_test::{TestError, read_all};
pub use code::{LintCode, Severity};
pub(crate) use domains::tying_condition;
pub use finding::Finding;
use finding::Places;
use output::FindingCounts;
pub use output::LintFormat;

/// The arguments of `portcullis lint`.
#[derive(Debug, Default, clap::Args)]
pub struct LintArguments {
    /// The folder of a tenant, or a folder of such folders.
    #[arg(default_value = ".")]
    pub dirs: Vec<PathBuf>,
    /// Leave out the findings with this code. May be given several times.
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<LintCode>,
    /// Fail if there is a warning.
    #[arg(long)]
    pub deny_warnings: bool,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t)]
    pub format: LintFormat,
    /// Print what a code means and what to do, and judge nothing.
    #[arg(long, value_name = "CODE")]
    pub explain: Option<LintCode>,
}

/// Judges the tenant folders that the arguments name or contain. Findings go to `out`, and errors to `err`. The exit code is 1 if
/// there is an error, or a warning that counts as one.
pub fn run(arguments: &LintArguments, out: &mut dyn Write, err: &mut dyn Write) -> ExitCode {
    exit::judged(judge(arguments, out), err)
}

/// Writes the findings. Returns whether nothing fails the command.
fn judge(arguments: &LintArguments, out: &mut dyn Write) -> Result<bool, Vec<TestError>> {
    if let Some(code) = arguments.explain {
        let text = format!("{code}\n\n{}\n", explain::explanation(code));
        out.write_all(text.as_bytes()).map_err(|error| vec![TestError::Output(error)])?;
        return Ok(true);
    }
    let found = read_all(&arguments.dirs)?;
    let all = found.iter().flat_map(|tenant| {
        findings(&tenant.folder.display().to_string(), &tenant.bundle, &arguments.allow)
    });
    let all: Vec<Finding> = all.collect();
    arguments
        .format
        .write(&all, found.len(), out)
        .map_err(|error| vec![TestError::Output(error)])?;
    let FindingCounts { errors, warnings, .. } = FindingCounts::new(&all);
    Ok(errors == 0 && !(arguments.deny_warnings && warnings > 0))
}

/// Returns the findings about the tenant folder `folder`, whose content is `bundle`, without those with an `allowed`
/// code. They are sorted by file and place.
pub fn findings(folder: &str, bundle: &Bundle, allowed: &[LintCode]) -> Vec<Finding> {
    let places = Places::new(folder, bundle);
    let doubts = [
        names::doubts,
        actions::doubts,
        attributes::doubts,
        rules::doubts,
        missed::doubts,
        domains::doubts,
        datetimes::doubts,
        relations::doubts,
        policies::doubts,
        conditions::doubts,
        cases::doubts,
    ];
    let doubts = doubts.into_iter().flat_map(|doubts| doubts(bundle));
    // The places come before the silencers, which stand beside the lines that they silence.
    let placed = doubts.map(|doubt| places.place(doubt)).collect();
    let mut findings = silencers::silence(placed, &places, allowed);
    findings.sort_by(|a, b| {
        (&a.file, a.line, a.column, a.code).cmp(&(&b.file, b.line, b.column, b.code))
    });
    findings
}

#[cfg(test)]
mod tests;
