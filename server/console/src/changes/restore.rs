//! The restoration of a revision: what it would change, and the button.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_engine::json;
use portcullis_http::error::ApiError;
use portcullis_model::apply::ApplyAnswer;
use portcullis_model::input::DeclaredBody;
use portcullis_model::revision::RestoreBody;
use portcullis_operations::apply::{Replacement, replace};
use portcullis_operations::etag::Precondition;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::BrokenOff;
use serde_json::json;

use super::diff::number;
use super::flips::Flips;
use super::table::ChangeTable;
use super::tabs;
use crate::decision::copies::AsApi;
use crate::fields::Fault;
use crate::lists::Tab;
use crate::pages::{PageWriter, stream};
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "restore.html")]
struct RestorePage {
    tabs: Vec<Tab>,
    fault: Option<Fault>,
    number: u64,
    /// The plan; `None` if the revision cannot be restored.
    plan: Option<Plan>,
}

/// The last part of the page.
#[derive(Template)]
#[template(path = "restore_form.html")]
struct RestoreForm {
    /// The revision of the preview; `None` if there is nothing to restore.
    revision: Option<u64>,
    action: String,
    message: String,
    csrf: String,
    api: AsApi,
}

/// The line in place of the decisions that would flip.
#[derive(Template)]
#[template(
    source = "<p class=\"soft\">Which decisions would flip is not known: {{ message }}</p>",
    ext = "html"
)]
struct NotCompared {
    message: String,
}

struct Plan {
    answer: ApplyAnswer,
    table: ChangeTable,
}

/// Shows what the restoration would change.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let number = number(&visit, "n")?;
    let planned = plan(&visit, &manager, number).await;
    show((visit, manager), number, planned, None, String::new())
}

/// Restores a revision, if the content is still the one of the preview.
pub(crate) async fn restore(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let number = number(&visit, "n")?;
    let message = visit.form.get("message").unwrap_or_default().trim().to_owned();
    match carry_out(&visit, &manager, number, &message).await {
        Ok(answer) => Ok(match answer.proposal {
            Some(proposal) => visit.done(&format!("proposals/{}", proposal.id), "proposed"),
            None => visit.done("changes", "restored"),
        }),
        Err(error) => {
            let fault = Fault::of(&visit, error)?;
            // A new plan: the content may be another one than that of the preview.
            let planned = plan(&visit, &manager, number).await;
            show((visit, manager), number, planned, Some(fault), message)
        }
    }
}

async fn plan(visit: &Visit, manager: &Manager, revision: u64) -> Result<Plan, ApiError> {
    let precondition = Precondition::None;
    let past = Replacement::Revision { revision, precondition: &precondition, message: None };
    let ready_by = visit.context.deadline.instant();
    let answer = replace(&visit.app, manager, past, true, ready_by).await?;
    Ok(Plan { table: ChangeTable::of_plan(&answer.changes), answer })
}

async fn carry_out(
    visit: &Visit,
    manager: &Manager,
    revision: u64,
    message: &str,
) -> Result<ApplyAnswer, ApiError> {
    let body = if message.is_empty() { json!({}) } else { json!({"message": message}) };
    let text = body.to_string();
    let body = RestoreBody::parse(&json::parse(text.as_bytes())?)?;
    let seen = visit.form.get("revision").unwrap_or_default();
    // The entity tag of the preview: another revision since then is refused.
    let precondition = Precondition::OneOf(vec![format!("\"{seen}\"")]);
    let message = body.message.as_deref();
    let past = Replacement::Revision { revision, precondition: &precondition, message };
    let ready_by = visit.context.deadline.instant();
    Ok(replace(&visit.app, manager, past, false, ready_by).await?)
}

/// Shows the plan, then the decisions that would flip, then the button.
fn show(
    (visit, manager): (Visit, Manager),
    number: u64,
    planned: Result<Plan, ApiError>,
    fault: Option<Fault>,
    message: String,
) -> Result<Response, ApiError> {
    let (plan, fault) = match (planned, fault) {
        // After a refused restoration the page has both: the fault, and the plan for the present content.
        (Ok(plan), fault) => (Some(plan), fault),
        (Err(_), Some(fault)) => (None, Some(fault)),
        (Err(error), None) if error.status() == http::StatusCode::NOT_FOUND => return Err(error),
        (Err(error), None) => (None, Some(Fault::of(&visit, error)?)),
    };
    let status = fault.as_ref().map(|fault| fault.status);
    let route = "/api/v1/revisions/{n}/restore";
    let changing = plan.as_ref().filter(|plan| !plan.answer.changes.is_empty());
    let form = RestoreForm {
        revision: changing.map(|plan| plan.answer.revision),
        action: visit.page(&format!("changes/{number}/restore/restore")),
        message,
        csrf: visit.frame.csrf().to_owned(),
        api: AsApi::post(&visit.address, route, "{}").at(&[("{n}", number)]),
    };
    let content = RestorePage { tabs: tabs(&visit, "changes"), fault, number, plan };
    let title = format!("Restore revision {number}");
    let mut answer = stream(visit, &title, &content, move |visit, page| {
        write((visit, manager), number, form, page)
    })?;
    if let Some(status) = status {
        *answer.status_mut() = status;
    }
    Ok(answer)
}

async fn write(
    (visit, manager): (Visit, Manager),
    number: u64,
    form: RestoreForm,
    mut page: PageWriter,
) -> Result<PageWriter, BrokenOff> {
    if form.revision.is_some() {
        match Flips::read(&visit, &manager, number).await {
            Ok(flips) => page.part(&flips).await?,
            Err(OperationError::Conflict(message)) => page.part(&NotCompared { message }).await?,
            Err(error) => page.failed(error).await?,
        }
    }
    page.part(&form).await?;
    Ok(page)
}
