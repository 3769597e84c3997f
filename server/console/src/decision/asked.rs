//! A check that is decided and explained for a page. Nothing is recorded.

use portcullis_engine::fields::Body;
use portcullis_engine::{CheckKind, json as strict_json};
use portcullis_http::error::ApiError;
use portcullis_model::explained_check::ExplainedCheckBody;
use portcullis_operations::checks::{self, CheckAnswer, CheckOptions};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::min_revisions::MinRevisions;
use serde_json::{Value, json};

use super::copies::Question;
use crate::visit::Visit;

/// A check with its answer.
pub(crate) struct AskedCheck {
    subject: String,
    action: String,
    resource: String,
    domain: String,
    attributes: Value,
    pub(crate) answer: CheckAnswer,
    /// The explanation, as the API shows it.
    pub(crate) explanation: Value,
}

impl AskedCheck {
    /// Decides and explains the check of a body of `POST /api/v1/check?explain=true`.
    ///
    /// # Errors
    /// The body is wrong, or the check cannot be decided.
    pub(crate) async fn of(visit: &Visit, body: &str) -> Result<Self, ApiError> {
        let json = strict_json::parse(body.as_bytes())?;
        let ExplainedCheckBody { check, now, relations, at_revision } =
            ExplainedCheckBody::parse(&json)?;
        let options = CheckOptions {
            explain: true,
            now,
            assumed: (&relations).into(),
            at_revision,
            ..CheckOptions::present(CheckKind::Combined, MinRevisions::default())
        };
        let decided = checks::check(&visit.app, &visit.caller, check, options).await?;
        let explained = decided.explained(|explained| serde_json::to_value(explained)).transpose();
        let explanation = explained.map_err(|error| OperationError::Internal(error.into()))?;
        // For the copies of the question, which have the attributes as they were sent.
        let sent: Value = serde_json::from_str(body).unwrap_or_default();
        Ok(Self {
            subject: decided.check.subject.to_owned(),
            action: decided.check.action.text().into_owned(),
            resource: decided.check.resource.to_owned(),
            domain: decided.check.domain.to_owned(),
            attributes: sent.get("attributes").cloned().unwrap_or_else(|| json!({})),
            explanation: explanation.unwrap_or_default(),
            answer: decided.answer,
        })
    }

    /// Returns the question.
    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            subject: &self.subject,
            action: &self.action,
            resource: &self.resource,
            domain: &self.domain,
            attributes: &self.attributes,
        }
    }
}
