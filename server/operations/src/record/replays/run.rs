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
use portcullis_storage::decision_erasures;
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::sides::CandidateSource;
use crate::record::decisions::{charge, log, unreadable};
use crate::record::recorded_sides::RecordedSides;

/// The records of the first part, whose numbers are there at once, and of the largest parts.
const FIRST_PART: usize = 512;
const MAX_PART: usize = 8_192;
/// The bytes of texts after which a part ends: a check may have a megabyte of attributes.
const PART_BYTES: usize = 1 << 20;
/// The parts that are read ahead.
const AHEAD: usize = 2;
/// The parts in memory: those, the one that is read and the one that is decided.
const PARTS: usize = AHEAD + 2;

/// The question of a replay.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) app: App,
    pub(super) tenant: String,
    pub(super) candidate: CandidateSource,
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
struct RecordTexts {
    text: Vec<u8>,
    /// The end of each text.
    ends: Vec<usize>,
}

/// Some records of a part that follow each other, with the rules that decided each; `None` if it cannot be read, or they are
/// not kept.
#[derive(Debug)]
struct DecidedRun {
    part: Arc<RecordTexts>,
    /// The place of its first record.
    start: usize,
    sides: Vec<Option<Arc<Side>>>,
}

impl DecidedRun {
    /// Returns the run of the records after these, without any.
    fn after(&self) -> Self {
        let (part, start) = (Arc::clone(&self.part), self.start + self.sides.len());
        Self { part, start, sides: Vec::new() }
    }

    fn halves(mut self) -> (Self, Self) {
        let sides = self.sides.split_off(self.sides.len() / 2);
        let second = Self { sides, ..self.after() };
        (self, second)
    }

    fn records(&self) -> impl Iterator<Item = (&[u8], &Option<Arc<Side>>)> {
        self.part.texts().skip(self.start).zip(&self.sides)
    }
}

impl RecordTexts {
    fn add(&mut self, record: &[u8]) {
        self.text.extend_from_slice(record);
        self.ends.push(self.text.len());
    }

    fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }

    /// Returns the revision of each record; `None` for one that cannot be read.
    fn revisions(&self) -> Vec<Option<i64>> {
        let decided = self.texts().map(|text| serde_json::from_slice::<Decided>(text).ok());
        decided.map(|decided| Some(decided?.revision)).collect()
    }
}

impl Replay {
    /// Decides all records, as long as somebody waits for the outcome.
    pub(super) async fn run(self, running: RunningReplay) {
        let RunningReplay { progress, awaited, deleted, .. } = running;
        let outcome = tokio::select! {
            outcome = self.decide_in_turn(&progress, &awaited) => outcome,
            _ = deleted => return,
        };
        // Also at the end, because an erasure may have ended after the last part.
        let is_outdated = self.is_outdated(&progress).await;
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
                Some(reason(&error).to_owned())
            }
        };
        progress.send_modify(|progress| {
            progress.ended = Some(Instant::now());
            progress.report.complete &= failure.is_none();
            progress.failure = failure;
        });
    }

    /// Decides all records when it is the turn of this replay. Returns the number of replicas whose records are missing.
    async fn decide_in_turn(
        &self,
        progress: &watch::Sender<ReplayProgress>,
        awaited: &Awaited,
    ) -> Result<usize, OperationError> {
        let _turn = self.app.replays.turn(&self.tenant).await;
        let candidate = self.candidate.side(&self.app, &self.tenant).await?;
        let (sender, mut parts) = mpsc::channel(AHEAD);
        let decide = async move {
            let (mut tally, mut sides) = (Tally::default(), RecordedSides::default());
            while let Some(part) = parts.recv().await {
                if self.is_outdated(progress).await? {
                    // Without a receiver the reader ends, too.
                    return Ok(());
                }
                tally.merge(self.decide_part(part, (&mut sides, &candidate), awaited).await?);
                let report = tally.report(false);
                progress.send_modify(|progress| progress.report = report);
            }
            let report = tally.report(true);
            progress.send_modify(|progress| progress.report = report);
            Ok(())
        };
        // The record is read while parts of it are decided. An error of either ends both.
        let (silent, ()) = tokio::try_join!(self.read(sender, awaited), decide)?;
        Ok(silent)
    }

    /// Returns whether decisions about a person were erased since the replay began: its report may have some of them.
    async fn is_outdated(
        &self,
        progress: &watch::Sender<ReplayProgress>,
    ) -> Result<bool, OperationError> {
        let before = progress.borrow().erasures;
        Ok(erasures(&self.app, &self.tenant).await? != before)
    }

    /// Sends the record in parts, as long as somebody takes them. Returns the number of replicas whose records are missing.
    async fn read(
        &self,
        parts: mpsc::Sender<RecordTexts>,
        awaited: &Awaited,
    ) -> Result<usize, OperationError> {
        let (sender, mut size) = (parts.clone(), FIRST_PART);
        let (span, first) = (DecisionSpan::default(), RecordTexts::default());
        let awaited = awaited.clone();
        let limit = ReadLimit::new(Duration::MAX, move || awaited.check().is_ok());
        let mut charge = charge(&self.app, &self.tenant);
        // The parts in memory count from the beginning, beside what the log holds to read them.
        let limit = limit.charging(move |bytes| charge(PARTS * PART_BYTES + bytes));
        let read = log(&self.app)?.visit(
            &self.tenant,
            &self.selection,
            span,
            limit,
            first,
            move |part, record: RawRecord<'_>| {
                part.add(record.json);
                if part.ends.len() < size && part.text.len() < PART_BYTES {
                    return ControlFlow::Continue(());
                }
                size = MAX_PART.min(2 * size);
                match sender.blocking_send(mem::take(part)) {
                    Ok(()) => ControlFlow::Continue(()),
                    // Nobody decides further parts.
                    Err(_) => ControlFlow::Break(()),
                }
            },
        );
        let Visited { into: last, silent, .. } = read.await.map_err(unreadable)?;
        // Nobody takes it if nobody waits any more.
        let _ = parts.send(last).await;
        Ok(silent)
    }

    /// Decides the records of a part, in runs whose rules are in memory together.
    async fn decide_part(
        &self,
        part: RecordTexts,
        (sides, candidate): (&mut RecordedSides, &Arc<Side>),
        awaited: &Awaited,
    ) -> Result<Tally, OperationError> {
        let queue = &self.app.replays.queue;
        let (revisions, part) =
            queue.run(&self.tenant, move || (part.revisions(), Arc::new(part))).await?;
        let mut tally = Tally::default();
        let mut run = DecidedRun { part, start: 0, sides: Vec::new() };
        for revision in revisions {
            // The rules of this revision would take the place of others that the run needs.
            if revision.is_some_and(|revision| !sides.has_room_for(revision)) {
                let next = run.after();
                tally.merge(
                    self.decide_run(std::mem::replace(&mut run, next), candidate, awaited).await?,
                );
            }
            run.sides.push(match revision {
                Some(revision) => sides.get(&self.app, &self.tenant, revision).await?,
                None => None,
            });
        }
        tally.merge(self.decide_run(run, candidate, awaited).await?);
        Ok(tally)
    }

    /// Decides the records of a run on two threads.
    async fn decide_run(
        &self,
        run: DecidedRun,
        candidate: &Arc<Side>,
        awaited: &Awaited,
    ) -> Result<Tally, OperationError> {
        let (first, second) = run.halves();
        let first = self.decide(first, candidate, awaited);
        let second = self.decide(second, candidate, awaited);
        let (mut first, second) = tokio::try_join!(first, second)?;
        first.merge(second);
        Ok(first)
    }

    /// Decides records when it is the turn of the tenant.
    async fn decide(
        &self,
        run: DecidedRun,
        candidate: &Arc<Side>,
        awaited: &Awaited,
    ) -> Result<Tally, OperationError> {
        let (candidate, awaited) = (Arc::clone(candidate), awaited.clone());
        let has_directory = self.has_directory;
        let decided =
            self.app.replays.queue.run(&self.tenant, move || {
                decide(run.records(), &candidate, has_directory, &awaited)
            });
        decided.await
    }
}

