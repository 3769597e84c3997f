//! Replays of recorded decisions by a service, and their reports (`docs/semantics.md`, section 18.1).

use std::time::Duration;

use portcullis_bundle::{Bundle, SecretValues};
use portcullis_engine::Json;
use portcullis_model::replay::{ReplayChange, ReplayGroup, ReplayReport};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::timeout;

use crate::report::{ReportEntry, Section, Sign, SignedLine};
use crate::service::Service;

const ROUTE: &str = "replays";

/// A replay, as far as it is.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Replay {
    #[serde(skip_serializing)]
    id: String,
    #[serde(flatten)]
    pub(crate) report: ReplayReport,
    /// The reason why records are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

impl Replay {
    /// Starts a replay, and returns it when it has ended, or after `wait`, if that is shorter. It ends with the connection on
    /// which its reports come.
    pub(crate) async fn run(
        service: &Service,
        question: &Value,
        wait: Option<Duration>,
    ) -> anyhow::Result<Self> {
        let mut replay = Self::default();
        // Each event is the whole report so far, so that the last one is all that counts.
        let reports = service.post_for_events(ROUTE, question, |report| replay = report);
        match wait {
            None => reports.await?,
            Some(wait) => match timeout(wait, reports).await {
                Ok(ended) => ended?,
                Err(_) => {
                    // The report so far stays, and the error says that it is not whole.
                    replay.error = Some("it took too long; `portcullis replay` waits".to_owned());
                }
            },
        }
        // A connection may end in good order before the replay does.
        if replay.error.is_none() && !replay.report.complete {
            let which = if replay.id.is_empty() { "" } else { &format!(" `{}`", replay.id) };
            replay.error = Some(format!("the service ended the replay{which}; repeat it"));
        }
        Ok(replay)
    }
}

/// Returns the content of a folder without what decides nothing.
pub(crate) fn deciding_content(bundle: &Bundle) -> Json<'static> {
    let mut content = bundle.content(&SecretValues::new(), &[]);
    if let Json::Object(members) = &mut content {
        members
            .retain(|(name, _)| !matches!(&**name, "resolvers" | "webhooks" | "cases" | "users"));
    }
    content
}

/// Returns the numbers of a report that are not zero, such as `unchanged: 383`.
pub(crate) fn counts(report: &ReplayReport) -> impl Iterator<Item = String> {
    let names = [
        ("unchanged", report.unchanged),
        ("allow to deny", report.allow_to_deny),
        ("deny to allow", report.deny_to_allow),
        ("another rule", report.rule_changed),
        ("undetermined", report.undetermined_new),
        ("not replayable", report.not_replayable),
    ];
    let counts = names.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(name, count)| format!("{name}: {count}"))
}

/// Puts an entry for each group of differences into `section`, and a note if the report leaves groups out.
pub(crate) fn with_differences(section: Section, report: &ReplayReport) -> Section {
    let mut section = section.with_entries(report.groups.iter().map(entry).collect());
    let note = "there are further groups, which are smaller: replay a shorter time to see them";
    section.notes.extend(report.more_groups.then(|| note.to_owned()));
    section
}

fn entry(group: &ReplayGroup) -> ReportEntry {
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
    ReportEntry::new(sign, text).with_details(vec![SignedLine::plain(details)])
}
