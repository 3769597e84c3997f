//! Reading in order: the parts of the record are merged, and each is read when its first record is due.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

use portcullis_fairness::run_apart;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::at_rest::{Archive, ArchiveError};
use crate::chunk::{Chunk, Loaded, Opened};
use crate::log::DecisionLog;
use crate::others::Heard;
use crate::question::Wants;
use crate::reading::{DecisionOrder, DecisionSpan, QueryError, RawRecord, ReadLimit, Visited};
use crate::wanted::Wanted;

impl DecisionLog {
    /// Passes the records of `tenant` that `selection` selects to `visit` with `into`, in order and each once, until it
    /// breaks or `limit` ends the visit. Returns `into`. Other replicas are asked for what they have not sealed. Runs on
    /// a thread that serves no requests; in memory are the wanted records of the files whose instants overlap. A text
    /// is parsed only if the selection looks at members.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn visit<T: Send + 'static>(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        span: DecisionSpan,
        mut limit: ReadLimit,
        into: T,
        visit: impl FnMut(&mut T, RawRecord<'_>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<Visited<T>, QueryError> {
        let wanted = Wanted::new(tenant, selection, span);
        let mut chunks = self.buffered();
        let mut heard = Heard::default();
        if let Some(others) = self.others() {
            let wants = Wants::Records { selection: Box::new(selection.clone()), span };
            heard = others.ask(tenant, wants).await?;
            if !(limit.may_hold)(heard.bytes()) {
                return Err(QueryError::NoRoom);
            }
        }
        let silent = heard.silent;
        if let Some(archive) = self.archive() {
            // After the write-ahead files: what was sealed meanwhile is there twice, not missing.
            let parts = archive.parts(&wanted).await?;
            chunks.extend(parts.into_iter().map(Chunk::Part));
        }
        let archive = self.archive().cloned();
        let visited = run_apart(move || {
            let of_others = Loaded::from_others(heard, &wanted);
            let mut merge = Merge::new(chunks, wanted, span.order, limit, archive);
            merge.add(of_others);
            merge.visit_all(into, visit)
        });
        let (into, rest) = visited.await??;
        Ok(Visited { into, silent, rest })
    }

    /// Passes the records of `tenant` that `selection` selects to `add` with `into`, records of this moment included.
    /// Returns `into`, and whether every record was read.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) async fn count<T: Send + 'static>(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        span: DecisionSpan,
        limit: ReadLimit,
        into: T,
        mut add: impl FnMut(&mut T, DecisionRecord) + Send + 'static,
    ) -> Result<(T, bool), QueryError> {
        self.flush().await;
        let into = (into, true);
        let counted = self.visit(tenant, selection, span, limit, into, move |counted, record| {
            let (into, complete) = counted;
            // A record of a later version may have what this one cannot read.
            match serde_json::from_slice(record.json) {
                Ok(record) => add(into, record),
                Err(_) => *complete = false,
            }
            ControlFlow::Continue(())
        });
        let counted = counted.await?;
        let is_complete = counted.is_complete();
        let (into, complete) = counted.into;
        Ok((into, complete && is_complete))
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
        let chunks = self.buffered();
        let visited = run_apart(move || {
            let merge = Merge::new(chunks, wanted, span.order, ReadLimit::none(), None);
            merge.visit_all(into, visit)
        });
        let (into, _) = visited.await??;
        Ok(into)
    }

    fn buffered(&self) -> Vec<Chunk> {
        self.segments().newest_first().into_iter().map(Chunk::from_segment).collect()
    }
}

/// Merges chunks.
struct Merge {
    wanted: Wanted,
    order: DecisionOrder,
    /// The place of the files that are sealed while the visit lasts.
    archive: Option<Archive>,
    /// The sealed files that were added.
    paths: BTreeSet<String>,
    /// Chunks that are not read yet, with the key from which on their records are due; the next one is the last.
    waiting: Vec<(u128, Chunk)>,
    loaded: Vec<Loaded>,
    limit: ReadLimit,
    began: Instant,
    /// The key at which the visit began.
    first: Option<u128>,
    /// The key at which the limit ended the visit.
    rest: Option<u128>,
}

/// The records that are visited between two looks at the limit.
const UNLIMITED: usize = 256;

impl Merge {
    fn new(
        chunks: Vec<Chunk>,
        wanted: Wanted,
        order: DecisionOrder,
        limit: ReadLimit,
        archive: Option<Archive>,
    ) -> Self {
        let mut merge = Self {
            wanted,
            order,
            archive,
            paths: BTreeSet::new(),
            waiting: Vec::new(),
            loaded: Vec::new(),
            limit,
            began: Instant::now(),
            first: None,
            rest: None,
        };
        merge.wait_for(chunks);
        merge
    }

