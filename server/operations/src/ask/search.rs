//! Searches: for which resources or subjects is a request allowed, and which actions are (`docs/semantics.md`, section 13).

mod actions;
mod cursor;
mod entities;
mod page;

pub use actions::{ActionQuestion, search_actions};
pub(crate) use cursor::Position;
pub use cursor::RequestMark;
pub use entities::{Claims, EntityQuestion, search_entities};
pub use page::{ConditionalEntity, FoundEntity, SearchSource, SearchedPage};

use portcullis_auth::CheckCaller;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::decide::open_scope::open_scope;

/// The candidates that cost about as much CPU time as one check with its request. A search counts as one check for each
/// such number.
pub const CANDIDATES_PER_CHECK: usize = 100;
/// The number of candidates between two looks at the clock: some tens of microseconds.
const CLOCK_INTERVAL: usize = 128;

/// Returns the domain of a search and its tenant.
///
/// # Errors
/// The caller may not ask about the domain, about the subject, or about an earlier revision.
fn scope<'c>(
    app: &App,
    caller: &'c CheckCaller,
    subject: Option<&str>,
    domain: Option<&'c str>,
    at_revision: Option<u64>,
) -> Result<(&'c str, &'c str), OperationError> {
    caller.may_search(subject, domain, &app.manager_roles)?;
    if at_revision.is_some() {
        caller.may_explain(domain, &app.manager_roles)?;
    }
    open_scope(app, caller, domain)
}
