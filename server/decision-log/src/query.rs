//! Queries: the newest records first.

use std::ops::ControlFlow;

use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::page::{Listed, MAX_PAGE_BYTES};
use uuid::Uuid;

use crate::log::DecisionLog;
use crate::reading::{DecisionSpan, PageRoom, QueryError, ReadLimit, Visited};

/// The part of a list of decisions that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct DecisionPage {
    /// The page has records with a smaller id; `None` at the start.
    pub before: Option<Uuid>,
    /// The most records.
    pub limit: usize,
}

impl DecisionLog {
    /// Lists the records of `tenant` that `selection` selects, newest first, as many as have [`MAX_PAGE_BYTES`]. If `limit` ends
    /// the search, the list goes on before the id after [`Visited::rest`].
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn query(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        page: DecisionPage,
        limits: ReadLimit,
    ) -> Result<Visited<Listed<DecisionRecord>>, QueryError> {
        let limit = page.limit;
        // One more tells whether there are more.
        let (before, wanted) = (page.before, Some(limit.saturating_add(1)));
        let bytes = Some(MAX_PAGE_BYTES);
        let span = DecisionSpan { before, limit: wanted, bytes, ..DecisionSpan::default() };
        let found = Listed { records: Vec::new(), more: false };
        let (mut seen, mut room) = (0, PageRoom::new(bytes));
        self.visit(tenant, selection, span, limits, found, move |found, record| {
            if seen == limit || !room.take(record.json.len()) {
                found.more = true;
                return ControlFlow::Break(());
            }
            seen += 1;
            // A record of a later version may have what this one cannot read.
            found.records.extend(serde_json::from_slice(record.json));
            ControlFlow::Continue(())
        })
        .await
    }

    /// Returns the record `id` of `tenant`, which is due first, so that only a caller who is gone ends the search.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn find(
        &self,
        tenant: &str,
        id: Uuid,
        limit: ReadLimit,
    ) -> Result<Visited<Option<DecisionRecord>>, QueryError> {
        let at = Timestamp::from_id(id);
        let until = Timestamp::from_millis(at.millis() + 1);
        let selection =
            DecisionSelection { from: Some(at), to: Some(until), ..DecisionSelection::default() };
        // `before` itself is not listed.
        let before = Uuid::from_u128(id.as_u128().saturating_add(1));
        let page = DecisionPage { before: Some(before), limit: 1 };
        let Visited { into, silent, rest } = self.query(tenant, &selection, page, limit).await?;
        let found = into.records.into_iter().next();
        // Without the record, the page begins with one that has a smaller id.
        Ok(Visited { into: found.filter(|record| record.id == id), silent, rest })
    }
}
