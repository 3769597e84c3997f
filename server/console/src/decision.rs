//! The page of one recorded decision.

mod again;
pub(crate) mod asked;
pub(crate) mod copies;
pub(crate) mod known;
pub(crate) mod paths;
pub(crate) mod rule_name;
pub(crate) mod why;

use askama::Template;
use axum::response::Response;
use portcullis_http::error::ApiError;
use portcullis_http::path::RecordId;
use portcullis_model::decision::DecisionRecord;
use portcullis_operations::decisions;
use portcullis_runtime::piece_writer::BrokenOff;
use serde_json::Value;

use crate::outcomes::word;
use crate::pages::{PageWriter, stream};
use crate::times::ShownTime;
use crate::visit::Visit;
use again::Again;
use asked::AskedCheck;
use copies::{Question, attributes_of};
use known::Known;
use paths::{Paths, has_path};
use why::Why;

#[derive(Template)]
#[template(path = "decision.html")]
struct Summary {
    decision: &'static str,
    word: &'static str,
    time: ShownTime,
    revision: i64,
    us: u32,
    reason: String,
    subject: String,
    action: String,
    resource: String,
    domain: String,
    via: &'static str,
    request_id: String,
}

/// Shows a decision, and to a manager everything that was considered.
pub(crate) async fn page(visit: Visit) -> Result<Response, ApiError> {
    let id = RecordId::from_text(visit.segment("id")).known("decision")?;
    let record = decisions::find(&visit.app, &visit.caller, id).await?;
    let decision: &'static str = record.decision.into_str();
    let title = Question::of(&record, &attributes_of(&record)).title(decision);
    let summary = Summary {
        decision,
        word: word(decision),
        time: ShownTime::of(record.time),
        revision: record.revision,
        us: record.us,
        reason: record.reason.clone(),
        subject: record.subject.clone(),
        action: record.action.clone(),
        resource: record.resource.clone(),
        domain: record.domain.clone(),
        via: record.via.into_str(),
        request_id: record.request_id.clone(),
    };
    stream(visit, &title, &summary, move |visit, page| write(visit, record, page))
}

/// Returns the explanation of the same question now, by which relations have their paths; `None` if it cannot be asked.
async fn asked_now(visit: &Visit, record: &DecisionRecord) -> Option<Value> {
    let body = Question::of(record, &attributes_of(record)).body().to_string();
    AskedCheck::of(visit, &body).await.ok().map(|asked| asked.explanation)
}

/// Writes why, and what was known.
async fn write(
    visit: Visit,
    record: DecisionRecord,
    mut page: PageWriter,
) -> Result<PageWriter, BrokenOff> {
    let known = if visit.is_manager {
        let why = Why::read(&visit, &record).await;
        page.part(&why).await?;
        let now = match has_path(why.attributes()) {
            true => asked_now(&visit, &record).await,
            false => None,
        };
        if let Some(paths) = Paths::of_record(why.attributes(), now.as_ref()) {
            page.part(&paths).await?;
        }
        Known::explained(&visit.address, &record, why.attributes())
    } else {
        Known::sent(&visit.address, &record)
    };
    page.part(&known).await?;
    if visit.is_manager {
        page.part(&Again::of(&visit, &record)).await?;
    }
    Ok(page)
}
