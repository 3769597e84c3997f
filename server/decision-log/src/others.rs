//! Records that are in the write-ahead files of other replicas: they are asked when somebody reads, by PostgreSQL, where
//! replicas know of each other. Nothing is sent while nobody reads, or while one replica runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_fairness::{TurnLimits, TurnQueue};
use portcullis_model::Timestamp;
use portcullis_storage::record_answers::{self, RecordAnswer};
use portcullis_storage::{Store, StoreError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::frame::{self, Frame};
use crate::question::{RecordQuestion, Wants};
use crate::reading::QueryError;

/// The longest wait for the answers about records. A replica that is alive takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest wait until other replicas have sealed their records.
const REST_PATIENCE: Duration = Duration::from_secs(20);

/// The questions of a process to the other replicas.
#[derive(Debug)]
pub(crate) struct Others {
    store: Store,
    /// The number of this replica.
    number: i32,
    /// The replicas that answered each question so far.
    answered: Mutex<BTreeMap<Uuid, Arc<Answered>>>,
    asking: TurnQueue,
    pub(crate) answering: TurnQueue,
}

#[derive(Debug, Default)]
struct Answered {
    replicas: Mutex<BTreeSet<i64>>,
    changed: Notify,
}

/// The answers of the other replicas.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Frames of records.
    pub(crate) frames: Vec<Vec<u8>>,
    /// The replicas whose records are not all there.
    pub(crate) silent: usize,
}

/// A question that waits for answers; nobody hears them once it is dropped.
struct Waiting<'o> {
    others: &'o Others,
    question: Uuid,
    answered: Arc<Answered>,
}

impl Others {
    pub(crate) fn new(store: Store) -> Self {
        // An answer has up to 4 MiB, and each replica sends one.
        let limits = TurnLimits {
            at_once: 16,
            per_tenant: 4,
            pending_per_tenant: 64,
            waiting: 1_024,
            wait: Some(Duration::from_secs(5)),
            ..TurnLimits::NONE
        };
        let number = fastrand::i32(1..);
        let answering = TurnLimits { at_once: 4, per_tenant: 2, ..limits };
        let (asking, answering) = (TurnQueue::new(limits), TurnQueue::new(answering));
        Self { store, number, answered: Mutex::default(), asking, answering }
    }

    /// Returns the number of this replica.
    pub(crate) fn number(&self) -> i32 {
        self.number
    }

    /// Asks the other replicas about `tenant`.
    ///
    /// # Errors
    /// Too many questions wait, or the database failed.
    pub(crate) async fn ask(&self, tenant: &str, wants: Wants) -> Result<Heard, QueryError> {
        let _turn = self.asking.begin(tenant).await?;
        let patience = if matches!(wants, Wants::Sealed) { REST_PATIENCE } else { PATIENCE };
        let question = RecordQuestion::new(self.number, tenant, wants);
        let Some(payload) = question.payload() else { return Ok(Heard::default()) };
        // This comes before the question is sent, so that no answer is missed.
        let waiting = Waiting::begin(self, question.id);
        let replicas = self.store.ask_replicas(self.number, &payload).await?;
        if replicas.is_empty() {
            return Ok(Heard::default());
        }
        let deadline = Instant::now() + patience;
        while !waiting.has_all(&replicas) {
            if timeout_at(deadline, waiting.answered.changed.notified()).await.is_err() {
                break;
            }
        }
        let answers = self.take(tenant, question.id).await?;
        let complete = answers.iter().filter(|answer| answer.complete).count();
        let silent = replicas.len().saturating_sub(complete);
        if silent > 0 {
            tracing::warn!(
                silent,
                "replicas do not answer: decisions that they recorded are missing in an answer"
            );
        }
        let frames = answers.into_iter().map(|answer| answer.records).collect();
        Ok(Heard { frames, silent })
    }

    /// Takes the answers out of the database.
    async fn take(&self, tenant: &str, question: Uuid) -> Result<Vec<RecordAnswer>, StoreError> {
        let mut tx = self.store.write_as(tenant).await?;
        let answers = record_answers::list(&mut tx, question).await?;
        if !answers.is_empty() {
            record_answers::remove(&mut tx, question).await?;
        }
        tx.commit().await?;
        Ok(answers)
    }

    /// Answers a question of another replica.
    pub(crate) async fn answer(
        &self,
        question: &RecordQuestion,
        records: Vec<u8>,
        complete: bool,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let answer = RecordAnswer { replica: i64::from(self.number), complete, records };
        let mut tx = self.store.write_as(&question.tenant).await?;
        record_answers::add(&mut tx, question.id, &answer, at).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Notes that a replica answered.
    pub(crate) fn hear(&self, question: Uuid, replica: i64) {
        if let Some(answered) = self.answered.lock().get(&question) {
            answered.replicas.lock().insert(replica);
            answered.changed.notify_one();
        }
    }
}

impl<'o> Waiting<'o> {
    fn begin(others: &'o Others, question: Uuid) -> Self {
        let answered = Arc::default();
        others.answered.lock().insert(question, Arc::clone(&answered));
        Self { others, question, answered }
    }

    fn has_all(&self, replicas: &[i64]) -> bool {
        let answered = self.answered.replicas.lock();
        replicas.iter().all(|replica| answered.contains(replica))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.others.answered.lock().remove(&self.question);
    }
}

impl Heard {
    /// Returns the bytes of all frames.
    pub(crate) fn bytes(&self) -> usize {
        self.frames.iter().map(Vec::len).sum()
    }

    /// Passes each record to `visit`, and frees the answers that are read.
    pub(crate) fn each(self, mut visit: impl FnMut(Frame<'_>)) {
        let mut buffer = Vec::new();
        for frames in self.frames {
            let mut frames = frames.as_slice();
            // Reading from memory does not fail: this ends at the end, or at a frame that is not sound.
            while let Ok(Some(_)) = frame::read(&mut frames, &mut buffer) {
                if let Some(frame) = Frame::parse(&buffer) {
                    visit(frame);
                }
            }
        }
    }
}
