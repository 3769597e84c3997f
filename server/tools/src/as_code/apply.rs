//! `portcullis apply`: replaces the objects of an owner with the objects of a folder.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_config::Variables;

use super::answer::PlanAnswer;
use super::arguments::{ContentArguments, SourceArguments};
use super::lines::{self, has_changes};
use super::plan_file::PlanFile;
use super::request::SentApply;
use super::upload::{FolderContent, Planned};
use crate::report::{Report, ReportArguments, ShownActions, Sign, visible};
use crate::service::Service;

/// The arguments of `portcullis apply`.
#[derive(Debug, clap::Args)]
pub struct ApplyArguments {
    /// The tenant folder.
    dir: PathBuf,
    #[command(flatten)]
    content: ContentArguments,
    /// Carry out this plan of `portcullis plan --out`, if nothing that it read has changed.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_prune", "force", "allow_deletes"])]
    plan: Option<PathBuf>,
    /// Apply although cases fail. Without it nothing is written then. A gate of the tenant for its cases still holds.
    #[arg(long)]
    despite_cases: bool,
    /// Apply only if the tenant has this revision.
    #[arg(long, value_name = "N")]
    expect_revision: Option<u64>,
    #[command(flatten)]
    source: SourceArguments,
}

/// Applies the folder, and prints what changed.
///
/// # Errors
/// The folder is not valid, is not the folder of the plan, or the service refuses it, such as for a case that fails. Nothing is
/// changed then.
pub async fn run(
    arguments: &ApplyArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let ApplyArguments { dir, content, plan, despite_cases, expect_revision, source } = arguments;
    let service = Service::new(&content.service, variables)?;
    let plan = plan.as_deref().map(PlanFile::read).transpose()?;
    let mut folder = FolderContent::read(dir, content, variables, err)?;
    if let Some(plan) = &plan {
        if content.owner.is_none() {
            // Without `--owner`, the plan says whose objects these are.
            folder.owner.clone_from(&plan.owner);
        }
        plan.fits(&folder.owner, &folder.digest())?;
    }
    let request = SentApply {
        owner: &folder.owner,
        source: Some(source),
        // A plan is applied as it was made: its flags go before those of the command.
        keeps_others: plan.as_ref().map_or(content.no_prune, |plan| !plan.prune),
        force: plan.as_ref().map_or(content.force, |plan| plan.force),
        allow_deletes: plan.as_ref().map_or(content.allow_deletes, |plan| plan.allow_deletes),
        cases_must_pass: !despite_cases,
        expect_revision: *expect_revision,
        expect_fingerprint: plan.as_ref().map(|plan| &*plan.fingerprint),
        ..SentApply::default()
    };
    let planned = folder.send(&service, &request, false).await?;
    let form = (content.report, content.actions);
    out.write_all(shown(form, &folder.owner, &planned).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the outcome in the form that the arguments name.
fn shown(
    (arguments, actions): (ReportArguments, ShownActions),
    owner: &str,
    planned: &Planned,
) -> String {
    let Planned { text, answer } = planned;
    let changes = lines::changes(&answer.changes);
    let report = lines::report(heads(owner, answer), changes, answer, actions);
    report.shown(arguments, || format!("{text}\n"))
}

/// Returns the outcome as text, without the objects that are new.
pub(super) fn report(owner: &str, answer: &PlanAnswer) -> String {
    let mut changes = lines::changes(&answer.changes);
    changes.retain(|entry| entry.line.sign != Sign::Added);
    lines::report(heads(owner, answer), changes, answer, ShownActions::default()).text(false)
}

fn heads(owner: &str, answer: &PlanAnswer) -> Report {
    let outcome = outcome(answer);
    Report::new(format!("{owner}: {outcome}"), format!("Portcullis: {outcome}"))
}

fn outcome(answer: &PlanAnswer) -> String {
    let revision = answer.revision;
    match &answer.proposal {
        Some(proposal) => {
            format!(
                "proposed as {}: it waits for the approval of another manager",
                visible(&proposal.id)
            )
        }
        None if has_changes(answer) => format!("applied as revision {revision}"),
        None => format!("nothing to do at revision {revision}"),
    }
}
