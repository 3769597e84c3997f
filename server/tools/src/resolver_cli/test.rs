//! `portcullis resolver test`: runs a component on the checks of a file.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_config::Variables;
use portcullis_engine::{Json, json};
use portcullis_resolver_host::{AnsweredAttribute, CallOutcome};

use super::checks::{self, ExpectedAnswer, Sample};
use super::guest;
use super::trial::{Trial, TrialFiles};
use crate::exit;
use crate::humanize;

/// The arguments of `portcullis resolver test`.
#[derive(Debug, clap::Args)]
pub struct TestArguments {
    #[command(flatten)]
    files: TrialFiles,
}

pub(super) async fn run(
    arguments: &TestArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> ExitCode {
    let passed = test(&arguments.files, variables, out).await;
    exit::judged_at_once(passed, &mut std::io::stderr())
}

/// Runs all checks. Returns whether each has the expected result.
async fn test(
    files: &TrialFiles,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let project = files.project()?;
    // Faults of the checks are reported before the compilation, which can take long.
    let (file, bytes) = files.checks(&project)?;
    let json = json::parse(&bytes).with_context(|| file.display().to_string())?;
    let samples = checks::read(&json).with_context(|| file.display().to_string())?;
    let host = guest::host(None)?;
    let module = guest::load(&host, &project).await?;
    let trial = Trial::open(host, module, &project, files, variables)?;
    checks::fit(&samples, trial.attributes()).with_context(|| file.display().to_string())?;
    let about = &trial.module().descriptor;
    writeln!(out, "{} {} ({})", about.name, about.version, project.component.display())?;
    let mut failed = 0;
    for sample in &samples {
        let outcome = trial.call(sample).await?;
        let faults = faults(&sample.expected, &outcome);
        // A failed check does not end the run: the others are still called and shown.
        failed += usize::from(!faults.is_empty());
        show(sample, &trial.wanted(sample), &outcome, &faults, out)?;
    }
    writeln!(out, "\n{} passed, {failed} failed", samples.len() - failed)?;
    Ok(failed == 0)
}

/// Returns the differences between the expected and the real result.
fn faults(expected: &ExpectedAnswer<'_>, outcome: &CallOutcome) -> Vec<String> {
    match (expected, &outcome.result) {
        (ExpectedAnswer::Error(part), Err(error)) if error.to_string().contains(part) => vec![],
        (ExpectedAnswer::Error(part), Err(_)) => vec![format!("expected a failure with `{part}`")],
        (ExpectedAnswer::Error(part), Ok(_)) => {
            vec![format!("expected a failure with `{part}`, not an answer")]
        }
        (ExpectedAnswer::Values(_), Err(_)) => vec!["expected an answer".to_owned()],
        (ExpectedAnswer::Values(values), Ok(answers)) => {
            let faults = values.iter().filter_map(|(name, expected)| {
                let found = answers.iter().find(|answer| answer.name == *name);
                let fits = found.is_some_and(|answer| {
                    answer.value.clone().map(portcullis_resolvers::json).as_ref() == *expected
                });
                let expected = expected.map_or_else(|| "absent".to_owned(), Json::to_string);
                (!fits).then(|| format!("expected {name} {expected}"))
            });
            faults.collect()
        }
    }
}

/// Writes the result of one check.
fn show(
    sample: &Sample<'_>,
    wanted: &[Box<str>],
    outcome: &CallOutcome,
    faults: &[String],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let verdict = if faults.is_empty() { "ok    " } else { "FAILED" };
    writeln!(out, "\n  {verdict}  {}", sample.name)?;
    match &outcome.result {
        Ok(answers) => {
            // Names of attributes are mostly ASCII, so bytes are good enough for the width.
            let width = wanted.iter().map(|name| name.len()).max().unwrap_or_default();
            for name in wanted {
                let answer = answers.iter().find(|answer| answer.name == **name);
                writeln!(out, "          {name:width$}  {}", answer_text(answer))?;
            }
        }
        Err(error) => writeln!(out, "          failed: {error}")?,
    }
    for line in &outcome.log.lines {
        writeln!(out, "          {}: {}", line.level.as_str(), line.text)?;
    }
    if outcome.log.dropped > 0 {
        writeln!(out, "          and {} more log lines (dropped)", outcome.log.dropped)?;
    }
    let time = humanize::duration(outcome.elapsed);
    let memory = humanize::bytes(outcome.memory_bytes as u64);
    writeln!(out, "          took {time}, {memory} of memory at most")?;
    faults.iter().try_for_each(|fault| writeln!(out, "          {fault}"))
}

/// Returns the text for one attribute of an answer.
fn answer_text(answer: Option<&AnsweredAttribute>) -> String {
    let Some(answer) = answer else {
        return "undetermined: neither answered nor absent".to_owned();
    };
    let value = answer.value.clone().map(portcullis_resolvers::json);
    let value = value.map_or_else(|| "absent".to_owned(), |value| value.to_string());
    let ttl = humanize::duration(answer.ttl);
    if answer.ttl.is_zero() { value } else { format!("{value}, cached for {ttl}") }
}
