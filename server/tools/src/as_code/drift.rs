//! `portcullis drift`: shows how the objects of an owner differ from the folder that they were applied from, or what decides
//! without an owner.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_config::Variables;

use super::answer::{AnsweredChange, ChangeAction, ChangedField};
use super::arguments::{ContentArguments, OutputFormat};
use super::lines::{Sign, SignedLine, content_fields, field_value, object};
use super::plan::CHANGES;
use super::request::SentApply;
use super::service::Service;
use super::shown::visible;
use super::upload::FolderContent;
use super::{markdown, text, unowned};

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

/// Prints the drift, or what has no owner. The exit code is 0 without any, and 2 with some.
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
    let service = Service::new(&content.service, variables)?;
    let Some(dir) = dir.as_ref().filter(|_| !unowned) else {
        return unowned::run(&service, content.format, out).await;
    };
    let folder = FolderContent::read(dir, content, variables, err)?;
    let request = SentApply::of(&folder.owner);
    let planned = folder.send(&service, &request, true).await?;
    let found = drift(&planned.answer.changes);
    let owner = &folder.owner;
    let title = match found.is_empty() {
        true => format!("no drift for {owner} at revision {}", planned.answer.revision),
        false => format!("drift for {owner} at revision {}", planned.answer.revision),
    };
    let shown = match content.format {
        OutputFormat::Json => format!("{}\n", planned.text),
        OutputFormat::Markdown => markdown::drift("Portcullis: drift", &found),
        OutputFormat::Text => {
            let mut shown = format!("{title}\n");
            text::signed(&found, &mut shown);
            shown
        }
    };
    out.write_all(shown.as_bytes())?;
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(CHANGES) })
}

/// Returns how the service differs from the folder: the opposite of the plan that would make them equal. An object that only
/// lacks its owner is none.
fn drift(changes: &[AnsweredChange]) -> Vec<SignedLine> {
    let mut lines = Vec::new();
    for change in changes {
        let name = object(&change.kind, &change.name);
        let (sign, text) = match change.action {
            ChangeAction::Create => (Sign::Removed, format!("{name}: the service lacks it")),
            ChangeAction::Delete | ChangeAction::Release => {
                (Sign::Added, format!("{name}: the folder lacks it"))
            }
            ChangeAction::Adopt if content_fields(change).next().is_none() => continue,
            ChangeAction::Update | ChangeAction::Adopt => (Sign::Changed, name),
        };
        lines.push(SignedLine::new(sign, text));
        lines.extend(content_fields(change).map(|ChangedField { path, before, after }| {
            let (folder, service) = (field_value(path, after), field_value(path, before));
            let both = format!("{folder} in the folder, {service} in the service");
            SignedLine::new(Sign::Detail, format!("{}: {both}", visible(path)))
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn drift_is_the_opposite_of_a_plan() {
        let changes: Vec<AnsweredChange> = serde_json::from_value(json!([
            {"kind": "rule", "name": "a", "action": "create", "fields": []},
            {"kind": "rule", "name": "b", "action": "delete", "fields": []},
            {"kind": "policy", "name": "c", "action": "update",
                "fields": [{"path": "/priority", "before": 10, "after": 20}]},
            {"kind": "policy", "name": "d", "action": "adopt",
                "fields": [{"path": "/managed_by", "before": null, "after": "git:a"}]},
        ]))
        .expect("changes");
        let mut shown = String::new();
        text::signed(&drift(&changes), &mut shown);
        let expected = "- rule `a`: the service lacks it\n+ rule `b`: the folder lacks it\n~ policy `c`\n    \
            /priority: 20 in the folder, 10 in the service\n";
        assert_eq!(shown, expected);
    }
}
