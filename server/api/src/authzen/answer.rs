//! The answers of AuthZEN evaluations (`docs/semantics.md`, section 11.7).

use std::collections::BTreeMap;

use portcullis_auth::CheckCaller;
use portcullis_engine::{Effect, Invalid};
use portcullis_operations::app::App;
use serde::Serialize;
use utoipa::ToSchema;

use super::topic::Topic;

/// The key of a reason: the status of HTTP that a denial would have.
const FORBIDDEN: &str = "403";

/// The decision of an evaluation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(json!({"decision": true})))]
pub(crate) struct EvaluationAnswer {
    pub(super) decision: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context: Option<Box<DecisionContext>>,
}

/// The context of a decision: reasons, if they were asked for, or the fault of an evaluation.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct DecisionContext {
    /// For the person who was denied, by status.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reason_user: BTreeMap<&'static str, String>,
    /// For those who manage policies, by status.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reason_admin: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<EvaluationFault>,
}

/// The fault of one evaluation of many.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EvaluationFault {
    status: u16,
    message: String,
}

/// The decisions of evaluations.
#[derive(Debug, Serialize, ToSchema)]
#[schema(examples(json!({"evaluations": [{"decision": true}, {"decision": false}]})))]
pub(crate) struct EvaluationsAnswer {
    pub(super) evaluations: Vec<EvaluationAnswer>,
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
    pub(super) fn of(app: &App, caller: &CheckCaller, domain: Option<&str>, wanted: bool) -> Self {
        let for_admins = wanted && caller.may_explain(domain, &app.manager_roles).is_ok();
        Self { wanted, for_admins }
    }
}

impl EvaluationAnswer {
    /// Returns the answer to a question about `topic`, with the reasons that the caller gets.
    pub(super) fn new(
        topic: Topic<'_>,
        effect: Effect,
        reason: Option<&str>,
        revision: u64,
        reasons: Reasons,
    ) -> Self {
        let decision = effect == Effect::Allow;
        if !reasons.wanted {
            return Self { decision, context: None };
        }
        let mut context =
            DecisionContext { policy_revision: Some(revision), ..DecisionContext::default() };
        if !decision {
            let Topic { action, kind, .. } = topic;
            let for_user = format!("the policies do not allow `{action}` on this `{kind}`");
            context.reason_user.insert(FORBIDDEN, for_user);
            if let Some(reason) = reason.filter(|_| reasons.for_admins) {
                context.reason_admin.insert(FORBIDDEN, reason.to_owned());
            }
        }
        Self { decision, context: Some(Box::new(context)) }
    }

    /// Returns the answer to an evaluation that cannot be decided.
    pub(super) fn faulty(invalid: &Invalid) -> Self {
        let error = EvaluationFault { status: 400, message: invalid.to_string() };
        let context = DecisionContext { error: Some(error), ..DecisionContext::default() };
        Self { decision: false, context: Some(Box::new(context)) }
    }
}
