//! A replay that runs: reads parts of the record, newest first, and decides each on two threads.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use portcullis_decision_log::{DecisionSpan, RawRecord, ReadLimit, Visited};
use portcullis_model::decision::DecisionSelection;
use portcullis_replay::{RecordedDirectory, RecordedInputs, Side, Tally, compare};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::replays::{ReplayProgress, RunningReplay};
use portcullis_runtime::searches::Awaited;
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use uuid::Uuid;

use super::is_outdated;
use super::sides::CandidateSide;
use crate::decisions::{log, unreadable};
use crate::recorded_sides::RecordedSides;

/// The records of the first part, whose numbers are there at once, and of the largest ones.
const FIRST_PART: usize = 512;
const MAX_PART: usize = 8_192;
/// The bytes of texts after which a part ends: a check may have a megabyte of attributes.
const PART_BYTES: usize = 4 << 20;
/// The parts that are read ahead.
const AHEAD: usize = 2;

/// The question of a replay.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) app: App,
    pub(super) tenant: String,
    pub(super) candidate: CandidateSide,
    pub(super) selection: DecisionSelection,
    /// Whether the tenant ever had an entity.
    pub(super) has_directory: bool,
}

/// The revision of a record. The rest of its text is read when the rules are there.
#[derive(Deserialize)]
struct Decided {
    revision: i64,
}

/// The texts of records, one behind the other.
#[derive(Debug, Default)]
struct Part {
    text: Vec<u8>,
    /// The end of each text.
    ends: Vec<usize>,
}

impl Part {
    fn add(&mut self, record: &[u8]) {
        self.text.extend_from_slice(record);
        self.ends.push(self.text.len());
    }

    fn halves(mut self) -> (Self, Self) {
        let mut ends = self.ends.split_off(self.ends.len() / 2);
        let start = self.ends.last().copied().unwrap_or_default();
        ends.iter_mut().for_each(|end| *end -= start);
        let text = self.text.split_off(start);
        (self, Self { text, ends })
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// Returns the revision of each record; `None` for one that cannot be read.
    fn revisions(&self) -> Vec<Option<i64>> {
        let read =
            |text| serde_json::from_slice(text).ok().map(|decided: Decided| decided.revision);
        self.texts().map(read).collect()
    }
}

impl Replay {
    /// Decides all records, as long as somebody waits for the outcome.
    pub(super) async fn run(self, running: RunningReplay) {
        let RunningReplay { id, progress, awaited } = running;
        let outcome = self.decide_all(id, &progress, &awaited).await;
        let is_outdated = is_outdated(&self.app, &self.tenant, id).await;
        if is_outdated.as_ref().is_ok_and(|is_outdated| *is_outdated) {
            progress.send_modify(|progress| progress.report = Tally::default().report(false));
        }
        let failure = match is_outdated.and_then(|is_outdated| Ok((is_outdated, outcome?))) {
            Ok((true, _)) => Some(
                "decisions about a person were erased meanwhile, and the report with them; repeat the replay".to_owned(),
            ),
            Ok((false, 0)) => None,
            Ok((false, silent)) => Some(format!(
                "{silent} replicas did not answer: their newest decisions are missing; repeat the replay"
            )),
            // Nobody sees it if nobody waits.
            Err(error) => {
                tracing::warn!(tenant = self.tenant, %error, "a replay failed");
                let why =
                    "the record or the rules could not be read; the log of the service says why";
                Some(why.to_owned())
            }
        };
        progress.send_modify(|progress| {
            progress.ended = Some(Instant::now());
            progress.report.complete &= failure.is_none();
            progress.failure = failure;
        });
    }

