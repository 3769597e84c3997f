//! The page of recorded decisions.

pub(crate) mod figure;
mod filter;
pub(crate) mod table;

use axum::response::Response;
use portcullis_http::decision_events;
use portcullis_http::decision_query::DecisionQuery;
use portcullis_http::error::ApiError;
use portcullis_http::live_events::StreamTime;
use portcullis_http::paging::{PageQuery, Requested};
use portcullis_http::query::Query;
use portcullis_model::decision::DecisionSelection;
use portcullis_operations::decisions;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::BrokenOff;

use crate::pages::{PageWriter, stream};
use crate::visit::Visit;
use figure::Figure;
use filter::{FilterForm, without_empty};
use table::{NoRecord, Table};

/// The parameters of the page.
pub(crate) const KNOWN: &[&str] = &[
    "subject",
    "resource",
    "action",
    "decision",
    "rule",
    "via",
    "undetermined",
    "request_id",
    "from",
    "to",
    "cursor",
];

/// The question of a page.
struct DecisionsQuestion {
    selection: DecisionSelection,
    page: Requested,
}

/// Shows the decisions that the filter selects, newest first.
pub(crate) async fn page(visit: Visit) -> Result<Response, ApiError> {
    let uri = without_empty(&visit.uri);
    let DecisionQuery(selection) = Query::read(&uri)?;
    let page: PageQuery = Query::read(&uri)?;
    let page = page.in_list("console decisions", &visit.tenant.id, &format!("{selection:?}"))?;
    // The status of the page says whether the person may see these decisions.
    let selection = decisions::visible(&visit.app, &visit.caller, selection)?;
    let form = FilterForm::of(&uri);
    let question = DecisionsQuestion { selection, page };
    stream(visit, "Decisions", &form, move |visit, page| write(visit, question, page))
}

/// Writes the figure and the table.
async fn write(
    visit: Visit,
    question: DecisionsQuestion,
    mut page: PageWriter,
) -> Result<PageWriter, BrokenOff> {
    // Without a record, both parts would fail in the same way.
    match decisions::log(&visit.app) {
        Ok(_) => {}
        Err(OperationError::Conflict(message)) => {
            page.part(&NoRecord { message }).await?;
            return Ok(page);
        }
        Err(error) => {
            page.failed(error).await?;
            return Ok(page);
        }
    }
    match Figure::read(&visit, &question.selection).await {
        Ok(figure) => page.part(&figure).await?,
        Err(error) => page.failed(error).await?,
    }
    match Table::read(&visit, question.selection, &question.page).await {
        Ok(table) => page.part(&table).await?,
        Err(error) => page.failed(error).await?,
    }
    Ok(page)
}

/// Streams new decisions that the filter selects, as the API does.
pub(crate) async fn follow(visit: Visit) -> Result<Response, ApiError> {
    let uri = without_empty(&visit.uri);
    let DecisionQuery(selection) = Query::read(&uri)?;
    // The address of a page names no time, so that the stream has the longest one.
    let time: StreamTime = Query::read(&http::Uri::default())?;
    let records = decisions::follow(&visit.app, &visit.caller, selection)?;
    let credential = visit.credential();
    decision_events::answer(records, time, credential)
}
