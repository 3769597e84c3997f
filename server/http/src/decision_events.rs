//! New decisions as events, for the API and for the console.

use axum::response::Response;
use futures_util::stream;
use portcullis_operations::decisions::{DecisionFeed, DecisionStream, FeedItem};
use serde_json::json;

use crate::error::ApiError;
use crate::live_credential::LiveCredential;
use crate::live_events::{self, LiveEvent, StreamTime};

/// Returns an answer with the items of a feed: an event `decision` for each record, and `more` for records that were skipped.
///
/// # Errors
/// There is no memory for what waits for the client.
pub fn answer(
    feed: DecisionStream,
    time: StreamTime,
    credential: LiveCredential,
) -> Result<Response, ApiError> {
    let events = stream::unfold(feed, async |mut feed| {
        let event = match feed.next().await? {
            FeedItem::Record(text) => LiveEvent { name: "decision", data: text.to_string() },
            FeedItem::More(skipped) => {
                LiveEvent { name: "more", data: json!({"more": skipped}).to_string() }
            }
        };
        Some((event, feed))
    });
    live_events::answer(DecisionFeed::MAX_BYTES, time, credential, events)
}
