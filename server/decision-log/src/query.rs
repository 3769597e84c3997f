//! Queries: the newest records first.

use std::ops::ControlFlow;

use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::page::Listed;
use uuid::Uuid;

use crate::log::DecisionLog;
use crate::visit::{DecisionSpan, QueryError, RawRecord};

/// The part of a list of decisions that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct DecisionPage {
    /// The page has records with a smaller id; `None` at the start.
    pub before: Option<Uuid>,
    /// The most records.
    pub limit: usize,
}

impl DecisionLog {
    /// Lists the records of `tenant` that `selection` selects, newest first.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn query(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        page: DecisionPage,
    ) -> Result<Listed<DecisionRecord>, QueryError> {
        let limit = page.limit;
        let span = DecisionSpan { before: page.before, ..DecisionSpan::default() };
        let found = Listed { records: Vec::new(), more: false };
        let add = move |found: &mut Listed<DecisionRecord>, record: RawRecord<'_>| {
            if found.records.len() == limit {
                found.more = true;
                return ControlFlow::Break(());
            }
            // A record of a later version may have what this one cannot read.
            found.records.extend(serde_json::from_slice(record.json));
            ControlFlow::Continue(())
        };
        self.visit(tenant, selection, span, found, add).await
    }

    /// Returns the record `id` of `tenant`.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn find(&self, tenant: &str, id: Uuid) -> Result<Option<DecisionRecord>, QueryError> {
        let at = Timestamp::of(id);
        let until = Timestamp::from_millis(at.millis() + 1);
        let selection =
            DecisionSelection { from: Some(at), to: Some(until), ..DecisionSelection::default() };
        let before = Uuid::from_u128(id.as_u128().saturating_add(1));
        let page = DecisionPage { before: Some(before), limit: 1 };
        let found = self.query(tenant, &selection, page).await?.records.into_iter().next();
        Ok(found.filter(|record| record.id == id))
    }
}
