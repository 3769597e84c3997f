//! The recorded decisions of the last day that a restoration would flip.

use std::time::Duration;

use askama::Template;
use portcullis_auth::Manager;
use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use portcullis_model::replay::{ReplayChange, ReplayGroup};
use portcullis_operations::replays::{self, ReplayCandidate, ReplayRequest, WatchedReplay};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::replays::ReplayProgress;
use tokio::time::timeout;

use crate::visit::Visit;

/// The time whose decisions are compared, in milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1_000;
/// The longest time of a comparison. The report is shown as far as it is.
const LONGEST: Duration = Duration::from_secs(15);
/// Most groups of decisions that the table has.
const GROUPS: usize = 20;

#[derive(Template)]
#[template(path = "restore_flips.html")]
pub(super) struct Flips {
    replayed: u64,
    to_deny: u64,
    to_allow: u64,
    groups: Vec<FlippedGroup>,
    /// The sentences that say what is not counted.
    lacks: Vec<String>,
}

struct FlippedGroup {
    /// The decision that it becomes, and its word.
    decision: &'static str,
    word: &'static str,
    resource: String,
    before: String,
    after: String,
    count: u64,
    /// The address of one of the decisions.
    sample: Option<String>,
}

impl Flips {
    /// Decides the decisions of the last day again, by the rules of `revision`.
    ///
    /// # Errors
    /// There is no record, the revision does not fit, or too many replays run.
    pub(super) async fn read(
        visit: &Visit,
        manager: &Manager,
        revision: u64,
    ) -> Result<Self, OperationError> {
        let now: Timestamp = visit.app.clock.now().into();
        let from = Some(Timestamp::from_millis(now.millis() - DAY));
        let selection = DecisionSelection { from, ..DecisionSelection::default() };
        let request = ReplayRequest { candidate: ReplayCandidate::Revision(revision), selection };
        let started = replays::start(&visit.app, manager, request).await?;
        let mut watched = WatchedReplay::new(&visit.app, manager, started);
        let ended = watched.progress.wait_for(|progress| progress.ended.is_some());
        // What is counted until then is shown.
        let _ = timeout(LONGEST, ended).await;
        let progress = watched.progress.borrow().clone();
        Ok(Self::of(visit, progress))
    }

    fn of(visit: &Visit, ReplayProgress { report, failure, .. }: ReplayProgress) -> Self {
        let groups: Vec<FlippedGroup> =
            report.groups.iter().filter_map(|group| FlippedGroup::of(visit, group)).collect();
        let unread = report.not_replayable + report.count(ReplayChange::NotReproduced);
        let open = report.undetermined_new;
        let lacks = [
            failure,
            (!report.complete).then(|| "Not all decisions are counted.".to_owned()),
            (unread > 0).then(|| {
                format!("{unread} decisions are not compared: an input or their revision is gone.")
            }),
            (open > 0).then(|| {
                format!("{open} decisions are open: the record lacks what the revision reads.")
            }),
            (report.more_groups || groups.len() > GROUPS)
                .then(|| "The table has the largest groups alone.".to_owned()),
        ];
        Self {
            replayed: report.replayed,
            to_deny: report.allow_to_deny,
            to_allow: report.deny_to_allow,
            groups: groups.into_iter().take(GROUPS).collect(),
            lacks: lacks.into_iter().flatten().collect(),
        }
    }
}

impl FlippedGroup {
    /// Returns a group of decisions that flip; `None` for another group.
    fn of(visit: &Visit, group: &ReplayGroup) -> Option<Self> {
        let (decision, word) = match group.change {
            ReplayChange::AllowToDeny => ("deny", "Deny"),
            ReplayChange::DenyToAllow => ("allow", "Allow"),
            _ => return None,
        };
        Some(Self {
            decision,
            word,
            resource: group.resource.clone(),
            before: group.before.clone(),
            after: group.after.clone().unwrap_or_default(),
            count: group.count,
            sample: group.samples.first().map(|id| visit.page(&format!("decisions/{id}"))),
        })
    }
}
