//! The layer around the handlers of changes.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use portcullis_runtime::error::OperationError;

use crate::error::ApiError;
use crate::large_bodies::beside_when_large;
use crate::recipient::carried;

/// Runs the handler to its end in its own task, even if the client disconnects. A write is therefore never cancelled
/// between its commit and its publication, or in a `begin` (transact-rs/sqlx#4385).
pub(super) async fn run_to_completion(request: Request, next: Next) -> Response {
    let request = beside_when_large(carried(|()| next.run(request))(()));
    let failed = match tokio::spawn(request).await {
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
