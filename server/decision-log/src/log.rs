//! The log that the service calls.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use portcullis_fairness::run_apart;
use portcullis_model::clock::Clock;
use portcullis_model::decision::DecisionSelection;
use uuid::Uuid;

use crate::at_rest::{Archive, ArchiveError, Keeper};
use crate::batch::Pending;
use crate::buffer::Buffer;
use crate::decision::RecordedDecision;
use crate::erasures::Erasures;
use crate::feed::{DecisionFeed, FeedRefused, Followers};
use crate::frame::Kind;
use crate::lost::Lost;
use crate::metrics::LogMetrics;
use crate::minimisation::Minimisation;
use crate::others::Others;
use crate::segments::{LogOpenError, Segments};
use crate::writer::Writer;

/// The place of the write-ahead files.
#[derive(Clone, Debug)]
pub struct LogConfig {
    /// The folder of this process alone (`DECISION_LOG_BUFFER`).
    pub folder: PathBuf,
    /// The most bytes of all write-ahead files (`DECISION_LOG_BUFFER_BYTES`).
    pub max_bytes: u64,
    /// The place of finished files.
    pub archive: Option<Archive>,
    pub clock: Clock,
}

/// The log of decisions of a process. Cheap to clone.
#[derive(Clone, Debug)]
pub struct DecisionLog(Arc<LogParts>);

