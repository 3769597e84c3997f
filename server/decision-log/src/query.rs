//! Queries: the newest records first.

use std::io;
use std::sync::Arc;

use portcullis_fairness::{Stopping, run_apart};
use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::page::Listed;
use uuid::Uuid;

use crate::log::DecisionLog;
use crate::segment::Segment;

/// The part of a list of decisions that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct DecisionPage {
    /// The page has records with a smaller id; `None` at the start.
    pub before: Option<Uuid>,
    /// The most records.
    pub limit: usize,
}

/// The reason why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("cannot read the write-ahead file of the decision log: {0}")]
    Buffer(#[from] io::Error),
    #[error(transparent)]
    Stopping(#[from] Stopping),
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
        let segments = self.segments().newest_first();
        let (tenant, selection) = (tenant.to_owned(), selection.clone());
        let read = move || unsealed(&segments, &tenant, &selection, page);
        Ok(run_apart(read).await??.list())
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

/// The newest records of those that were seen.
#[derive(Debug)]
pub(crate) struct Newest {
    page: DecisionPage,
    records: Vec<DecisionRecord>,
}

impl Newest {
    pub(crate) fn new(page: DecisionPage) -> Self {
        Self { page, records: Vec::new() }
    }

    /// Returns whether a record with this id would be on the page, as far as it is known.
    pub(crate) fn wants(&self, id: Uuid) -> bool {
        self.page.before.is_none_or(|before| id < before)
    }

    pub(crate) fn add(&mut self, record: DecisionRecord) {
        self.records.push(record);
        if self.records.len() > 2 * (self.page.limit + 1) {
            self.cut();
        }
    }

    /// Keeps one record more than the page has, which says that the list goes on. A record may be there twice, while its
    /// file comes to rest.
    fn cut(&mut self) {
        self.records.sort_unstable_by_key(|record| std::cmp::Reverse(record.id));
        self.records.dedup_by_key(|record| record.id);
        self.records.truncate(self.page.limit + 1);
    }

    pub(crate) fn list(mut self) -> Listed<DecisionRecord> {
        self.cut();
        let more = self.records.len() > self.page.limit;
        self.records.truncate(self.page.limit);
        Listed { records: self.records, more }
    }
}

/// Reads the write-ahead files.
fn unsealed(
    segments: &[Arc<Segment>],
    tenant: &str,
    selection: &DecisionSelection,
    page: DecisionPage,
) -> io::Result<Newest> {
    let mut newest = Newest::new(page);
    for segment in segments {
        let read = segment.read(|frame| {
            let fits = frame.tenant == tenant
                && newest.wants(frame.id)
                && selection.covers(Timestamp::of(frame.id));
            if !fits {
                return;
            }
            if let Ok(record) = serde_json::from_slice::<DecisionRecord>(frame.json)
                && selection.selects(&record)
            {
                newest.add(record);
            }
        });
        match read {
            // Its records came to rest meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => _ = read?,
        }
    }
    Ok(newest)
}
