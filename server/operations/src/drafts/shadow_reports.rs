//! The use case of comparisons with drafts in shadow (`docs/semantics.md`, section 18.3).

use portcullis_auth::Manager;
use portcullis_model::Timestamp;
use portcullis_model::shadow::ShadowReport;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{drafts, shadows};

/// The outcome of a comparison so far.
#[derive(Debug)]
pub struct ShadowOutcomes {
    /// The instant from which on checks are compared.
    pub since: Timestamp,
    pub report: ShadowReport,
    /// The reason why no check is compared; `None` if checks are.
    pub fault: Option<String>,
}

/// Returns what came of the comparison of checks with a draft so far.
///
/// # Errors
/// The tenant has no such draft, it is not in shadow, or the store failed.
pub async fn get(
    app: &App,
    caller: &Manager,
    name: &str,
) -> Result<ShadowOutcomes, OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let draft = drafts::find(&mut tx, name).await?;
    let row = shadows::find(&mut tx).await?;
    tx.end().await?;
    let draft = draft.ok_or(OperationError::NotFound("draft"))?;
    let Some(row) = row.filter(|row| row.name == name) else {
        let what = format!("the draft `{name}` is not in shadow; store it with `shadow: true`");
        return Err(OperationError::Conflict(what));
    };
    let report = app.shadow_report(&row).await?;
    let own = app.shadows.get(caller.tenant()).filter(|own| own.id == row.shadow_id);
    let fault = own.and_then(|own| own.fault());
    Ok(ShadowOutcomes { since: draft.in_force_since(), report, fault })
}
