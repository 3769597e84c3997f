//! The cause for which PostgreSQL gives no connection. While connections are refused, a pool tries again, and then says
//! only that it timed out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::Mutex;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout};

use crate::transactions::error::StoreError;

/// The longest wait for a connection past the pool, which itself waited for 5 s.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(1);
/// The time for which a cause serves all who wait: a dead database is not tried for each request.
const CAUSE_AGE: Duration = Duration::from_secs(5);

/// Finds the cause of the pool's timeouts.
#[derive(Debug, Default)]
pub(crate) struct Reachability {
    /// The outcome of the last attempt, and its time.
    last: Mutex<Option<(Instant, Option<Arc<str>>)>>,
}

impl Reachability {
    /// Returns the error of the store for an error of `pool`. A timeout gets its cause if PostgreSQL cannot be reached.
    pub(crate) async fn explain(&self, pool: &PgPool, error: sqlx::Error) -> StoreError {
        if !matches!(error, sqlx::Error::PoolTimedOut) {
            return error.into();
        }
        match self.cause(pool).await {
            Some(cause) => StoreError::Unreachable(cause),
            // All connections are in use.
            None => error.into(),
        }
    }

    /// Tries to connect past the pool, unless somebody just did. `None` if that works.
    async fn cause(&self, pool: &PgPool) -> Option<Arc<str>> {
        // The lock is held during the attempt, so that all who time out at once share one.
        let mut last = self.last.lock().await;
        if let Some((at, cause)) = &*last
            && at.elapsed() < CAUSE_AGE
        {
            return cause.clone();
        }
        let attempt = connect(&pool.connect_options()).await;
        let cause = attempt.err().map(|error| Arc::from(error.to_string()));
        *last = Some((Instant::now(), cause.clone()));
        cause
    }
}

/// Connects past the pool, once. The error holds no password.
pub(crate) async fn connect(options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let connected = timeout(ATTEMPT_TIMEOUT, PgConnection::connect_with(options)).await;
    connected.map_err(timed_out)??.close().await
}

/// Returns the error of a server that did not answer in time.
pub(crate) fn timed_out(_: Elapsed) -> sqlx::Error {
    sqlx::Error::Io(io::Error::from(io::ErrorKind::TimedOut))
}

#[cfg(test)]
mod tests {
    use sqlx::postgres::PgPoolOptions;

    use super::*;

    #[tokio::test]
    async fn a_timeout_of_the_pool_gets_its_cause() {
        // Nothing listens on the port.
        let url = "postgres://portcullis:hunter2@127.0.0.1:1/portcullis";
        let pool = PgPoolOptions::new().acquire_timeout(Duration::from_millis(20));
        let pool = pool.connect_lazy(url).expect("a URL");
        let error = pool.begin().await.expect_err("nobody is there");
        assert!(matches!(error, sqlx::Error::PoolTimedOut), "{error}");
        let reachability = Reachability::default();
        let error = reachability.explain(&pool, error).await;
        assert!(error.is_unavailable());
        let text = error.to_string();
        assert!(text.contains("Connection refused") && !text.contains("hunter2"), "{text}");
        let other = reachability.explain(&pool, sqlx::Error::WorkerCrashed).await;
        assert!(matches!(other, StoreError::Database(sqlx::Error::WorkerCrashed)), "{other}");
    }
}
