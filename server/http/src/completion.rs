//! Handlers that run to their end, whatever their client does.

use axum::response::{IntoResponse, Response};
use portcullis_fairness::run_to_end;
use portcullis_runtime::error::OperationError;
use portcullis_traces::carried as carried_in_trace;

use crate::error::ApiError;
use crate::large_bodies::beside_when_large;
use crate::recipient::carried;

/// Runs a handler to its end in its own task, even if the client disconnects. A write is therefore never cancelled
/// between its commit and its publication, or in a `begin` (transact-rs/sqlx#4385).
pub(crate) async fn run_to_completion(
    handler: impl Future<Output = Response> + Send + 'static,
) -> Response {
    let handler = carried_in_trace(beside_when_large(carried(|()| handler)(())));
    // The service answers a panic.
    let response = run_to_end(handler).await;
    response
        .unwrap_or_else(|stopping| ApiError::from(OperationError::from(stopping)).into_response())
}
