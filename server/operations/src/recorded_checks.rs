//! A check that was decided, with everything that the decision was made from, for its record and its comparison.

use portcullis_auth::CheckCaller;
use portcullis_decision_log::BatchTexts;
use portcullis_engine::{AttributeAnswers, Check, Decision, Supply};
use portcullis_model::decision::Via;
use portcullis_plan_cache::CachedPlan;
use portcullis_resolvers::AnswerOrigin;
use tokio::time::Instant;

use crate::directory::NeededEntities;

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
    pub(crate) entities: &'m NeededEntities,
    /// The check as it was sent.
    pub(crate) sent: &'m Check<'m>,
    /// The check with what the directory supplies.
    pub(crate) completed: &'m Check<'m>,
    pub(crate) supply: Option<&'m Supply<'m>>,
    pub(crate) decision: &'m Decision<'m>,
    /// The answers of relations and resolvers.
    pub(crate) answers: &'m AttributeAnswers,
    pub(crate) origins: &'m [AnswerOrigin<'m>],
    /// The texts of the records of its batch; `None` for a check that came alone.
    pub(crate) texts: Option<&'m BatchTexts>,
}