#[derive(Debug)]
struct LogParts {
    buffer: Arc<Buffer>,
    segments: Arc<Segments>,
    metrics: LogMetrics,
    followers: Arc<Followers>,
    keeper: Option<Keeper>,
    erasures: Erasures,
    /// The other replicas, which share the database of the sealed files.
    others: Option<Others>,
    /// Gone after [`DecisionLog::close`].
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl DecisionLog {
    /// Opens the log and starts its writer. Reads what the last process left: cuts torn ends, and counts the records that
    /// a kill lost. Blocks for as long as that takes.
    ///
    /// # Errors
    /// Another process uses the folder, or it cannot be read or written.
    pub fn open(config: LogConfig, metrics: LogMetrics) -> Result<Self, LogOpenError> {
        let LogConfig { folder, max_bytes, archive, clock } = config;
        let segments = Arc::new(Segments::open(folder.clone(), max_bytes, metrics.clone())?);
        let buffer = Arc::new(Buffer::new(segments.current(), metrics.clone()));
        let (for_writer, counts) = (Arc::clone(&buffer), metrics.clone());
        let followers = Arc::new(Followers::new(metrics.clone()));
        let to = Arc::clone(&followers);
        let others = archive.as_ref().map(|archive| Others::new(archive.store().clone()));
        let keeper = archive.map(|archive| {
            archive.damaged().count_in(metrics.clone());
            Keeper::new(archive, Arc::clone(&segments), metrics.clone(), clock.clone())
        });
        let writer = Writer::new(for_writer, Arc::clone(&segments), counts, clock, to);
        let writer = thread::Builder::new()
            .name("decision-log".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| LogOpenError::Io(folder, error))?;
        let writer = Mutex::new(Some(writer));
        let erasures = Erasures::default();
        let shared =
            LogParts { buffer, segments, metrics, followers, keeper, erasures, others, writer };
        Ok(Self(Arc::new(shared)))
    }

    /// Records a decision, which is on disk 100 ms later. Does not wait and does not allocate.
    ///
    /// # Errors
    /// The cause why it is lost; it is counted.
    pub fn append(
        &self,
        decision: &RecordedDecision<'_>,
        minimisation: Option<&Minimisation>,
    ) -> Result<(), Lost> {
        self.add(decision, Kind::Async, minimisation).map(|_| ())
    }

    /// Records a decision whose answer waits until it is on disk. All who wait share one write.
    ///
    /// # Errors
    /// The cause why it is lost; it is counted.
    pub fn append_durably(
        &self,
        decision: &RecordedDecision<'_>,
        minimisation: Option<&Minimisation>,
    ) -> Result<Pending, Lost> {
        // A durable record always has something that waits for it.
        self.add(decision, Kind::Durable, minimisation)?.ok_or(Lost::Closed)
    }

    fn add(
        &self,
        decision: &RecordedDecision<'_>,
        kind: Kind,
        minimisation: Option<&Minimisation>,
    ) -> Result<Option<Pending>, Lost> {
        let added = self.0.buffer.add(decision, kind, minimisation);
        added.inspect_err(|&cause| self.0.metrics.lose(cause, 1))
    }

    /// Counts an allow that the terms of its tenant leave out, for the statistics.
    pub fn leave_out(&self, decision: &RecordedDecision<'_>) {
        self.0.buffer.leave_out(decision);
    }

    /// Waits until everything that was added so far can be read.
    pub(crate) async fn flush(&self) {
        if let Some(pending) = self.0.buffer.flush() {
            // What is lost is counted, and not there for a reader.
            let _ = pending.written().await;
        }
    }

    /// Follows the records of `tenant` that `selection` selects and that are written from now on, for a `member` who is not a
    /// manager, or for a manager.
    ///
    /// # Errors
    /// There are too many readers, or the log is closed.
    pub fn follow(
        &self,
        tenant: &str,
        member: Option<&str>,
        selection: DecisionSelection,
    ) -> Result<DecisionFeed, FeedRefused> {
        self.0.followers.add(tenant, member, selection)
    }

    /// Ends all streams. Later ones are refused.
    pub fn end_feeds(&self) {
        self.0.followers.close();
    }

    /// Seals finished files, deletes expired ones and runs erasures, until it is dropped.
    pub async fn run_maintenance(self) {
        if let Some(keeper) = &self.0.keeper {
            tokio::join!(keeper.run(|| self.0.buffer.rotate()), self.erase_for_ever(keeper));
        }
    }

    /// Brings every record to disk, and seals it, if there is a place. Later ones are refused.
    ///
    /// # Errors
    /// The place of finished files failed: the next start goes on.
    pub async fn close(&self) -> Result<(), ArchiveError> {
        self.0.buffer.close();
        let Some(writer) = self.0.writer.lock().take() else { return Ok(()) };
        let ended = run_apart(move || writer.join()).await?;
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let Some(keeper) = &self.0.keeper else { return Ok(()) };
        if self.0.segments.current().extent().ids.is_some() {
            // The writer has ended, so that nobody else begins a file.
            self.0.segments.rotate()?;
        }
        keeper.seal_all().await
    }

    pub(crate) fn archive(&self) -> Option<&Archive> {
        self.keeper().map(|keeper| &keeper.archive)
    }

    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.0.keeper.as_ref()
    }

    pub(crate) fn erasures(&self) -> &Erasures {
        &self.0.erasures
    }

    pub(crate) fn others(&self) -> Option<&Others> {
        self.0.others.as_ref()
    }

    /// Asks the writer to begin the next file.
    pub(crate) fn rotate(&self) {
        self.0.buffer.rotate();
    }

    pub(crate) fn segments(&self) -> &Arc<Segments> {
        &self.0.segments
    }
}

impl Drop for LogParts {
    /// Lets the writer bring to disk what it has, and end.
    fn drop(&mut self) {
        self.buffer.close();
        if let Some(writer) = self.writer.get_mut().take() {
            // Its panic was reported by its thread.
            let _ = writer.join();
        }
    }
}

/// Returns whether the record of an allow is kept, where the tenant keeps this share of them, from 0 to 1. The random bits of
/// the id draw, so that all who ask for one id agree.
pub(crate) fn is_drawn(id: Uuid, share: f64) -> bool {
    /// Bits that a double holds exactly.
    const BITS: u32 = 32;
    // The last bits of a UUIDv7 are random (RFC 9562 section 5.7).
    let drawn = u32::try_from(id.as_u128() & u128::from(u32::MAX)).unwrap_or_default();
    f64::from(drawn) < share * 2_f64.powi(BITS.cast_signed())
}
