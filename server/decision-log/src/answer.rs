//! Answers to other replicas: the records in the write-ahead files of this process.

use std::ops::ControlFlow;

use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use uuid::Uuid;

use crate::at_rest::ArchiveError;
use crate::frame::{self, Kind};
use crate::log::DecisionLog;
use crate::others::Others;
use crate::question::{RecordQuestion, Wants};
use crate::reading::{DecisionSpan, PageRoom, RawRecord};

/// The most bytes of an answer. If there are more, the records are sealed first, where whoever asked reads them.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// The records of an answer.
#[derive(Debug, Default)]
struct Answer {
    frames: Vec<u8>,
    records: usize,
    is_full: bool,
}

impl DecisionLog {
    /// Returns the number by which other replicas know this one; `None` if there are no others.
    pub fn number(&self) -> Option<i32> {
        self.others().map(Others::number)
    }

    /// Notes that the replica with this number answered a question of this process.
    pub fn hear(&self, question: Uuid, replica: i64) {
        if let Some(others) = self.others() {
            others.hear(question, replica);
        }
    }

    /// Answers what a replica asks in `question`, unless it is this process itself. A failure is logged: whoever asks
    /// notices that there is no answer.
    pub async fn answer(&self, question: &str) {
        // A later version may ask what this one does not know.
        let Ok(question) = serde_json::from_str::<RecordQuestion>(question) else { return };
        let Some(others) = self.others().filter(|others| others.number() != question.by) else {
            return;
        };
        // Too many questions run at once: the replica that asks counts this one as silent.
        let Ok(_turn) = others.answering.begin(&question.tenant).await else { return };
        let (frames, complete) = match self.answer_to(&question).await {
            Ok(frames) => (frames, true),
            Err(error) => {
                tracing::warn!(%error, "cannot give another replica all decisions that it asks for");
                (Vec::new(), false)
            }
        };
        let at = self.now();
        if let Err(error) = others.answer(&question, frames, complete, at).await {
            tracing::warn!(%error, "cannot answer another replica");
        }
    }

    async fn answer_to(&self, question: &RecordQuestion) -> Result<Vec<u8>, ArchiveError> {
        let Wants::Records { selection, span } = &question.wants else {
            self.seal().await?;
            return Ok(Vec::new());
        };
        self.flush().await;
        let first = self.own(&question.tenant, selection, *span).await?;
        if !first.is_full {
            return Ok(first.frames);
        }
        self.seal().await?;
        // The write-ahead files have only what came after the sealing.
        let rest = self.own(&question.tenant, selection, *span).await?;
        if rest.is_full { Err(ArchiveError::Busy) } else { Ok(rest.frames) }
    }

    /// Returns the records of the write-ahead files.
    async fn own(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        span: DecisionSpan,
    ) -> Result<Answer, ArchiveError> {
        let (name, limit) = (tenant.to_owned(), span.limit.unwrap_or(usize::MAX));
        let mut room = PageRoom::new(span.bytes);
        // More is not read, because it is not sent.
        let bytes = Some(span.bytes.map_or(MAX_ANSWER, |bytes| bytes.min(MAX_ANSWER)));
        let span = DecisionSpan { bytes, ..span };
        self.visit_buffered(tenant, selection, span, Answer::default(), move |answer, record| {
            answer.add(&name, record);
            let is_enough = !room.take(record.json.len()) || answer.records >= limit;
            match answer.is_full || is_enough {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
        .await
    }

    fn now(&self) -> Timestamp {
        self.keeper().map_or(Timestamp::from_millis(0), |keeper| keeper.now())
    }
}

impl Answer {
    fn add(&mut self, tenant: &str, record: RawRecord<'_>) {
        let start = self.frames.len();
        // The kind matters to files alone: whoever asked reads only the id, the tenant and the text.
        let head = (Kind::Async, record.id, tenant);
        frame::begin(&mut self.frames, head, |out| out.extend_from_slice(record.json));
        frame::finish(&mut self.frames[start..]);
        self.records += 1;
        self.is_full = self.frames.len() > MAX_ANSWER;
    }
}
