//! Replays: recorded decisions, decided again by the rules of their time and by a candidate (`docs/semantics.md`, section
//! 18.1).

mod request;
mod run;
mod sides;

use portcullis_auth::Manager;
use portcullis_replay::Tally;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::replays::ReplayProgress;
use tokio::sync::watch;
use uuid::Uuid;

pub use self::request::{ReplayCandidate, ReplayRequest};
use self::run::{Replay, erasures};
use self::sides::{CandidateSource, has_directory};
use super::decisions::log;

const NOT_FOUND: OperationError = OperationError::NotFound("replay");

/// Begins a replay of the decisions of the caller's tenant, and returns its id with its progress.
///
/// # Errors
/// There is no log; the candidate does not exist, or does not fit the content of the tenant; too many replays run.
pub async fn start(
    app: &App,
    caller: &Manager,
    request: ReplayRequest,
) -> Result<(Uuid, watch::Receiver<ReplayProgress>), OperationError> {
    log(app)?;
    let tenant = caller.tenant().to_owned();
    let candidate = CandidateSource::new(caller, request.candidate);
    // It is found again when the replay has its turn.
    candidate.content(app, &tenant).await?;
    let has_directory = has_directory(app, &tenant).await?;
    let id = app.ids.next(app.clock.now().into());
    let erasures = erasures(app, &tenant).await?;
    let running = app.replays.begin(&tenant, (id, erasures), Tally::default().report(false))?;
    let started = (running.id, running.progress.subscribe());
    let selection = request.selection;
    let app = app.clone();
    let replay = Replay { app: app.clone(), tenant, candidate, selection, has_directory };
    app.background.spawn(replay.run(running));
    Ok(started)
}

/// A replay that somebody watches. It ends, and is forgotten, when it is dropped.
#[derive(Debug)]
pub struct WatchedReplay {
    pub id: Uuid,
    pub progress: watch::Receiver<ReplayProgress>,
    app: App,
    tenant: String,
}

impl WatchedReplay {
    /// Watches the replay that [`start`] began for `caller`.
    pub fn new(
        app: &App,
        caller: &Manager,
        (id, progress): (Uuid, watch::Receiver<ReplayProgress>),
    ) -> Self {
        Self { id, progress, app: app.clone(), tenant: caller.tenant().to_owned() }
    }
}

impl Drop for WatchedReplay {
    fn drop(&mut self) {
        self.app.replays.remove(&self.tenant, self.id);
    }
}

/// Returns the progress of a replay of the caller's tenant.
///
/// # Errors
/// This process has no such replay (any more), or the store failed.
pub async fn find(
    app: &App,
    caller: &Manager,
    id: Uuid,
) -> Result<watch::Receiver<ReplayProgress>, OperationError> {
    let progress = app.replays.find(caller.tenant(), id).ok_or(NOT_FOUND)?;
    let before = progress.borrow().erasures;
    if erasures(app, caller.tenant()).await? != before {
        app.replays.remove(caller.tenant(), id);
        return Err(NOT_FOUND);
    }
    Ok(progress)
}

/// Ends and forgets a replay of the caller's tenant.
///
/// # Errors
/// This process has no such replay (any more).
pub fn delete(app: &App, caller: &Manager, id: Uuid) -> Result<(), OperationError> {
    app.replays.remove(caller.tenant(), id).then_some(()).ok_or(NOT_FOUND)
}
