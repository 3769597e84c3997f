//! `portcullis drift`: shows how the objects of an owner differ from the folder that they were applied from, or what decides
//! without an owner.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_config::Variables;
use portcullis_model::apply::PlannedAction;

use super::answer::{AnsweredChange, ChangedField, PlanAnswer};
use super::arguments::ContentArguments;
use super::lines::{self, content_fields, field_lines, object};
use super::plan::CHANGES;
use super::request::SentApply;
use super::unowned;
use super::upload::FolderContent;
use crate::report::{Report, ReportEntry, Section, Sign};
use crate::service::Service;

/// The arguments of `portcullis drift`.
#[derive(Debug, clap::Args)]
pub struct DriftArguments {
    /// The tenant folder.
    #[arg(required_unless_present = "unowned")]
    dir: Option<PathBuf>,
    /// List what decides and has no owner, in place of the drift of a folder.
    #[arg(
        long,
        conflicts_with_all = ["dir", "owner", "no_prune", "force", "allow_deletes"]
    )]
    unowned: bool,
    #[command(flatten)]
    content: ContentArguments,
}

/// Prints the drift, or what has no owner. The exit code is 0 without any, 2 with some, and 1 if objects of the folder belong to
/// other owners.
///
/// # Errors
/// The folder is not valid, or the service gives no answer.
pub async fn run(
    arguments: &DriftArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let DriftArguments { dir, unowned, content } = arguments;
    let service = Service::for_changes(&content.service, variables)?;
    let Some(dir) = dir.as_ref().filter(|_| !unowned) else {
        return unowned::run(&service, content.report, out).await;
    };
    let folder = FolderContent::read(dir, content, variables, err)?;
    // A plan changes nothing, so its changes are the differences between folder and service.
    let request = SentApply::planned(&folder.owner, content);
    let planned = folder.send(&service, &request, true).await?;
    let found = drift(&planned.answer.changes);
    let has_drift = !found.is_empty();
    let report = report(&folder.owner, found, &planned.answer);
    let shown = report.shown(content.report, || format!("{}\n", planned.text));
    out.write_all(shown.as_bytes())?;
    if !planned.answer.conflicts.is_empty() {
        writeln!(
            err,
            "portcullis: objects belong to other owners, and are not compared; --owner names the owner that applied the \
             folder, and --force compares them"
        )?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(if has_drift { ExitCode::from(CHANGES) } else { ExitCode::SUCCESS })
}

/// Returns the report about the drift that was found. Objects of other owners are not compared, so that there may be more.
fn report(owner: &str, found: Vec<ReportEntry>, answer: &PlanAnswer) -> Report {
    let what = match (found.is_empty(), answer.conflicts.is_empty()) {
        (true, true) => "no drift",
        (true, false) => "not everything is compared",
        (false, _) => "drift",
    };
    Report::new(format!("{what} for {owner} at revision {}", answer.revision), "Portcullis: drift")
        .section(Section::main("differences", "").with_entries(found))
        .section(lines::conflicts(&answer.conflicts))
}

/// Returns how the service differs from the folder: the opposite of the plan that would make them equal. An object that only
/// lacks its owner does not differ.
fn drift(changes: &[AnsweredChange]) -> Vec<ReportEntry> {
    let mut entries = Vec::new();
    for change in changes {
        let name = object(&change.kind, &change.name);
        let (sign, text) = match change.action {
            PlannedAction::Create => (Sign::Removed, format!("{name}: the service lacks it")),
            PlannedAction::Delete | PlannedAction::Release => {
                (Sign::Added, format!("{name}: the folder lacks it"))
            }
            // An object that only lacks its owner has the content of the folder.
            PlannedAction::Adopt if content_fields(change).next().is_none() => continue,
            PlannedAction::Update | PlannedAction::Adopt => (Sign::Changed, name),
        };
        let fields = content_fields(change).flat_map(|ChangedField { path, before, after }| {
            field_lines(
                path,
                // A plan goes from the service to the folder, and the report shows it the other way around.
                [after, before],
                " - in the folder, + in the service",
                |folder, service| format!("{folder} in the folder, {service} in the service"),
            )
        });
        entries.push(ReportEntry::new(sign, text).with_details(fields.collect()));
    }
    entries
}

#[cfg(test)]
mod tests {
    use portcullis_model::apply::PlanCounts;
    use serde_json::json;

    use super::*;

    #[test]
    fn drift_is_the_opposite_of_a_plan() {
        let changes: Vec<AnsweredChange> = serde_json::from_value(json!([
            {"kind": "rule", "name": "a", "action": "create", "fields": []},
            {"kind": "rule", "name": "b", "action": "delete", "fields": []},
            {"kind": "policy", "name": "c", "action": "update",
                "fields": [
                    {"path": "/priority", "before": 10, "after": 20},
                    {"path": "/when", "before": "user.a == 1 && user.b == 1", "after": "user.a == 1 && user.b == 2"},
                ]},
            {"kind": "policy", "name": "d", "action": "adopt",
                "fields": [{"path": "/managed_by", "before": null, "after": "git:a"}]},
        ]))
        .expect("changes");
        let shown = Report::new("title", "")
            .section(Section::main("", "").with_entries(drift(&changes)))
            .text(false);
        let expected = "title
- rule `a`: the service lacks it
+ rule `b`: the folder lacks it
~ policy `c`
    /priority: 20 in the folder, 10 in the service
    /when: - in the folder, + in the service
    - … user.b == 2
    + … user.b == 1
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn objects_of_other_owners_are_listed_and_are_not_no_drift() {
        let theirs = json!([{"kind": "rule", "name": "a", "managed_by": "git:theirs"}]);
        for (changes, conflicts, expected) in [
            (json!([]), json!([]), "no drift for git:own at revision 7\n"),
            (
                json!([]),
                theirs.clone(),
                "not everything is compared for git:own at revision 7\nconflicts:\n  rule `a` belongs to git:theirs\n",
            ),
            (
                json!([{"kind": "rule", "name": "b", "action": "create"}]),
                theirs,
                "drift for git:own at revision 7\n- rule `b`: the service lacks it\nconflicts:\n  \
                 rule `a` belongs to git:theirs\n",
            ),
        ] {
            let answer: PlanAnswer = serde_json::from_value(json!({
                "revision": 7, "fingerprint": "", "changes": changes, "conflicts": conflicts,
                "counts": PlanCounts::default(),
            }))
            .expect("an answer");
            let shown = report("git:own", drift(&answer.changes), &answer).text(false);
            assert_eq!(shown, expected);
        }
    }
}
