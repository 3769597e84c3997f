//! The searches that run and wait.

use tokio::runtime::Handle;

use crate::error::OperationError;
use crate::turns::{TurnLimits, Turns};

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
