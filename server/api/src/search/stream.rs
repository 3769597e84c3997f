//! Searches whose answer has all pages, as lines of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use portcullis_http::error::ApiError;
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::live_events::LONGEST;
use portcullis_http::page_stream::{AfterFailure, PageStream};
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter, Stop};

use super::asked::{AskedSearch, WrittenPage};
use crate::line_stream::content_type;

/// Answers with the first page, and with the others as the client takes them. Where a later page fails, the last line says
/// that the search is not complete.
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

/// Writes the pages. Whatever ends them is a regular end: the last line says whether all are there.
async fn write(
    search: Arc<AskedSearch>,
    first: WrittenPage,
    mut pieces: PieceWriter,
) -> Result<(), BrokenOff> {
    let _ = write_until_stopped(&search, first, &mut pieces).await;
    Ok(())
}

async fn write_until_stopped(
    search: &Arc<AskedSearch>,
    mut page: WrittenPage,
    pieces: &mut PieceWriter,
) -> Result<(), Stop> {
    loop {
        for piece in page.text.into_pieces() {
            pieces.send(piece).await?;
        }
        let Some(cursor) = page.next else { return Ok(()) };
        let found = tokio::select! {
            stop = pieces.stopped() => return Err(stop),
            found = search.page(Some(cursor), true) => found,
        };
        page = match found {
            Ok(page) => page,
            Err(error) => {
                tracing::debug!(?error, "a stream of a search ends early");
                return Ok(());
            }
        };
    }
}
