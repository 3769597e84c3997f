//! Handlers that run to their end, whatever their client does.

use axum::response::{IntoResponse, Response};
use portcullis_runtime::error::OperationError;

use crate::error::ApiError;
use crate::large_bodies::beside_when_large;
use crate::recipient::carried;

/// Runs a handler to its end in its own task, even if the client disconnects. A write is therefore never cancelled
/// between its commit and its publication, or in a `begin` (transact-rs/sqlx#4385).
pub(crate) async fn run_to_completion(
    handler: impl Future<Output = Response> + Send + 'static,
) -> Response {
    let handler = beside_when_large(carried(|()| handler)(()));
    let failed = match tokio::spawn(handler).await {
        Ok(response) => return response,
        Err(failed) => failed,
    };
    match failed.try_into_panic() {
        // The service answers the panic.
        Ok(panic) => std::panic::resume_unwind(panic),
        // The runtime is stopping.
        Err(_) => {
            ApiError::from(OperationError::Unavailable("the service", "shutting down".into()))
                .into_response()
        }
    }
}
