//! Replays of recorded decisions (`docs/semantics.md`, section 18.1).

use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::LOCATION;
use portcullis_bundle::{DocumentContext, describe};
use portcullis_http::body::JsonBody;
use portcullis_http::callers::{Allowed, ReplayRun};
use portcullis_http::error::ApiError;
use portcullis_http::event_stream::{self, BROKEN_OFF, WantsEvents};
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::page_stream::{AfterFailure, PageStream};
use portcullis_http::path::RecordId;
use portcullis_http::text_answer::Json;
use portcullis_model::document;
use portcullis_model::replay::ReplayReport;
use portcullis_operations::replays::{self, ReplayRequest, WatchedReplay};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter};
use portcullis_runtime::replays::ReplayProgress;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::openapi::{Conflict, NotFound};

/// The shortest time between two events of a stream.
const PAUSE: Duration = Duration::from_millis(100);
/// The terms of reports as events. A long replay says little, which is not the fault of a slow client.
const REPORTS: PageStream = PageStream {
    longest: Duration::from_secs(3_600),
    stall: Duration::from_secs(30),
    waiting: 64 * 1024,
    is_live: true,
    after_failure: AfterFailure::Say(BROKEN_OFF),
};

/// A replay.
#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b71", "replayed": 412_233, "reproduced": 412_233, "unchanged": 412_216, "allow_to_deny": 15, "deny_to_allow": 2,
    "rule_changed": 340, "not_replayable": 0, "undetermined_new": 0,
    "groups": [{
        "change": "allow_to_deny", "resource": "chart:read", "before": "own-chart", "after": "vip-record", "count": 15,
        "subjects": 4, "samples": ["019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70"],
    }],
    "more_groups": false, "complete": true,
})))]
pub(super) struct ReplayAnswer {
    id: Uuid,
    #[serde(flatten)]
    report: ReplayReport,
    /// The reason why it ended before all records were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl ReplayAnswer {
    fn new(id: Uuid, ReplayProgress { report, failure, .. }: ReplayProgress) -> Self {
        Self { id, report, error: failure }
    }
}

/// Decides recorded decisions again, by the rules of their time and by a candidate.
///
/// The answer comes at once, and `Location` shows the report as it grows; with `Accept: text/event-stream` the answer is
/// the report again and again, until it is complete. This process keeps the report for ten minutes.
#[utoipa::path(
    post, path = "/api/v1/replays", tag = "Replays", operation_id = "startReplay", request_body = ReplayBody,
    responses(
        (status = 200, description = "Reports, as events", content_type = "text/event-stream", body = String),
        (status = 202, description = "The report so far", body = ReplayAnswer, headers(("Location"))),
        NotFound, Conflict,
    ),
)]
pub(super) async fn start(
    State(app): State<App>,
    caller: Allowed<ReplayRun>,
    WantsEvents(streams): WantsEvents,
    credential: LiveCredential,
    body: JsonBody,
) -> Result<Response, ApiError> {
    let (domain, egress) = (caller.domain().to_owned(), app.egress.rules.clone());
    // A tree takes many times the memory of its text.
    let _turn = app.uploads.begin(caller.tenant()).await?;
    let request = app.compilations.run(caller.tenant(), move || {
        let context = DocumentContext { domain: &domain, egress: &egress };
        Ok::<_, ApiError>(ReplayRequest::parse(&body.parse()?, context)?)
    });
    let started = replays::start(&app, &caller, request.await??).await?;
    if streams {
        let watched = WatchedReplay::new(&app, &caller, started);
        let answer = REPORTS.answer(credential, move |pieces| write_reports(watched, pieces))?;
        return Ok((event_stream::headers(), answer).into_response());
    }
    let (id, progress) = started;
    let answer = ReplayAnswer::new(id, progress.borrow().clone());
    let location = [(LOCATION, format!("/api/v1/replays/{id}"))];
    Ok((StatusCode::ACCEPTED, location, Json(answer)).into_response())
}

/// Shows the report of a replay as far as it is.
///
/// A 404 also says that another process runs it, or that it ended more than ten minutes ago.
#[utoipa::path(
    get, path = "/api/v1/replays/{id}", tag = "Replays", operation_id = "getReplay",
    responses((status = 200, description = "The report so far", body = ReplayAnswer)),
)]
pub(super) async fn show(
    State(app): State<App>,
    caller: Allowed<ReplayRun>,
    id: RecordId,
) -> Result<Json<ReplayAnswer>, ApiError> {
    let id = id.known("replay")?;
    let progress = replays::find(&app, &caller, id).await?.borrow().clone();
    Ok(Json(ReplayAnswer::new(id, progress)))
}

/// Ends a replay, and forgets its report.
#[utoipa::path(
    delete, path = "/api/v1/replays/{id}", tag = "Replays", operation_id = "deleteReplay",
    responses((status = 204, description = "It is forgotten")),
)]
pub(super) async fn delete(
    State(app): State<App>,
    caller: Allowed<ReplayRun>,
    id: RecordId,
) -> Result<StatusCode, ApiError> {
    replays::delete(&app, &caller, id.known("replay")?)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Writes the reports of a replay until it ends, with a pause between two.
async fn write_reports(
    mut watched: WatchedReplay,
    mut pieces: PieceWriter,
) -> Result<(), BrokenOff> {
    loop {
        let changed = tokio::select! {
            stop = pieces.stopped() => return Err(stop.into()),
            changed = watched.progress.changed() => changed,
        };
        if changed.is_err() {
            // Without a sender, the process stops.
            return Ok(());
        }
        let seen = watched.progress.borrow_and_update().clone();
        let has_ended = seen.ended.is_some();
        let report = event_stream::event(&ReplayAnswer::new(watched.id, seen));
        let report = report.map_err(|error| OperationError::Internal(error.into()))?;
        pieces.send(report).await?;
        if has_ended {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The body of [`start`], as the document describes it.
struct ReplayBody;

document!(ReplayBody => {
    describe(ReplayRequest::declare)
        .example(json!({
            "candidate": {"bundle": {"policies": []}},
            "from": "2026-05-16T00:00:00Z",
            "filter": {"resource": "chart:read"},
        }))
});
