//! The use cases of the record of decisions (`docs/semantics.md`, section 17).

use portcullis_auth::CheckCaller;
use portcullis_decision_log::{DecisionLog, DecisionPage, QueryError};
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::page::{Listed, Page};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use uuid::Uuid;

/// Lists the recorded decisions of the caller's tenant that `selection` selects, newest first. A member who is no manager
/// sees those about itself.
///
/// # Errors
/// The caller may not see decisions about the selected subject, or there is no log.
pub async fn list(
    app: &App,
    caller: &CheckCaller,
    selection: DecisionSelection,
    page: Page,
) -> Result<Listed<DecisionRecord>, OperationError> {
    let selection = visible(app, caller, selection)?;
    let limit = usize::try_from(page.limit).unwrap_or_default();
    let before = Some(page.after).filter(|after| !after.is_nil());
    let page = DecisionPage { before, limit };
    log(app)?.query(caller.tenant(), &selection, page).await.map_err(unreadable)
}

/// Returns a recorded decision of the caller's tenant.
///
/// # Errors
/// There is none with this id that the caller may see, or there is no log.
pub async fn find(
    app: &App,
    caller: &CheckCaller,
    id: Uuid,
) -> Result<DecisionRecord, OperationError> {
    let selection = visible(app, caller, DecisionSelection::default())?;
    let found = log(app)?.find(caller.tenant(), id).await.map_err(unreadable)?;
    let found = found.filter(|record| selection.selects(record));
    found.ok_or(OperationError::NotFound("decision"))
}

/// Returns `selection` without what the caller may not see.
///
/// # Errors
/// It selects decisions about a subject that the caller may not see.
fn visible(
    app: &App,
    caller: &CheckCaller,
    mut selection: DecisionSelection,
) -> Result<DecisionSelection, OperationError> {
    if selection.subject.is_none() && caller.may_search(None, None, &app.manager_roles).is_err() {
        selection.subject = caller.subject().map(str::to_owned);
    }
    caller.may_search(selection.subject.as_deref(), None, &app.manager_roles)?;
    Ok(selection)
}

fn log(app: &App) -> Result<&DecisionLog, OperationError> {
    let recorder = app.recorder.as_ref();
    recorder.map(|recorder| recorder.log()).ok_or_else(|| {
        OperationError::Conflict(
            "the service keeps no record of decisions: the operator sets `DECISION_LOG_BUFFER`"
                .to_owned(),
        )
    })
}

fn unreadable(error: QueryError) -> OperationError {
    match error {
        QueryError::Stopping(stopping) => stopping.into(),
        error => OperationError::Internal(error.into()),
    }
}
