//! `portcullis replay`: what recorded decisions become by other rules.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use portcullis_bundle::Bundle;
use portcullis_config::Variables;
use portcullis_model::clock::Clock;
use portcullis_model::replay::{ReplayChange, ReplayReport};
use serde_json::json;

use crate::as_code::{Replay, deciding_content, replayed};
use crate::exit;
use crate::moments::Moment;
use crate::report::{Report, ReportArguments, Section};
use crate::service::{Service, ServiceArguments};

/// The arguments of `portcullis replay`.
#[derive(Debug, clap::Args)]
pub struct ReplayArguments {
    /// The tenant folder whose rules decide again.
    #[arg(
        required_unless_present_any = ["revision", "draft"],
        conflicts_with_all = ["revision", "draft"]
    )]
    dir: Option<PathBuf>,
    /// Let the tenant's rules with this draft decide again.
    #[arg(long, value_name = "NAME", conflicts_with = "revision")]
    draft: Option<String>,
    /// Let the rules of this revision decide again.
    #[arg(long, value_name = "NUMBER")]
    revision: Option<u64>,
    /// Only decisions from then on: a time ago such as `7d`, or an instant such as `2026-05-16T09:30:00Z`.
    #[arg(long, value_name = "WHEN")]
    since: Option<Moment>,
    /// Only decisions before then.
    #[arg(long, value_name = "WHEN")]
    until: Option<Moment>,
    /// The exit code is 1 if there is a difference of one of these kinds: `allow_to_deny`, `deny_to_allow`, `rule_changed`,
    /// `undetermined_new`, `not_reproduced`.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = change)]
    fail_on: Vec<ReplayChange>,
    #[command(flatten)]
    service: ServiceArguments,
    #[command(flatten)]
    report: ReportArguments,
}

fn change(text: &str) -> Result<ReplayChange, &'static str> {
    let expected = "expected `allow_to_deny`, `deny_to_allow`, `rule_changed`, `undetermined_new` or `not_reproduced`";
    text.parse().map_err(|_| expected)
}

/// Prints what differs. The exit code is 0 without a difference that `--fail-on` names, 1 with one, and 2 after an error.
pub async fn run(
    arguments: &ReplayArguments,
    variables: &Variables,
    clock: &Clock,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> ExitCode {
    exit::judged_at_once(replay(arguments, variables, clock, out).await, err)
}

/// Prints what differs. Returns whether nothing does that `--fail-on` names.
async fn replay(
    arguments: &ReplayArguments,
    variables: &Variables,
    clock: &Clock,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<bool> {
    let ReplayArguments { dir, draft, revision, since, until, fail_on, report: form, .. } =
        arguments;
    let candidate = match (draft, revision, dir) {
        (Some(draft), ..) => json!({"draft": draft}),
        (None, Some(revision), _) => json!({"revision": revision}),
        (None, None, Some(dir)) => {
            json!({"bundle": deciding_content(&Bundle::read_folder(dir)?)})
        }
        (None, None, None) => anyhow::bail!("expected a tenant folder, --draft or --revision"),
    };
    let mut question = json!({"candidate": candidate});
    // Both ends are counted from the same instant.
    let now = clock.now().into();
    for (name, moment) in [("from", since), ("to", until)] {
        if let Some(moment) = moment {
            question[name] = json!(moment.at(now));
        }
    }
    let service = Service::new(&arguments.service, variables)?;
    let Replay { report, error, .. } = Replay::run(&service, &question, None).await?;
    if let Some(error) = error {
        anyhow::bail!("the replay ended early: {error}");
    }
    let text = shown(&report).shown(*form, || {
        serde_json::to_string(&report).map(|json| json + "\n").unwrap_or_default()
    });
    out.write_all(text.as_bytes())?;
    // Without `--fail-on`, differences are shown and are no failure.
    Ok(!fail_on.iter().any(|change| report.count(*change) > 0))
}

fn shown(report: &ReplayReport) -> Report {
    let mut title = format!("{} decisions replayed", report.replayed);
    let lost = report.replayed.saturating_sub(report.reproduced);
    if lost > 0 {
        // A text takes any other.
        let _ = write!(title, ", {lost} of them not reproduced by their own rules");
    }
    let heading = match report.allow_to_deny + report.deny_to_allow {
        0 => "Portcullis: no recorded decision flips".to_owned(),
        flips => format!("Portcullis: {flips} recorded decisions flip"),
    };
    Report::new(title, heading)
        .section(Section::main("counts", "").with_lines(replayed::counts(report)))
        .section(replayed::with_differences(Section::apart("differences"), report))
}

#[cfg(test)]
mod tests {
    use portcullis_model::replay::ReplayGroup;

    use super::*;

    #[test]
    fn a_report_says_what_flips() {
        let group = ReplayGroup {
            change: ReplayChange::AllowToDeny,
            resource: "chart:read".to_owned(),
            before: "own".to_owned(),
            after: Some("vip".to_owned()),
            count: 2,
            subjects: 1,
            samples: vec![uuid::Uuid::nil()],
        };
        let mut report = ReplayReport {
            replayed: 5,
            reproduced: 5,
            unchanged: 3,
            allow_to_deny: 2,
            groups: vec![group],
            complete: true,
            ..ReplayReport::default()
        };
        let expected = "5 decisions replayed
unchanged: 3
allow to deny: 2

- allow_to_deny chart:read: own → vip, 2 of 1 subjects
    such as 00000000-0000-0000-0000-000000000000
";
        assert_eq!(shown(&report).text(false), expected);
        report.more_groups = true;
        let cut = shown(&report).text(false);
        assert!(cut.starts_with(expected) && cut.contains("further groups"), "{cut}");
    }
}
