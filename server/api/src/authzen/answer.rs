//! The answers of AuthZEN evaluations (`docs/semantics.md`, section 11.7).

use std::fmt;

use portcullis_auth::CheckCaller;
use portcullis_engine::Effect;
use portcullis_runtime::app::App;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;
use uuid::Uuid;

use super::scope::QuestionFault;
use super::topic::Topic;

/// The key of a reason: the status of HTTP that a denial would have.
const FORBIDDEN: &str = "403";

/// The decision of an evaluation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(json!({"decision": true})))]
pub(crate) struct EvaluationAnswer<'q> {
    pub(super) decision: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<DecisionContext<'q>>,
}

/// The context of a decision: reasons, if they were asked for, or the fault of an evaluation.
///
/// It borrows what it names, and words it when it is written: a long type that ten thousand evaluations have in common is in
/// memory once.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct DecisionContext<'q> {
    /// For the person who was denied, by status.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "by_status")]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    reason_user: Option<ReasonForUser<'q>>,
    /// For those who manage policies, by status.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "by_status")]
    #[schema(value_type = BTreeMap<String, String>, required = false)]
    reason_admin: Option<&'q str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_revision: Option<u64>,
    /// The id of the record, if the decision is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<EvaluationFault<'q>>,
}

/// The reason of a denial, for the person who was denied.
#[derive(Debug)]
struct ReasonForUser<'q>(Topic<'q>);

impl fmt::Display for ReasonForUser<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Topic { action, kind, .. } = self.0;
        write!(f, "the policies do not allow `{action}` on this `{kind}`")
    }
}

/// Writes a reason below its status.
fn by_status<S: Serializer>(
    reason: &Option<impl fmt::Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut by_status = serializer.serialize_map(Some(1))?;
    if let Some(reason) = reason {
        by_status.serialize_entry(FORBIDDEN, &format_args!("{reason}"))?;
    }
    by_status.end()
}

/// The fault of one evaluation of many.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvaluationFault<'q> {
    status: u16,
    #[serde(serialize_with = "worded")]
    #[schema(value_type = String)]
    message: &'q QuestionFault,
}

/// Writes the text of a fault.
fn worded<S: Serializer>(fault: &&QuestionFault, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(fault)
}

/// The decisions of evaluations.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(json!({"evaluations": [{"decision": true}, {"decision": false}]})))]
pub(crate) struct EvaluationsAnswer<'q> {
    pub(super) evaluations: Vec<EvaluationAnswer<'q>>,
}

/// The reasons that the caller gets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reasons {
    /// Whether the caller asked for reasons.
    wanted: bool,
    /// Whether the caller may see the names of rules and policies.
    for_admins: bool,
}

impl Reasons {
    /// Returns the reasons that `caller` gets about a check in `domain`, if they are `wanted`.
    pub(super) fn new(app: &App, caller: &CheckCaller, domain: Option<&str>, wanted: bool) -> Self {
        let for_admins = wanted && caller.may_explain(domain, &app.manager_roles).is_ok();
        Self { wanted, for_admins }
    }
}

impl<'q> EvaluationAnswer<'q> {
    /// Returns the answer to a question about `topic`, with the reasons that the caller gets.
    pub(super) fn new(
        topic: Topic<'q>,
        effect: Effect,
        reason: Option<&'q str>,
        revision: u64,
        (reasons, decision_id): (Reasons, Option<Uuid>),
    ) -> Self {
        let decision = effect == Effect::Allow;
        let recorded = DecisionContext { decision_id, ..DecisionContext::default() };
        if !reasons.wanted {
            return Self { decision, context: decision_id.map(|_| recorded) };
        }
        let mut context = DecisionContext { policy_revision: Some(revision), ..recorded };
        if !decision {
            context.reason_user = Some(ReasonForUser(topic));
            context.reason_admin = reason.filter(|_| reasons.for_admins);
        }
        Self { decision, context: Some(context) }
    }

    /// Returns the answer to an evaluation that cannot be decided.
    pub(super) fn faulty(fault: &'q QuestionFault) -> Self {
        let error = EvaluationFault { status: fault.status().as_u16(), message: fault };
        let context = DecisionContext { error: Some(error), ..DecisionContext::default() };
        Self { decision: false, context: Some(context) }
    }
}
