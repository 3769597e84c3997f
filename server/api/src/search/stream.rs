//! Searches whose answer has all pages, as lines of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use tokio::time::Instant;

use super::asked::{AskedSearch, WrittenPage};
use crate::line_stream::lines;
use portcullis_http::answer_text::AnswerText;
use portcullis_http::error::ApiError;
use portcullis_http::live_credential::LiveCredential;
use portcullis_http::live_events::LONGEST;
use portcullis_http::recipient::Recipient;

/// The pages of a search after the first one.
pub(super) struct FurtherPages {
    search: Arc<AskedSearch>,
    credential: LiveCredential,
    recipient: Option<Recipient>,
    ends: Instant,
}

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
    let (search, recipient) = (Arc::new(search), Recipient::current());
    let ends = Instant::now() + Duration::from_secs(LONGEST.unsigned_abs());
    let first = search.page(None, true).await?;
    let headers = first.headers();
    let further = FurtherPages { search, credential, recipient, ends };
    let further = stream::unfold((first.next, further), FurtherPages::text);
    Ok((headers, lines(stream::iter([first.text]).chain(further))).into_response())
}

impl FurtherPages {
    /// Returns the text of the page at a cursor, and the cursor of the one after it.
    async fn text(
        (cursor, mut this): (Option<String>, Self),
    ) -> Option<(AnswerText, (Option<String>, Self))> {
        let WrittenPage { text, next, .. } = this.page(cursor?).await?;
        Some((text, (next, this)))
    }

    /// Finds the page at `cursor`; `None` if the answer may not go on, or the page fails.
    async fn page(&mut self, cursor: String) -> Option<WrittenPage> {
        if Instant::now() >= self.ends || !self.credential.may_go_on().await {
            return None;
        }
        let (recipient, page) = (self.recipient.clone(), self.search.page(Some(cursor), true));
        let found = match recipient {
            Some(recipient) => recipient.answer(page).await,
            None => page.await,
        };
        found.inspect_err(|error| tracing::debug!(?error, "a stream of a search ends early")).ok()
    }
}
