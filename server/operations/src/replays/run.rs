//! A replay that runs: reads parts of the record, newest first, and decides each on two threads.

use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use portcullis_decision_log::{DecisionSpan, RawRecord, Visited};
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_replay::{RecordedDirectory, RecordedInputs, Side, Tally, compare};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::replays::{ReplayProgress, RunningReplay};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::sides::CandidateSide;
use crate::decisions::{log, unreadable};
use crate::recorded_sides::RecordedSides;

/// The records of the first part, whose numbers are there at once, and of the largest ones.
const FIRST_PART: usize = 512;
const MAX_PART: usize = 8_192;
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

/// A record with the rules that decided it. It is `None` if it cannot be read, they are if they are not kept.
type Sided = (Option<DecisionRecord>, Option<Arc<Side>>);

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

    /// Returns each record; `None` for one that cannot be read.
    fn records(&self) -> Vec<Option<DecisionRecord>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let texts = starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end]);
        texts.map(|text| serde_json::from_slice(text).ok()).collect()
    }
}

impl Replay {
    /// Decides all records, as long as somebody waits for the outcome.
    pub(super) async fn run(self, running: RunningReplay) {
        let RunningReplay { progress, awaited, .. } = running;
        let failure = match self.decide_all(&progress, || awaited.check()).await {
            Ok(()) => None,
            // Nobody sees it if nobody waits.
            Err(error) => {
                tracing::warn!(tenant = self.tenant, %error, "a replay failed");
                Some("the record or the rules could not be read; the log of the service says why")
            }
        };
        progress.send_modify(|progress| {
            progress.ended = Some(Instant::now());
            progress.failure = failure.map(str::to_owned);
        });
    }

    async fn decide_all(
        &self,
        progress: &watch::Sender<ReplayProgress>,
        is_wanted: impl Fn() -> Result<(), OperationError>,
    ) -> Result<(), OperationError> {
        let (sender, mut parts) = mpsc::channel(AHEAD);
        let decide = async move {
            let (mut tally, mut sides) = (Tally::default(), RecordedSides::default());
            while let Some(part) = parts.recv().await {
                if is_wanted().is_err() {
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
        let (silent, ()) = tokio::try_join!(self.read(sender), decide)?;
        if silent > 0 {
            progress.send_modify(|progress| progress.report.complete = false);
        }
        Ok(())
    }

    /// Sends the record in parts, as long as somebody takes them. Returns the number of replicas whose records are missing.
    async fn read(&self, parts: mpsc::Sender<Part>) -> Result<usize, OperationError> {
        let (sender, mut size) = (parts.clone(), FIRST_PART);
        let add = move |part: &mut Part, record: RawRecord<'_>| {
            part.add(record.json);
            if part.ends.len() < size {
                return ControlFlow::Continue(());
            }
            size = MAX_PART.min(2 * size);
            match sender.blocking_send(mem::take(part)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let (span, first) = (DecisionSpan::default(), Part::default());
        let read = log(&self.app)?.visit(&self.tenant, &self.selection, span, first, add);
        let Visited { into: last, silent } = read.await.map_err(unreadable)?;
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
        let (first, second) = tokio::try_join!(self.parse(first), self.parse(second))?;
        let [first, second] =
            [self.with_sides(first, sides).await?, self.with_sides(second, sides).await?];
        let (mut first, second) = tokio::try_join!(self.decide(first), self.decide(second))?;
        first.merge(second);
        Ok(first)
    }

    /// Reads the texts of records when it is the turn of the tenant.
    async fn parse(&self, part: Part) -> Result<Vec<Option<DecisionRecord>>, OperationError> {
        self.app.replays.queue.run(&self.tenant, move || part.records()).await
    }

    async fn with_sides(
        &self,
        records: Vec<Option<DecisionRecord>>,
        sides: &mut RecordedSides,
    ) -> Result<Vec<Sided>, OperationError> {
        let mut sided = Vec::with_capacity(records.len());
        for record in records {
            let side = match &record {
                Some(record) => sides.get(&self.app, &self.tenant, record.revision).await?,
                None => None,
            };
            sided.push((record, side));
        }
        Ok(sided)
    }

    /// Decides records when it is the turn of the tenant.
    async fn decide(&self, records: Vec<Sided>) -> Result<Tally, OperationError> {
        let (candidate, has_directory) = (self.candidate.clone(), self.has_directory);
        let decide = move || decide(&records, &candidate.0, has_directory);
        self.app.replays.queue.run(&self.tenant, decide).await
    }
}

/// Decides each record again.
fn decide(records: &[Sided], candidate: &Side, has_directory: bool) -> Tally {
    let mut tally = Tally::default();
    let mut readable = Vec::with_capacity(records.len());
    for (record, side) in records {
        let inputs = record.as_ref().and_then(|record| RecordedInputs::read(record).ok());
        match inputs.zip(side.as_ref()) {
            Some(readable_one) => readable.push(readable_one),
            None => tally.add_not_replayable(),
        }
    }
    let (inputs, sides): (Vec<_>, Vec<_>) = readable.into_iter().unzip();
    let directory = RecordedDirectory::of(&inputs);
    for (place, (inputs, side)) in inputs.iter().zip(sides).enumerate() {
        let compared = compare(inputs, directory.known(place), (side, candidate), has_directory);
        tally.add(inputs.record(), compared);
    }
    tally
}
