//! Streams of new records: each reader has a bounded queue, and learns how many records it was too slow for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use tokio::sync::Notify;

use crate::batch::BatchEntry;
use crate::frame::{self, Frame};
use crate::metrics::LogMetrics;
use crate::shared::expand;

/// The most streams of a process.
const MAX_FEEDS: usize = 256;
/// The most streams of a tenant: managers of all its teams look at once.
const MAX_OF_TENANT: usize = 8;
/// The most of them that belong to members who are not managers, so that managers keep places.
const MAX_OF_MEMBERS: usize = MAX_OF_TENANT / 2;
/// Bytes of the records that wait for a reader.
const MAX_QUEUE: usize = DecisionFeed::MAX_BYTES;

/// The readers of new records.
#[derive(Debug)]
pub(crate) struct Followers {
    all: Mutex<Vec<Arc<Follower>>>,
    /// The length of `all`, so that the writer takes no lock while nobody reads.
    count: AtomicUsize,
    is_closed: AtomicBool,
    metrics: LogMetrics,
}

#[derive(Debug)]
struct Follower {
    tenant: String,
    /// The subject of a member; `None` for a manager.
    member: Option<String>,
    selection: DecisionSelection,
    queue: Mutex<FeedQueue>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct FeedQueue {
    records: VecDeque<Arc<str>>,
    bytes: usize,
    /// Records since the last one of `records` that found no room.
    skipped: u64,
    is_closed: bool,
}

/// The next part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum FeedItem {
    /// The JSON text of a record.
    Record(Arc<str>),
    /// So many records were skipped.
    More(u64),
}

/// The reason why there is no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedRefused {
    #[error("the tenant has {MAX_OF_TENANT} streams of decisions already")]
    OfTenant,
    #[error("the members of the tenant have {MAX_OF_MEMBERS} streams of decisions already")]
    OfMembers,
    #[error("the caller, a member, has a stream of decisions already")]
    OfMember,
    #[error("the service has {MAX_FEEDS} streams of decisions already")]
    OfService,
    #[error("the service is shutting down")]
    Closed,
}

/// A reader of new records. It ends when it is dropped.
#[derive(Debug)]
pub struct DecisionFeed {
    follower: Arc<Follower>,
    followers: Arc<Followers>,
}

impl Followers {
    pub(crate) fn new(metrics: LogMetrics) -> Self {
        let (all, count) = (Mutex::default(), AtomicUsize::new(0));
        Self { all, count, is_closed: AtomicBool::new(false), metrics }
    }

    pub(crate) fn add(
        self: &Arc<Self>,
        tenant: &str,
        member: Option<&str>,
        selection: DecisionSelection,
    ) -> Result<DecisionFeed, FeedRefused> {
        let mut all = self.all.lock();
        if self.is_closed.load(Ordering::Acquire) {
            return Err(FeedRefused::Closed);
        }
        if all.len() == MAX_FEEDS {
            return Err(FeedRefused::OfService);
        }
        let of_tenant = all.iter().filter(|other| other.tenant == tenant);
        if of_tenant.clone().count() == MAX_OF_TENANT {
            return Err(FeedRefused::OfTenant);
        }
        if member.is_some() {
            let members = of_tenant.filter_map(|other| other.member.as_deref());
            if members.clone().any(|other| Some(other) == member) {
                return Err(FeedRefused::OfMember);
            }
            // Managers have no member, and do not count here.
            if members.count() == MAX_OF_MEMBERS {
                return Err(FeedRefused::OfMembers);
            }
        }
        let (tenant, member) = (tenant.to_owned(), member.map(str::to_owned));
        let (queue, changed) = (Mutex::default(), Notify::new());
        let follower = Arc::new(Follower { tenant, member, selection, queue, changed });
        all.push(Arc::clone(&follower));
        self.measure(&all);
        Ok(DecisionFeed { follower, followers: Arc::clone(self) })
    }

    fn remove(&self, follower: &Arc<Follower>) {
        let mut all = self.all.lock();
        all.retain(|other| !Arc::ptr_eq(other, follower));
        self.measure(&all);
    }

    fn measure(&self, all: &[Arc<Follower>]) {
        self.count.store(all.len(), Ordering::Release);
        self.metrics.streams.set(i64::try_from(all.len()).unwrap_or(i64::MAX));
    }

    pub(crate) fn close(&self) {
        let all = self.all.lock();
        // This happens under the lock of `all`, so that no stream is added after the loop.
        self.is_closed.store(true, Ordering::Release);
        for follower in all.iter() {
            follower.queue.lock().is_closed = true;
            follower.changed.notify_one();
        }
    }

    /// Passes on records, with their frames, which were written.
    pub(crate) fn pass_on(&self, records: &[(&BatchEntry, &[u8])]) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        // This is a copy, so that the lock is not held while records are parsed.
        let all = self.all.lock().clone();
        let mut whole = Vec::new();
        for (entry, frame) in records {
            let Some(frame) = Frame::parse(frame::content(frame)) else { continue };
            // A record is parsed only if somebody of its tenant reads.
            let mut of_tenant =
                all.iter().filter(|follower| follower.tenant == frame.tenant).peekable();
            if of_tenant.peek().is_none() {
                continue;
            }
            let places = frame.references().map(|reference| reference.at);
            let texts = entry.texts.iter().map(|shared| &shared.text);
            expand(frame.json, places.zip(texts), &mut whole);
            let Ok(record) = serde_json::from_slice::<DecisionRecord>(&whole) else { continue };
            let Ok(text) = serde_json::to_string(&record) else { continue };
            let text: Arc<str> = text.into();
            for follower in of_tenant.filter(|follower| follower.selection.selects(&record)) {
                let skipped = follower.give(&text);
                self.metrics.skipped.inc_by(u64::from(skipped));
            }
        }
    }
}

impl Follower {
    /// Adds a record, and returns whether it is skipped. From the first one that finds no room on all are skipped, until the
    /// reader knows.
    fn give(&self, text: &Arc<str>) -> bool {
        let mut queue = self.queue.lock();
        let is_skipped = queue.skipped > 0 || queue.bytes + text.len() > MAX_QUEUE;
        if is_skipped {
            queue.skipped += 1;
        } else {
            queue.bytes += text.len();
            queue.records.push_back(Arc::clone(text));
        }
        drop(queue);
        self.changed.notify_one();
        is_skipped
    }
}

impl FeedQueue {
    fn take(&mut self) -> Option<FeedItem> {
        if let Some(record) = self.records.pop_front() {
            self.bytes -= record.len();
            return Some(FeedItem::Record(record));
        }
        let skipped = std::mem::take(&mut self.skipped);
        (skipped > 0).then_some(FeedItem::More(skipped))
    }
}

impl DecisionFeed {
    /// The most bytes of records that wait for a reader.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Waits for the next part. `None` when the log ends its streams.
    pub async fn next(&mut self) -> Option<FeedItem> {
        loop {
            // A notification between the look and the wait is kept as a permit.
            let changed = self.follower.changed.notified();
            {
                let mut queue = self.follower.queue.lock();
                if queue.is_closed {
                    return None;
                }
                if let Some(item) = queue.take() {
                    return Some(item);
                }
            }
            changed.await;
        }
    }
}

impl Drop for DecisionFeed {
    fn drop(&mut self) {
        self.followers.remove(&self.follower);
    }
}
