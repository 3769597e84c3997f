//! Searches: for which resources or subjects is a request allowed, and which actions are (`docs/semantics.md`, section 13).

mod actions;
mod cursor;
mod entities;
mod page;

pub use actions::{ActionQuestion, FoundAction, search_actions};
pub use cursor::RequestMark;
pub use entities::{EntityQuestion, search_entities};
pub use page::{ConditionalEntity, FoundEntity, SearchSource, SearchedPage};

use std::time::Duration;

use portcullis_auth::CheckCaller;
use tokio::runtime::Handle;

use crate::app::App;
use crate::error::OperationError;
use crate::turns::{TurnLimits, Turns};

/// The time after which a page ends. The next page goes on where it ended.
const PAGE_TIME: Duration = Duration::from_secs(1);
/// The candidates that cost about as much CPU time as one check with its request. A search counts as one check for each
/// such number.
pub const CANDIDATES_PER_CHECK: usize = 100;
/// The number of candidates between two looks at the clock: some tens of microseconds.
const CLOCK_INTERVAL: usize = 128;

/// The searches that run and wait.
#[derive(Debug)]
pub struct Searches(Turns);

impl Default for Searches {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Turns::new(TurnLimits::of_searches(cores)))
    }
}

impl Searches {
    /// Runs a search of `tenant` on a thread that no request uses, when it is its turn. A page takes up to a second of CPU
    /// time.
    ///
    /// # Errors
    /// Those of the search; too many searches of the tenant wait, or the process stops.
    pub async fn run<T, F, E>(
        &self,
        tenant: &str,
        search: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, E>>,
        E: From<OperationError> + Send + 'static,
    {
        let Some(turn) = self.0.begin(tenant).await else {
            let what = "too many searches of this tenant run already; try again later";
            return Err(OperationError::NotNow(what.to_owned()).into());
        };
        let runtime = Handle::current();
        let job = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            runtime.block_on(search())
        });
        match job.await {
            Ok(found) => found,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => {
                    let error = OperationError::Unavailable("the service", "shutting down".into());
                    Err(error.into())
                }
            },
        }
    }
}

/// Returns the domain of a search and its tenant.
///
/// # Errors
/// The caller may not ask about the domain, or not about the subject.
fn scope<'c>(
    app: &App,
    caller: &'c CheckCaller,
    subject: Option<&str>,
    domain: Option<&'c str>,
) -> Result<(&'c str, &'c str), OperationError> {
    caller.may_search(subject, domain, &app.manager_roles)?;
    let domain = caller.domain_of(domain)?;
    let tenant = caller.tenant_of(domain)?;
    app.closed_tenants.must_be_open(tenant)?;
    Ok((domain, tenant))
}
