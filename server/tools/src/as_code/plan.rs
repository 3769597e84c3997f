//! `portcullis plan`: shows what an apply of a folder changes.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_config::Variables;
use portcullis_model::clock::Clock;

use super::arguments::ContentArguments;
use super::lines::{self, has_changes};
use super::plan_file::{PlanFile, VERSION};
use super::recorded::Recorded;
use super::request::SentApply;
use super::upload::{FolderContent, Planned};
use crate::moments::Moment;
use crate::report::{Report, ReportArguments, ShownActions};
use crate::service::Service;

/// The exit code of a plan that changes something, or of drift.
pub(super) const CHANGES: u8 = 2;

/// The arguments of `portcullis plan`.
#[derive(Debug, clap::Args)]
pub struct PlanArguments {
    /// The tenant folder.
    dir: PathBuf,
    #[command(flatten)]
    content: ContentArguments,
    /// Write the plan to this file, for `portcullis apply --plan`.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show the decisions of roles that change, and the recorded decisions that would be other ones.
    #[arg(long)]
    impact: bool,
    /// The recorded decisions of `--impact`: those from then on, a time ago such as `7d`, or an instant such as
    /// `2026-05-16T09:30:00Z`.
    #[arg(long, value_name = "WHEN", default_value = "7d", requires = "impact")]
    since: Moment,
}

/// Prints the plan. The exit code is 0 if it changes nothing, 2 if it changes something, and 1 if the service would refuse
/// it.
///
/// # Errors
/// The folder is not valid, or the service gives no plan.
pub async fn run(
    arguments: &PlanArguments,
    variables: &Variables,
    clock: &Clock,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let PlanArguments { dir, content, out: file, impact, since } = arguments;
    let service = Service::for_changes(&content.service, variables)?;
    let folder = FolderContent::read(dir, content, variables, err)?;
    let request = SentApply { impact: *impact, ..SentApply::planned(&folder.owner, content) };
    let planned = folder.send(&service, &request, true).await?;
    // A replay takes long, and without changes it could only show that nothing differs.
    let recorded = match *impact && has_changes(&planned.answer) {
        true => {
            let from = since.at(clock.now().into());
            Some(Recorded::ask(&service, &folder, &request, from).await)
        }
        false => None,
    };
    let form = (content.report, content.actions);
    let shown = shown(form, &folder.owner, &planned, recorded.as_ref())?;
    out.write_all(shown.as_bytes())?;
    // This comes before the file is written: an apply of such a plan would be refused.
    if !planned.answer.conflicts.is_empty() {
        writeln!(err, "portcullis: objects belong to other owners; --force takes them over")?;
        return Ok(ExitCode::FAILURE);
    }
    if let Some(file) = file {
        let plan = PlanFile {
            version: VERSION,
            owner: folder.owner.clone(),
            content: folder.digest(),
            fingerprint: planned.answer.fingerprint.clone(),
            prune: !content.no_prune,
            force: content.force,
            allow_deletes: content.allow_deletes,
            plan: serde_json::from_str(&planned.text)?,
        };
        plan.write(file)?;
    }
    Ok(match has_changes(&planned.answer) {
        true => ExitCode::from(CHANGES),
        false => ExitCode::SUCCESS,
    })
}

/// Returns the plan in the form that the arguments name.
fn shown(
    (arguments, actions): (ReportArguments, ShownActions),
    owner: &str,
    planned: &Planned,
    recorded: Option<&Recorded>,
) -> anyhow::Result<String> {
    let Planned { text, answer } = planned;
    let title = format!("plan for {owner}, revision {}", answer.revision);
    let heading = match has_changes(answer) {
        true => "Portcullis: plan",
        false => "Portcullis: nothing would change",
    };
    let changes = lines::changes(&answer.changes);
    let mut report = lines::report(Report::new(title, heading), changes, answer, actions);
    // The JSON is the answer of the service as it came, with members that this version may not know.
    let mut json = text.clone();
    if let Some(recorded) = recorded {
        report = report.section(recorded.section());
        json = recorded.added_to(text)?;
    }
    Ok(report.shown(arguments, || format!("{json}\n")))
}
