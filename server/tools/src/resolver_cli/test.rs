//! `portcullis resolver test`: a component on checks from a file.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use portcullis_engine::{Json, json};
use portcullis_resolver_host::{AnsweredAttribute, CallOutcome};

use super::checks::{self, Expected, Sample};
use super::trial::{Files, Trial};
use super::{guest, steps};
use crate::humanize;
use portcullis_config::Variables;
use portcullis_resolvers;

/// A check came out otherwise.
const FAILED: u8 = 1;
/// Nothing was tested, since something is missing or invalid.
const REFUSED: u8 = 2;

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    files: Files,
}

pub(super) async fn run(
    arguments: &Arguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    match test(&arguments.files, variables, out).await {
        Ok(0) => Ok(ExitCode::SUCCESS),
        Ok(_) => Ok(ExitCode::from(FAILED)),
        Err(error) => {
            steps::say(&format!("portcullis: {error:#}"));
            Ok(ExitCode::from(REFUSED))
        }
    }
}

/// Runs all checks and returns how many failed.
async fn test(files: &Files, variables: &Variables, out: &mut dyn Write) -> anyhow::Result<usize> {
    let project = files.project()?;
    // What is wrong with the checks is told before anybody waits for a compilation.
    let (file, bytes) = files.checks(&project)?;
    let json = json::parse(&bytes).with_context(|| file.display().to_string())?;
    let samples = checks::read(&json).with_context(|| file.display().to_string())?;
    let host = guest::host(None)?;
    let module = guest::load(&host, &project).await?;
    let trial = Trial::open(host, module, &project, files, variables)?;
    let about = trial.module().descriptor();
    writeln!(out, "{} {} ({})", about.name, about.version, project.component.display())?;
    let mut failed = 0;
    for sample in &samples {
        let outcome = trial.call(sample).await?;
        let faults = faults(&sample.expected, &outcome);
        failed += usize::from(!faults.is_empty());
        show(sample, &trial.wanted(sample), &outcome, &faults, out)?;
    }
    writeln!(out, "\n{} passed, {failed} failed", samples.len() - failed)?;
    Ok(failed)
}

/// What came out otherwise than expected.
fn faults(expected: &Expected<'_>, outcome: &CallOutcome) -> Vec<String> {
    match (expected, &outcome.result) {
        (Expected::Error(part), Err(error)) if error.to_string().contains(part) => vec![],
        (Expected::Error(part), Err(_)) => vec![format!("expected a failure with `{part}`")],
        (Expected::Error(part), Ok(_)) => {
            vec![format!("expected a failure with `{part}`, not an answer")]
        }
        (Expected::Values(_), Err(_)) => vec!["expected an answer".to_owned()],
        (Expected::Values(values), Ok(answers)) => {
            let fault = |(name, expected): &(&str, Option<&Json<'_>>)| {
                let found = answers.iter().find(|answer| answer.name == *name);
                let fits = found.is_some_and(|answer| {
                    answer.value.clone().map(portcullis_resolvers::json).as_ref() == *expected
                });
                let expected = expected.map_or_else(|| "absent".to_owned(), Json::to_string);
                (!fits).then(|| format!("expected {name} {expected}"))
            };
            values.iter().filter_map(fault).collect()
        }
    }
}

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
            let width = wanted.iter().map(|name| name.len()).max().unwrap_or_default();
            for name in wanted {
                let answer = answers.iter().find(|answer| answer.name == **name);
                writeln!(out, "          {name:width$}  {}", told(answer))?;
            }
        }
        Err(error) => writeln!(out, "          failed: {error}")?,
    }
    for line in &outcome.log.lines {
        writeln!(out, "          {}: {}", line.level.as_str(), line.text)?;
    }
    if outcome.log.dropped > 0 {
        writeln!(out, "          and {} lines that were dropped", outcome.log.dropped)?;
    }
    let time = humanize::time(outcome.elapsed.as_nanos() as f64);
    let memory = humanize::bytes(outcome.memory_bytes as u64);
    writeln!(out, "          took {time}, {memory} of memory at most")?;
    faults.iter().try_for_each(|fault| writeln!(out, "          {fault}"))
}

/// What was answered of an attribute.
fn told(answer: Option<&AnsweredAttribute>) -> String {
    let Some(answer) = answer else {
        return "undetermined: neither answered nor absent".to_owned();
    };
    let value = answer.value.clone().map(portcullis_resolvers::json);
    let value = value.map_or_else(|| "absent".to_owned(), |value| value.to_string());
    let ttl = humanize::time(answer.ttl.as_nanos() as f64);
    if answer.ttl.is_zero() { value } else { format!("{value}, cached for {ttl}") }
}
