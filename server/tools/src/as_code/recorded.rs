//! The recorded decisions that an apply would change, as a part of its plan.

use std::time::Duration;

use portcullis_engine::Json;
use portcullis_model::Timestamp;
use serde_json::json;

use super::replayed::{self, Replay};
use super::request::SentApply;
use super::upload::FolderContent;
use crate::report::{Section, visible};
use crate::service::Service;

/// The longest time for which a plan waits for a replay.
const MAX_WAIT: Duration = Duration::from_secs(60);
const TITLE: &str = "recorded decisions";

/// The outcome of a replay by the content after an apply.
pub(super) enum Recorded {
    Replayed(Replay),
    /// There is no replay, for this reason.
    NotReplayed(String),
}

impl Recorded {
    /// Decides the decisions that were recorded since `from` again, on the content after an apply of `folder`. A service
    /// that has no record, or does not show it, is no reason to have no plan.
    pub(super) async fn ask(
        service: &Service,
        folder: &FolderContent,
        request: &SentApply<'_>,
        from: Timestamp,
    ) -> Self {
        match replay(service, folder, request, from).await {
            Ok(replay) => Self::Replayed(replay),
            // The plan is of use without a replay, so its failure is only reported.
            Err(error) => Self::NotReplayed(format!("{error:#}")),
        }
    }

    /// Returns the part of a report.
    pub(super) fn section(&self) -> Section {
        let Replay { report, error, .. } = match self {
            Self::Replayed(replay) => replay,
            Self::NotReplayed(reason) => {
                let line = format!("{TITLE}: not replayed: {}", visible(reason));
                return Section::main(TITLE, "")
                    .with_summary("not replayed".to_owned())
                    .with_lines([line]);
            }
        };
        let counts: Vec<String> = replayed::counts(report).collect();
        let separator = if counts.is_empty() { "" } else { "; " };
        let summary = format!("{} replayed{separator}{}", report.replayed, counts.join(", "));
        let section = Section::new(TITLE).with_summary(summary);
        let mut section = replayed::with_differences(section, report);
        section.notes.extend(error.iter().map(|error| format!("there are more: {error}")));
        section
    }

    /// Returns the answer of the service to the plan, with the outcome as its member `recorded`.
    pub(super) fn added_to(&self, answer: &str) -> anyhow::Result<String> {
        let own = match self {
            Self::Replayed(replay) => serde_json::to_value(replay)?,
            Self::NotReplayed(reason) => json!({"error": reason}),
        };
        let own = own.to_string();
        let own = portcullis_engine::json::parse(own.as_bytes())?;
        let mut answer = portcullis_engine::json::parse(answer.as_bytes())?;
        if let Json::Object(members) = &mut answer {
            members.push(("recorded".into(), own));
        }
        Ok(answer.to_string())
    }
}

async fn replay(
    service: &Service,
    folder: &FolderContent,
    request: &SentApply<'_>,
    from: Timestamp,
) -> anyhow::Result<Replay> {
    let content = replayed::deciding_content(&folder.bundle);
    let question = json!({"candidate": {"apply": request.body(content)}, "from": from});
    Replay::run(service, &question, Some(MAX_WAIT)).await
}