    /// Visits all records. Returns `into`, and the id at which the limit ended the visit.
    fn visit_all<T>(
        mut self,
        mut into: T,
        mut visit: impl FnMut(&mut T, RawRecord<'_>) -> ControlFlow<()>,
    ) -> io::Result<(T, Option<Uuid>)> {
        let (mut before, mut visited) = (None, 0_usize);
        while let Some(loaded) = self.next(visited.is_multiple_of(UNLIMITED))? {
            let Some((id, json)) = loaded.next() else { continue };
            visited += 1;
            // A record is there twice while its file is sealed.
            if before.replace(id) != Some(id) && visit(&mut into, RawRecord { id, json }).is_break()
            {
                break;
            }
        }
        Ok((into, self.rest.map(|key| self.order.id(key))))
    }

    fn add(&mut self, mut loaded: Loaded) {
        loaded.sort_by(|id| self.order.key(id));
        self.loaded.push(loaded);
    }

    fn wait_for(&mut self, chunks: Vec<Chunk>) {
        self.paths.extend(chunks.iter().filter_map(|chunk| chunk.path().map(str::to_owned)));
        let (order, wanted) = (self.order, &self.wanted);
        // A chunk may begin before the records that are wanted.
        let start = match order {
            DecisionOrder::NewestFirst => wanted.before,
            DecisionOrder::OldestFirst => wanted.after,
        };
        let start = start.map_or(0, |id| order.key(id).saturating_add(1));
        self.waiting.extend(chunks.into_iter().filter_map(|chunk| {
            let (first, last) =
                chunk.ids().filter(|&(first, last)| wanted.overlaps(first, last))?;
            Some((order.key(first).min(order.key(last)).max(start), chunk))
        }));
        self.waiting.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
    }

    /// Adds a chunk whose records are due from `key` on.
    fn wait_until(&mut self, key: u128, chunk: Chunk) {
        self.waiting.push((key, chunk));
        self.waiting.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
    }

    /// Returns the part whose first record is the next one. None at the end, and where the limit is reached, which matters
    /// before a chunk is read, and if this call `checks` it.
    fn next(&mut self, checks: bool) -> io::Result<Option<&mut Loaded>> {
        let order = self.order;
        loop {
            self.loaded.retain(|loaded| loaded.next_id().is_some());
            let keys = self.loaded.iter().filter_map(|loaded| loaded.next_id());
            let next = keys.map(|id| order.key(id)).min();
            let chunk = self.waiting.pop_if(|(key, _)| next.is_none_or(|next| *key <= next));
            let Some(key) = chunk.as_ref().map(|(key, _)| *key).or(next.filter(|_| checks)) else {
                break;
            };
            if self.is_over(key) {
                self.rest = Some(key);
                return Ok(None);
            }
            let Some((_, chunk)) = chunk else { break };
            // The limit is about all chunks that are in memory at once.
            let held: usize = self.loaded.iter().map(Loaded::bytes).sum();
            match chunk.open(&self.wanted, key, |bytes| (self.limit.may_hold)(held + bytes)) {
                Ok(Opened::Chunks(chunks)) => self.wait_for(chunks),
                Ok(Opened::Records(loaded)) => {
                    if let Some(rest) = loaded.rest() {
                        self.wait_until(rest, chunk);
                    }
                    self.add(loaded);
                }
                Err(error) => self.go_on_without(&chunk, key, error)?,
            }
        }
        let loaded = self.loaded.iter_mut();
        Ok(loaded.min_by_key(|loaded| loaded.next_id().map(|id| order.key(id))))
    }

    /// Goes on from `key` without the file of a chunk that cannot be read, if that is gone: with the one that took its place, or
    /// with none. Blocks.
    fn go_on_without(&mut self, chunk: &Chunk, key: u128, error: io::Error) -> io::Result<()> {
        let (Some(archive), Some(path)) = (&self.archive, chunk.path()) else { return Err(error) };
        let parts = archive.parts(&self.wanted);
        let parts = Handle::current().block_on(parts).map_err(io::Error::other)?;
        if parts.iter().any(|part| part.path() == path) {
            return Err(error);
        }
        self.waiting.retain(|(_, waiting)| waiting.path() != Some(path));
        // What is due before `key` was visited.
        let start = self.order.id(key).as_u128();
        match self.order {
            DecisionOrder::NewestFirst => {
                self.wanted.before = Some(Uuid::from_u128(start.saturating_add(1)));
            }
            DecisionOrder::OldestFirst => {
                self.wanted.after = start.checked_sub(1).map(Uuid::from_u128);
            }
        }
        let new = parts.into_iter().filter(|part| !self.paths.contains(part.path()));
        let new = new.map(Chunk::Part).collect();
        self.wait_for(new);
        Ok(())
    }

    /// Returns whether the limit ends the visit before `key`. What is due first is read, so that who goes on at the end of each
    /// visit comes to the end of all.
    fn is_over(&mut self, key: u128) -> bool {
        let is_later = key > *self.first.get_or_insert(key);
        !(self.limit.is_awaited)() || is_later && self.began.elapsed() >= self.limit.time
    }
}
