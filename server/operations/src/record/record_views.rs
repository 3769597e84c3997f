//! The parts of recorded decisions that a caller sees (`docs/semantics.md`, section 17.3).

use portcullis_auth::CheckCaller;
use portcullis_decision_log::{DecisionFeed, FeedItem};
use portcullis_model::decision::{DecisionCaller, DecisionRecord};
use portcullis_runtime::app::App;

use crate::decide::recording;

/// The parts of records that a caller sees.
#[derive(Debug)]
pub(crate) enum RecordView {
    /// Everything: the caller is a manager or a key.
    Whole,
    /// The parts that this credential sent, and the decision.
    OfMember(DecisionCaller<'static>),
}

impl RecordView {
    pub(crate) fn of(app: &App, caller: &CheckCaller) -> Self {
        match caller.may_search(None, None, &app.manager_roles) {
            Ok(()) => Self::Whole,
            Err(_) => {
                let own = recording::caller(caller);
                Self::OfMember(DecisionCaller {
                    kind: own.kind,
                    sub: own.sub.to_owned().into(),
                    iss: own.iss.map(|iss| iss.to_owned().into()),
                })
            }
        }
    }

    /// Returns what the caller sees of a record that it may see.
    pub(crate) fn show(&self, record: DecisionRecord) -> DecisionRecord {
        match self {
            Self::Whole => record,
            Self::OfMember(own) => record.for_member(own),
        }
    }
}

/// The new records that a caller follows, as it sees them.
#[derive(Debug)]
pub struct DecisionStream {
    feed: DecisionFeed,
    view: RecordView,
}

impl DecisionStream {
    pub(crate) fn new(feed: DecisionFeed, view: RecordView) -> Self {
        Self { feed, view }
    }

    /// Waits for the next part. `None` when the log ends its streams.
    pub async fn next(&mut self) -> Option<FeedItem> {
        let item = self.feed.next().await?;
        Some(match (&self.view, item) {
            (RecordView::OfMember(own), FeedItem::Record(text)) => of_member(&text, own),
            (_, item) => item,
        })
    }
}

/// Returns the record of `text` as the member `own` sees it. One that cannot be read counts as skipped.
fn of_member(text: &str, own: &DecisionCaller<'_>) -> FeedItem {
    let record = serde_json::from_str::<DecisionRecord>(text);
    let seen = record.and_then(|record| serde_json::to_string(&record.for_member(own)));
    seen.map_or(FeedItem::More(1), |text| FeedItem::Record(text.into()))
}
