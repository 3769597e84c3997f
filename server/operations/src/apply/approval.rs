//! The approval of a proposal by a second manager (`docs/semantics.md`, section 10.10).

use portcullis_auth::Manager;
use portcullis_bundle::DocumentContext;
use portcullis_engine::json;
use portcullis_model::apply::ApplyAnswer;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use tokio::time::Instant;
use uuid::Uuid;

use super::proposals;
use super::request::ApplyRequest;
use super::run::{ApplyMode, apply};

/// Approves a proposal: applies its request, if the content is the one that the proposer saw.
///
/// Modules must be in memory before `ready_by`.
///
/// # Errors
/// The tenant has no such proposal, it is not open, the caller proposed it, or the apply is refused.
pub async fn approve(
    app: &App,
    caller: &Manager,
    id: Uuid,
    ready_by: Instant,
) -> Result<ApplyAnswer, OperationError> {
    // The request takes as much memory as it took when it was sent.
    let _turn = app.uploads.begin(caller.tenant()).await?;
    let (record, stored) = proposals::open_request(app, caller, id).await?;
    let (domain, body) = (stored.domain.clone(), stored.body);
    let egress = app.egress.rules.clone();
    let parsed = app.compilations.run(caller.tenant(), move || -> Result<_, OperationError> {
        let context = DocumentContext { domain: &domain, egress: &egress };
        Ok(ApplyRequest::parse(&json::parse(&body)?, context)?)
    });
    let mut request = parsed.await??;
    // The fingerprint says what matters of the state that the proposer saw.
    request.expect_revision = None;
    request.expect_fingerprint = Some(record.fingerprint.clone());
    apply(app, caller, &request, &stored.domain, ApplyMode::Approval(&record), ready_by).await
}
