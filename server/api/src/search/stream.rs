//! Searches whose answer has all pages, as lines of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use portcullis_http::error::ApiError;
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::live_events::LONGEST;
use portcullis_http::page_stream::{AfterFailure, PageStream};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter};

use super::asked::{AskedSearch, WrittenPage};
use crate::line_stream::content_type;

/// Answers with the first page, and with the others as the client takes them. Where a later page fails, the answer breaks off
/// without its last line.
///
/// # Errors
/// The errors of the first page.
pub(super) async fn answer(
    mut search: AskedSearch,
    credential: LiveCredential,
) -> Result<Response, ApiError> {
    // Each page waits for its turn. A client that reads slowly holds no place of other requests.
    search.caller.leave_place();
    let search = Arc::new(search);
    let first = search.page(None, true).await?;
    let headers = first.headers();
    let longest = Duration::from_secs(LONGEST.unsigned_abs());
    let terms = PageStream {
        longest,
        stall: longest,
        // The texts of pages are charged while they are written.
        waiting: 0,
        // A long search that finds little is not the fault of a slow client.
        is_live: true,
        after_failure: AfterFailure::Disconnect,
    };
    let answer = terms.answer(credential, move |pieces| write(search, first, pieces))?;
    Ok((headers, content_type(), answer).into_response())
}

/// Writes the pages. The last one has the last line.
async fn write(
    search: Arc<AskedSearch>,
    mut page: WrittenPage,
    mut pieces: PieceWriter,
) -> Result<(), BrokenOff> {
    loop {
        for piece in page.text.into_pieces() {
            pieces.send(piece).await?;
        }
        let Some(cursor) = page.next else { return Ok(()) };
        let found = tokio::select! {
            stop = pieces.stopped() => return Err(stop.into()),
            found = search.page(Some(cursor), true) => found,
        };
        page = found.map_err(broken_off)?;
    }
}

/// Returns the end of an answer whose next page fails so.
fn broken_off(error: ApiError) -> BrokenOff {
    let error = match error {
        ApiError::Operation(error) => error,
        error => OperationError::NotNow(error.message()),
    };
    error.into()
}