/// Returns the reason why a replay ended, for its report.
fn reason(error: &OperationError) -> &'static str {
    match error {
        OperationError::NotFound(_) | OperationError::Conflict(_) | OperationError::Invalid(_) => {
            "the candidate is gone, or does not fit the content any more; repeat the replay"
        }
        _ => {
            "the record or the rules could not be read, or had no room in memory; the log of the service says why"
        }
    }
}

/// Decides each record again, as long as the outcome is awaited.
fn decide<'p>(
    records: impl Iterator<Item = (&'p [u8], &'p Option<Arc<Side>>)>,
    candidate: &Side,
    has_directory: bool,
    awaited: &Awaited,
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
        // A plan of many policies takes a second.
        if awaited.check().is_err() {
            break;
        }
        let compared = compare(inputs, directory.known(place), (side, candidate), has_directory);
        tally.add(inputs, compared);
    }
    tally
}

/// Returns the number of the ended erasures of `tenant`.
///
/// # Errors
/// The store failed.
pub(super) async fn erasures(app: &App, tenant: &str) -> Result<i64, OperationError> {
    Ok(app.store.read(tenant, async |tx| decision_erasures::ends(tx).await).await?)
}

#[cfg(test)]
mod tests {
    use portcullis_bundle::Rulebook;
    use portcullis_model::decision_log::DecisionLogSettings;

    use super::*;

    /// A record of a check that no rule allowed.
    const DENIED: &str = r#"{"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b70", "time": "2026-05-16T09:30:00.000Z",
        "tenant": "acme", "revision": 1, "entities_revision": 0, "via": "check", "request_id": "r", "subject": "ann",
        "domain": "acme", "resource": "doc:read", "action": "read", "attributes": {}, "decision": "deny",
        "rule": "default-deny", "reason": "", "undetermined": [], "us": 1}"#;

    fn run(records: usize) -> DecidedRun {
        let mut part = RecordTexts::default();
        (0..records).for_each(|_| part.add(DENIED.as_bytes()));
        let rulebook = Rulebook::from_stored(Vec::new(), Vec::new());
        let side = Arc::new(Side::new(rulebook, Vec::new(), &DecisionLogSettings::default()));
        DecidedRun { part: Arc::new(part), start: 0, sides: vec![Some(side); records] }
    }

    #[test]
    fn a_replay_that_nobody_waits_for_decides_nothing_more() {
        let run = run(3);
        let candidate = run.sides[0].clone().expect("rules");
        let wanted = Arc::new(());
        let awaited = Awaited::while_held(&wanted);
        let replayed = || decide(run.records(), &candidate, false, &awaited).report(true).replayed;
        assert_eq!(replayed(), 3);
        drop(wanted);
        assert_eq!(replayed(), 0);
    }

    #[test]
    fn the_halves_of_a_run_have_each_record_once() {
        let whole = run(5);
        let (first, second) = run(5).halves();
        assert_eq!((first.records().count(), second.records().count()), (2, 3));
        assert_eq!(second.after().start, whole.part.ends.len());
    }
}
