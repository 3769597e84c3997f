//! `portcullis replay`: what recorded decisions become by other rules.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use portcullis_bundle::{Bundle, SecretValues};
use portcullis_config::Variables;
use portcullis_engine::Json;
use portcullis_model::clock::Clock;
use portcullis_model::replay::{ReplayChange, ReplayGroup, ReplayReport};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::as_code::{Service, ServiceArguments};
use crate::moments::Moment;
use crate::report::{Entry, Report, ReportArguments, Section, Sign};

/// The exit code if something differs that `--fail-on` names.
const DIFFERS: u8 = 1;
/// The exit code of an error.
const ERROR: u8 = 2;
/// The pause between two looks at a report.
const PAUSE: Duration = Duration::from_millis(200);

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

#[derive(Deserialize)]
struct Answer {
    id: String,
    #[serde(flatten)]
    report: ReplayReport,
    error: Option<String>,
}

/// Prints what differs. The exit code is 0 without a difference that `--fail-on` names, 1 with one, and 2 after an error.
pub async fn run(
    arguments: &ReplayArguments,
    variables: &Variables,
    clock: &Clock,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> ExitCode {
    match replay(arguments, variables, clock, out).await {
        Ok(code) => code,
        Err(error) => {
            // Nobody reads an error that cannot be written.
            let _ = writeln!(err, "portcullis: {error:#}");
            ExitCode::from(ERROR)
        }
    }
}

async fn replay(
    arguments: &ReplayArguments,
    variables: &Variables,
    clock: &Clock,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<ExitCode> {
    let ReplayArguments { dir, draft, revision, since, until, fail_on, report: form, .. } =
        arguments;
    let candidate = match (draft, revision, dir) {
        (Some(draft), ..) => json!({"draft": draft}),
        (None, Some(revision), _) => json!({"revision": revision}),
        (None, None, Some(dir)) => json!({"bundle": bundle(dir)?}),
        (None, None, None) => anyhow::bail!("expected a tenant folder, --draft or --revision"),
    };
    let mut question = json!({"candidate": candidate});
    let now = clock.now().into();
    for (name, moment) in [("from", since), ("to", until)] {
        if let Some(moment) = moment {
            question[name] = json!(moment.at(now));
        }
    }
    let service = Service::new(&arguments.service, variables)?;
    let report = finished(&service, &question).await?;
    let json = || serde_json::to_string(&report).map(|json| json + "\n").unwrap_or_default();
    out.write_all(shown(&report).shown(*form, json).as_bytes())?;
    let fails = fail_on.iter().any(|change| report.count(*change) > 0);
    Ok(if fails { ExitCode::from(DIFFERS) } else { ExitCode::SUCCESS })
}

/// Returns the content of a folder without what decides nothing.
fn bundle(dir: &Path) -> anyhow::Result<Value> {
    let bundle = Bundle::read_folder(dir)?;
    let mut content = bundle.content(&SecretValues::new(), &[]);
    if let Json::Object(members) = &mut content {
        members
            .retain(|(name, _)| !matches!(&**name, "resolvers" | "webhooks" | "cases" | "users"));
    }
    Ok(serde_json::from_str(&content.to_string())?)
}

/// Starts a replay, and returns its report when it has ended.
async fn finished(service: &Service, question: &Value) -> anyhow::Result<ReplayReport> {
    let mut answer: Answer = service.post("replays", question).await?;
    loop {
        if let Some(error) = answer.error {
            anyhow::bail!("the replay ended early: {error}");
        }
        if answer.report.complete {
            return Ok(answer.report);
        }
        tokio::time::sleep(PAUSE).await;
        answer = service.record("replays", &answer.id).await?;
    }
}

fn shown(report: &ReplayReport) -> Report {
    let mut title = format!("{} decisions replayed", report.replayed);
    let lost = report.replayed - report.reproduced;
    if lost > 0 {
        // A text takes any other.
        let _ = write!(title, ", {lost} of them not reproduced by their own rules");
    }
    let names = [
        ("unchanged", report.unchanged),
        ("allow to deny", report.allow_to_deny),
        ("deny to allow", report.deny_to_allow),
        ("another rule", report.rule_changed),
        ("undetermined", report.undetermined_new),
        ("not replayable", report.not_replayable),
    ];
    let counts = names.into_iter().filter(|(_, count)| *count > 0);
    let counts = counts.map(|(name, count)| format!("{name}: {count}"));
    let heading = match report.allow_to_deny + report.deny_to_allow {
        0 => "Portcullis: no recorded decision flips".to_owned(),
        flips => format!("Portcullis: {flips} recorded decisions flip"),
    };
    let groups = report.groups.iter().map(entry).collect();
    Report::new(title, heading)
        .section(Section::main("counts", "").with_lines(counts))
        .section(Section::apart("differences").with_entries(groups))
}

fn entry(group: &ReplayGroup) -> Entry {
    let ReplayGroup { change, resource, before, after, count, subjects, samples } = group;
    let sign = match change {
        ReplayChange::AllowToDeny => Sign::Removed,
        ReplayChange::DenyToAllow => Sign::Added,
        _ => Sign::Changed,
    };
    let (word, after): (&str, _) = (change.into_str(), after.as_deref().unwrap_or("?"));
    let text = format!("{word} {resource}: {before} → {after}, {count} of {subjects} subjects");
    let samples: Vec<String> = samples.iter().map(ToString::to_string).collect();
    let details = format!("such as {}", samples.join(", "));
    Entry::new(sign, text).with_details(vec![crate::report::SignedLine::new(Sign::Plain, details)])
}

#[cfg(test)]
mod tests {
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
        let report = ReplayReport {
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
    }
}
