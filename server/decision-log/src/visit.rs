//! Reading in order: the parts of the record are merged, and each is read when its first record is due.

use std::io;
use std::ops::ControlFlow;

use portcullis_fairness::{Stopping, run_apart};
use portcullis_model::decision::DecisionSelection;
use portcullis_storage::StoreError;
use uuid::Uuid;

use crate::chunk::{Chunk, Loaded, Opened};
use crate::log::DecisionLog;
use crate::wanted::Wanted;

/// The order in which records are visited. The id of a record is a UUIDv7 of the instant of its check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecisionOrder {
    #[default]
    NewestFirst,
    OldestFirst,
}

/// The part of the record that is visited, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct DecisionSpan {
    /// Records with a greater id.
    pub after: Option<Uuid>,
    /// Records with a smaller id.
    pub before: Option<Uuid>,
    pub order: DecisionOrder,
    /// Whether counts of allows that were left out are visited, too: their texts have `left_out`.
    pub counts: bool,
}

/// A record that is visited.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'r> {
    pub id: Uuid,
    /// The JSON text of a [`DecisionRecord`](portcullis_model::decision::DecisionRecord).
    pub json: &'r [u8],
}

/// The reason why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("cannot read the record of decisions: {0}")]
    Read(#[from] io::Error),
    #[error("cannot read the manifest of the record of decisions: {0}")]
    Manifest(#[from] StoreError),
    #[error(transparent)]
    Stopping(#[from] Stopping),
}

impl DecisionLog {
    /// Passes the records of `tenant` that `selection` selects to `visit` with `into`, in order and each once, until it
    /// breaks. Returns `into`. Runs on a thread that serves no requests; memory is that of the files whose instants
    /// overlap, of those at rest one row group each. A text is parsed only if the selection looks at members.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn visit<T: Send + 'static>(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        span: DecisionSpan,
        into: T,
        visit: impl FnMut(&mut T, RawRecord<'_>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<T, QueryError> {
        let DecisionSpan { after, before, order, counts } = span;
        let (tenant, selection) = (tenant.to_owned(), selection.clone());
        let wanted = Wanted { tenant, selection, after, before, counts };
        let segments = self.segments().newest_first();
        let mut chunks: Vec<_> = segments.into_iter().map(Chunk::of_segment).collect();
        if let Some(archive) = self.archive() {
            // After the write-ahead files: what came to rest meanwhile is there twice, not missing.
            let parts = archive.parts(&wanted).await?;
            chunks.extend(parts.into_iter().map(Chunk::Part));
        }
        let read = move || visit_all(chunks, &wanted, order, into, visit);
        Ok(run_apart(read).await??)
    }
}

fn visit_all<T>(
    chunks: Vec<Chunk>,
    wanted: &Wanted,
    order: DecisionOrder,
    mut into: T,
    mut visit: impl FnMut(&mut T, RawRecord<'_>) -> ControlFlow<()>,
) -> io::Result<T> {
    let mut merge = Merge::new(chunks, wanted, order);
    let mut before = None;
    while let Some(loaded) = merge.next()? {
        let Some((id, json)) = loaded.next() else { continue };
        // A record is there twice while its file comes to rest.
        if before.replace(id) != Some(id) && visit(&mut into, RawRecord { id, json }).is_break() {
            break;
        }
    }
    Ok(into)
}

/// Merges chunks.
struct Merge<'w> {
    wanted: &'w Wanted,
    order: DecisionOrder,
    /// Chunks that are not read yet, with the key from which on their records are due; the next one is the last.
    waiting: Vec<(u128, Chunk)>,
    loaded: Vec<Loaded>,
}

impl<'w> Merge<'w> {
    fn new(chunks: Vec<Chunk>, wanted: &'w Wanted, order: DecisionOrder) -> Self {
        let mut merge = Self { wanted, order, waiting: Vec::new(), loaded: Vec::new() };
        merge.wait_for(chunks);
        merge
    }

    fn wait_for(&mut self, chunks: Vec<Chunk>) {
        let (order, wanted) = (self.order, self.wanted);
        let due = |chunk: Chunk| {
            let (first, last) =
                chunk.ids().filter(|&(first, last)| wanted.overlaps(first, last))?;
            Some((order.key(first).min(order.key(last)), chunk))
        };
        self.waiting.extend(chunks.into_iter().filter_map(due));
        self.waiting.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
    }

    /// Returns the part whose first record is the next one.
    fn next(&mut self) -> io::Result<Option<&mut Loaded>> {
        let order = self.order;
        loop {
            self.loaded.retain(|loaded| loaded.next_id().is_some());
            let keys = self.loaded.iter().filter_map(|loaded| loaded.next_id());
            let next = keys.map(|id| order.key(id)).min();
            let is_due = |(key, _): &mut (u128, Chunk)| next.is_none_or(|next| *key <= next);
            let Some((_, chunk)) = self.waiting.pop_if(is_due) else { break };
            match chunk.open(self.wanted)? {
                Opened::Chunks(chunks) => self.wait_for(chunks),
                Opened::Records(mut loaded) => {
                    loaded.sort_by(|id| order.key(id));
                    self.loaded.push(loaded);
                }
            }
        }
        let key = |loaded: &&mut Loaded| loaded.next_id().map(|id| order.key(id));
        Ok(self.loaded.iter_mut().min_by_key(key))
    }
}

impl DecisionOrder {
    /// Returns a number that ascends in this order.
    fn key(self, id: Uuid) -> u128 {
        match self {
            Self::NewestFirst => !id.as_u128(),
            Self::OldestFirst => id.as_u128(),
        }
    }
}
