//! Reading in order: the parts of the record are merged, and each is read when its first record is due.

use std::io;
use std::ops::ControlFlow;

use portcullis_fairness::run_apart;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};

use crate::at_rest::ArchiveError;
use crate::chunk::{Chunk, Loaded, Opened};
use crate::log::DecisionLog;
use crate::others::Heard;
use crate::question::Wants;
use crate::reading::{DecisionOrder, DecisionSpan, QueryError, RawRecord, Visited};
use crate::wanted::Wanted;

impl DecisionLog {
    /// Passes the records of `tenant` that `selection` selects to `visit` with `into`, in order and each once, until it
    /// breaks. Returns `into`. Other replicas are asked for what they did not bring to rest. Runs on a thread that serves no
    /// requests; memory is that of the wanted records of the files whose instants overlap. A text is parsed only if the
    /// selection looks at members.
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
    ) -> Result<Visited<T>, QueryError> {
        let wanted = Wanted::new(tenant, selection, span);
        let mut chunks = self.buffered();
        let mut heard = Heard::default();
        if let Some(others) = self.others() {
            let wants = Wants::Records { selection: Box::new(selection.clone()), span };
            heard = others.ask(tenant, wants).await?;
        }
        let silent = heard.silent;
        if let Some(archive) = self.archive() {
            // After the write-ahead files: what came to rest meanwhile is there twice, not missing.
            let parts = archive.parts(&wanted).await?;
            chunks.extend(parts.into_iter().map(Chunk::Part));
        }
        let read = move || {
            let of_others = Loaded::of_others(&heard, &wanted);
            visit_all(chunks, of_others, &wanted, span.order, into, visit)
        };
        Ok(Visited { into: run_apart(read).await??, silent })
    }

    /// Passes the records of `tenant` that `selection` selects to `add` with `into`, those of this moment included. Returns
    /// `into`, and whether every record was read.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) async fn count<T: Send + 'static>(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        span: DecisionSpan,
        into: T,
        mut add: impl FnMut(&mut T, DecisionRecord) + Send + 'static,
    ) -> Result<(T, bool), QueryError> {
        self.flush().await;
        let add = move |(into, complete): &mut (T, bool), record: RawRecord<'_>| {
            // A record of a later version may have what this one cannot read.
            match serde_json::from_slice(record.json) {
                Ok(record) => add(into, record),
                Err(_) => *complete = false,
            }
            ControlFlow::Continue(())
        };
        let counted = self.visit(tenant, selection, span, (into, true), add).await?;
        let Visited { into: (into, complete), silent } = counted;
        Ok((into, complete && silent == 0))
    }

    /// Visits, as [`DecisionLog::visit`] does, what is in the write-ahead files of this process.
    pub(crate) async fn visit_buffered<T: Send + 'static>(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        span: DecisionSpan,
        into: T,
        visit: impl FnMut(&mut T, RawRecord<'_>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<T, ArchiveError> {
        let wanted = Wanted::new(tenant, selection, span);
        let (chunks, none) = (self.buffered(), Loaded::default());
        let read = move || visit_all(chunks, none, &wanted, span.order, into, visit);
        Ok(run_apart(read).await??)
    }

    fn buffered(&self) -> Vec<Chunk> {
        self.segments().newest_first().into_iter().map(Chunk::of_segment).collect()
    }
}

/// Visits the records of `chunks` and of other replicas.
fn visit_all<T>(
    chunks: Vec<Chunk>,
    of_others: Loaded,
    wanted: &Wanted,
    order: DecisionOrder,
    mut into: T,
    mut visit: impl FnMut(&mut T, RawRecord<'_>) -> ControlFlow<()>,
) -> io::Result<T> {
    let mut merge = Merge::new(chunks, wanted, order);
    merge.add(of_others);
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

    fn add(&mut self, mut loaded: Loaded) {
        loaded.sort_by(|id| self.order.key(id));
        self.loaded.push(loaded);
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
                Opened::Records(loaded) => self.add(loaded),
            }
        }
        let key = |loaded: &&mut Loaded| loaded.next_id().map(|id| order.key(id));
        Ok(self.loaded.iter_mut().min_by_key(key))
    }
}
