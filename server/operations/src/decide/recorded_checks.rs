//! A check that was decided, with everything that the decision was made from, for its record and its comparison.

use portcullis_auth::CheckCaller;
use portcullis_decision_log::BatchTexts;
use portcullis_engine::Decision;
use portcullis_model::decision::Via;
use portcullis_model::relation::NewTuple;
use portcullis_plan_cache::CachedPlan;
use portcullis_resolvers::AnswerOrigin;
use tokio::time::Instant;

use super::live_questions::LiveQuestion;

/// The request of checks that may be recorded and compared.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRequest<'r> {
    pub via: Via,
    pub caller: &'r CheckCaller,
    /// `None` if decisions are not recorded.
    pub log: Option<LoggedRequest<'r>>,
}

/// The members of records that are about their request.
#[derive(Clone, Copy, Debug)]
pub struct LoggedRequest<'r> {
    /// The id of the request.
    pub id: &'r str,
    /// The instant at which it began to be decided.
    pub began: Instant,
}

/// A decision, and everything that it was made from.
pub(crate) struct Made<'m> {
    pub(crate) tenant: &'m str,
    pub(crate) cached: &'m CachedPlan,
    /// The revisions of the rules and of the entities.
    pub(crate) revisions: (u64, Option<u64>),
    pub(crate) question: &'m LiveQuestion<'m>,
    pub(crate) decision: &'m Decision<'m>,
    pub(crate) origins: &'m [AnswerOrigin<'m>],
    /// The texts of the records of its batch; `None` for a check that came alone.
    pub(crate) texts: Option<&'m BatchTexts>,
    /// The tuples that counted beside the stored ones.
    pub(crate) assumed: &'m [NewTuple],
}

impl<'m> Made<'m> {
    /// Returns a decision by a plan alone, whose revision is its own, on a check that came alone and assumes no tuples.
    pub(crate) fn new(
        tenant: &'m str,
        cached: &'m CachedPlan,
        question: &'m LiveQuestion<'m>,
        decision: &'m Decision<'m>,
        origins: &'m [AnswerOrigin<'m>],
    ) -> Self {
        let revisions = (cached.revision(), question.facts.revision());
        let (texts, assumed) = (None, &[][..]);
        Self { tenant, cached, revisions, question, decision, origins, texts, assumed }
    }
}
