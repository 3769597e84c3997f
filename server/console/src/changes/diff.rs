//! The pages of what one revision changed, and of what differs between two.

use askama::Template;
use axum::response::Response;
use portcullis_auth::Manager;
use portcullis_http::error::ApiError;
use portcullis_http::paging::Requested;
use portcullis_http::parameters::digits;
use portcullis_model::revision::RevisionChanges;
use portcullis_operations::revisions::{self, ChangesPage, Sides};

use super::table::ChangeTable;
use super::{ShownRevision, tabs};
use crate::decision::copies::AsApi;
use crate::lists::{Tab, page_of};
use crate::next::{LIMIT, at_cursor};
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "change.html")]
struct ChangePage {
    tabs: Vec<Tab>,
    /// The revision; `None` between two.
    revision: Option<ShownRevision>,
    /// The address of what differs from the present; `None` if nothing can.
    present: Option<String>,
    restore: Option<String>,
    table: ChangeTable,
    next: Option<String>,
    api: AsApi,
}

/// Returns the number of a revision in the path.
///
/// # Errors
/// It is not a number: no tenant has such a revision.
pub(super) fn number(visit: &Visit, name: &str) -> Result<u64, ApiError> {
    digits(visit.segment(name)).ok_or_else(|| ApiError::not_found("revision"))
}

/// Shows a revision, and what it changed.
pub(crate) async fn one(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let number = number(&visit, "n")?;
    let wanted: Requested<String> = page_of(&visit, "revision", &number.to_string())?;
    let page = ChangesPage { after: wanted.after(), limit: LIMIT };
    let detail = revisions::get(&visit.app, &manager, number, page).await?;
    let newest = revisions::list(&visit.app, &manager, u64::MAX, 1).await?.records;
    let newest = newest.first().map_or(number, |record| record.revision);
    let diff = (newest != number).then(|| visit.page(&format!("changes/{number}/diff/{newest}")));
    let content = ChangePage {
        tabs: tabs(&visit, "changes"),
        revision: Some(ShownRevision::of(&visit, detail.revision)),
        present: diff,
        restore: Some(visit.page(&format!("changes/{number}/restore"))),
        next: next_of(&visit, &wanted, &detail.changes),
        table: ChangeTable::of_revision(&detail.changes.changes),
        api: AsApi::get(&visit.address, "/api/v1/revisions/{n}", "").at(&[("{n}", number)]),
    };
    visit.frame.show(&format!("Revision {number}"), &content)
}

/// Shows what differs between two revisions.
pub(crate) async fn two(visit: Visit, manager: Manager) -> Result<Response, ApiError> {
    let sides = Sides { from: number(&visit, "a")?, to: number(&visit, "b")? };
    let wanted: Requested<String> = page_of(&visit, "diff", &format!("{sides:?}"))?;
    let page = ChangesPage { after: wanted.after(), limit: LIMIT };
    let diff = revisions::diff(&visit.app, &manager, sides, page).await?;
    let (a, b) = (sides.from, sides.to);
    let content = ChangePage {
        tabs: tabs(&visit, "changes"),
        revision: None,
        present: None,
        restore: None,
        next: next_of(&visit, &wanted, &diff.changes),
        table: ChangeTable::of_revision(&diff.changes.changes),
        api: AsApi::get(&visit.address, "/api/v1/revisions/{a}/diff/{b}", "")
            .at(&[("{a}", a), ("{b}", b)]),
    };
    visit.frame.show(&format!("Revision {a} to {b}"), &content)
}

fn next_of(visit: &Visit, wanted: &Requested<String>, page: &RevisionChanges) -> Option<String> {
    let place = page.next.as_ref()?;
    Some(at_cursor(&visit.uri, &wanted.cursor(place)))
}