    /// Decides all records. Returns the number of replicas whose records are missing.
    async fn decide_all(
        &self,
        id: Uuid,
        progress: &watch::Sender<ReplayProgress>,
        awaited: &Awaited,
    ) -> Result<usize, OperationError> {
        let (sender, mut parts) = mpsc::channel(AHEAD);
        let decide = async move {
            let (mut tally, mut sides) = (Tally::default(), RecordedSides::default());
            while let Some(part) = parts.recv().await {
                if awaited.check().is_err() || is_outdated(&self.app, &self.tenant, id).await? {
                    // Without a receiver the reader ends, too.
                    return Ok(());
                }
                tally.merge(self.decide_part(part, &mut sides).await?);
                let report = tally.report(false);
                progress.send_modify(|progress| progress.report = report);
            }
            let report = tally.report(true);
            progress.send_modify(|progress| progress.report = report);
            Ok(())
        };
        let (silent, ()) = tokio::try_join!(self.read(sender, awaited), decide)?;
        Ok(silent)
    }

    /// Sends the record in parts, as long as somebody takes them. Returns the number of replicas whose records are missing.
    async fn read(
        &self,
        parts: mpsc::Sender<Part>,
        awaited: &Awaited,
    ) -> Result<usize, OperationError> {
        let (sender, mut size) = (parts.clone(), FIRST_PART);
        let add = move |part: &mut Part, record: RawRecord<'_>| {
            part.add(record.json);
            if part.ends.len() < size && part.text.len() < PART_BYTES {
                return ControlFlow::Continue(());
            }
            size = MAX_PART.min(2 * size);
            match sender.blocking_send(mem::take(part)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let (span, first, awaited) = (DecisionSpan::default(), Part::default(), awaited.clone());
        let limit = ReadLimit::new(Duration::MAX, move || awaited.check().is_ok());
        let read = log(&self.app)?.visit(&self.tenant, &self.selection, span, limit, first, add);
        let Visited { into: last, silent, .. } = read.await.map_err(unreadable)?;
        // Nobody takes it if nobody waits any more.
        let _ = parts.send(last).await;
        Ok(silent)
    }

    async fn decide_part(
        &self,
        part: Part,
        sides: &mut RecordedSides,
    ) -> Result<Tally, OperationError> {
        let (first, second) = part.halves();
        let first = self.with_sides(first, sides).await?;
        let second = self.with_sides(second, sides).await?;
        let (mut first, second) = tokio::try_join!(self.decide(first), self.decide(second))?;
        first.merge(second);
        Ok(first)
    }

    /// Adds the rules that decided each record; `None` if it cannot be read, or they are not kept.
    async fn with_sides(
        &self,
        part: Part,
        sides: &mut RecordedSides,
    ) -> Result<(Part, Vec<Option<Arc<Side>>>), OperationError> {
        let read = move || (part.revisions(), part);
        let (revisions, part) = self.app.replays.queue.run(&self.tenant, read).await?;
        let mut all = Vec::with_capacity(revisions.len());
        for revision in revisions {
            all.push(match revision {
                Some(revision) => sides.get(&self.app, &self.tenant, revision).await?,
                None => None,
            });
        }
        Ok((part, all))
    }

    /// Decides records when it is the turn of the tenant.
    async fn decide(
        &self,
        (part, sides): (Part, Vec<Option<Arc<Side>>>),
    ) -> Result<Tally, OperationError> {
        let (candidate, has_directory) = (self.candidate.clone(), self.has_directory);
        let decide = move || decide(part.texts().zip(&sides), &candidate.0, has_directory);
        self.app.replays.queue.run(&self.tenant, decide).await
    }
}

/// Decides each record again.
fn decide<'p>(
    records: impl Iterator<Item = (&'p [u8], &'p Option<Arc<Side>>)>,
    candidate: &Side,
    has_directory: bool,
) -> Tally {
    let mut tally = Tally::default();
    let (mut inputs, mut sides) = (Vec::new(), Vec::new());
    for (text, side) in records {
        match RecordedInputs::read(text).ok().zip(side.as_ref()) {
            Some((readable, side)) => {
                inputs.push(readable);
                sides.push(side);
            }
            None => tally.add_not_replayable(),
        }
    }
    let directory = RecordedDirectory::new(&inputs);
    for (place, (inputs, side)) in inputs.iter().zip(sides).enumerate() {
        let compared = compare(inputs, directory.known(place), (side, candidate), has_directory);
        tally.add(inputs, compared);
    }
    tally
}
