//! The history of the tenant: its revisions, and what they changed.

pub(crate) mod diff;
mod figure;
mod flips;
pub(crate) mod restore;
pub(crate) mod table;
mod unowned;

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;
use portcullis_http::paging::Requested;
use portcullis_model::revision::RevisionRecord;
use portcullis_operations::revisions;
use portcullis_runtime::piece_writer::BrokenOff;

use crate::decision::copies::AsApi;
use crate::lists::{Tab, next_of, page_of, tabs_of};
use crate::next::LIMIT;
use crate::pages::{PageWriter, stream};
use crate::times::ShownTime;
use crate::visit::Visit;
use figure::Timeline;
use unowned::Unowned;

#[derive(Template)]
#[template(path = "changes.html")]
struct ChangesPage {
    tabs: Vec<Tab>,
    timeline: Timeline,
    revisions: Vec<ShownRevision>,
    next: Option<String>,
    api: AsApi,
}

/// A revision, for people.
pub(crate) struct ShownRevision {
    pub(crate) number: u64,
    pub(crate) page: String,
    pub(crate) time: ShownTime,
    pub(crate) actor: String,
    pub(crate) via: &'static str,
    pub(crate) message: Option<String>,
    pub(crate) count: i64,
}

impl ShownRevision {
    pub(crate) fn of(visit: &Visit, record: RevisionRecord) -> Self {
        let author = record.author;
        Self {
            number: record.revision,
            page: visit.page(&format!("changes/{}", record.revision)),
            time: ShownTime::of(record.at),
            actor: author.key_name.unwrap_or(author.actor),
            via: record.via.into_str(),
            message: record.message,
            count: record.count,
        }
    }
}

/// Returns the links to revisions and proposals.
pub(crate) fn tabs(visit: &Visit, current: &str) -> Vec<Tab> {
    tabs_of(&[("changes", "Revisions"), ("proposals", "Proposals")], visit, current)
}

/// Shows the revisions, newest first.
pub(crate) async fn page(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let wanted: Requested<String> = page_of(&visit, "revisions", "")?;
    // The first page has no place, and begins with the newest revision.
    let before = wanted.after().parse().unwrap_or(u64::MAX);
    let listed = revisions::list(&visit.app, &manager, before, LIMIT).await?;
    let next = next_of(&visit, &wanted, &listed, |record| record.revision.to_string());
    let timeline = Timeline::of(&listed.records);
    let shown = listed.records.into_iter().map(|record| ShownRevision::of(&visit, record));
    let content = ChangesPage {
        tabs: tabs(&visit, "changes"),
        timeline,
        revisions: shown.collect(),
        next,
        api: AsApi::get(&visit.address, "/api/v1/revisions", ""),
    };
    stream(visit, "Changes", &content, move |visit, page| write(visit, manager, page))
}

/// Writes what decides and has no owner.
async fn write(
    visit: Visit,
    manager: Manager,
    mut page: PageWriter,
) -> Result<PageWriter, BrokenOff> {
    match Unowned::read(&visit, &manager).await {
        Ok(Some(unowned)) => page.part(&unowned).await?,
        Ok(None) => {}
        Err(error) => page.failed(error).await?,
    }
    Ok(page)
}
