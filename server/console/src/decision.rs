//! The page of one recorded decision.

pub(crate) mod copies;
mod known;
pub(crate) mod paths;
pub(crate) mod rule_name;
mod why;

use askama::Template;
use axum::response::Response;
use portcullis_engine::fields::Body as _;
use portcullis_engine::{CheckKind, json};
use portcullis_http::error::ApiError;
use portcullis_http::path::RecordId;
use portcullis_model::decision::DecisionRecord;
use portcullis_model::explained_check::ExplainedCheckBody;
use portcullis_operations::checks::{self, CheckOptions};
use portcullis_operations::decisions;
use portcullis_runtime::min_revisions::MinRevisions;
use portcullis_runtime::piece_writer::BrokenOff;
use serde_json::Value;

use crate::pages::{PageWriter, stream};
use crate::times::ShownTime;
use crate::visit::Visit;
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
    let may = if decision == "allow" { "may" } else { "may not" };
    let title = format!("{} {may} {} {}", record.subject, record.action, object_of(&record));
    let summary = Summary {
        decision,
        word: if decision == "allow" { "Allow" } else { "Deny" },
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
    let text = Question::of(record, &attributes_of(record)).body().to_string();
    let json = json::parse(text.as_bytes()).ok()?;
    let body = ExplainedCheckBody::parse(&json).ok()?;
    let kind = CheckKind::Combined;
    let options =
        CheckOptions { explain: true, ..CheckOptions::present(kind, MinRevisions::default()) };
    let decided = checks::check(&visit.app, &visit.caller, body.check, options).await.ok()?;
    decided.explained(|explained| serde_json::to_value(explained).unwrap_or_default())
}

/// Returns the object of a check: `type:id` if its attributes name it, else its resource.
fn object_of(record: &DecisionRecord) -> String {
    let attributes = attributes_of(record);
    let text = |name: &str| attributes["resource"][name].as_str().map(str::to_owned);
    match (text("type"), text("id")) {
        (Some(kind), Some(id)) => format!("{kind}:{id}"),
        _ => record.resource.clone(),
    }
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
    Ok(page)
}
