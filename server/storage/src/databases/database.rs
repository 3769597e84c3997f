//! The two kinds of database, and their pools of connections.

use std::sync::Arc;

use crate::databases::postgres;
use crate::databases::primary::Primary;
use crate::databases::sqlite_pools::SqlitePools;
use crate::transactions::error::StoreError;
use crate::transactions::tx::Inner;

/// The pools of an open database. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    Sqlite(Arc<SqlitePools>),
    Postgres(Arc<Primary>),
}

impl Database {
    /// Returns the database with this pool.
    #[cfg(test)]
    pub(crate) fn postgres(pool: sqlx::PgPool) -> Self {
        Self::Postgres(Arc::new(Primary::fixed(pool)))
    }

    /// Begins a transaction that reads one snapshot, behind the row-level security of `tenant`.
    pub(crate) async fn begin_read(&self, tenant: &str) -> Result<Inner, StoreError> {
        Ok(match self {
            Self::Sqlite(pools) => Inner::Sqlite(pools.begin_read().await?),
            Self::Postgres(primary) => {
                let begun =
                    primary.begin(|pool| async move { postgres::begin_read(&pool, tenant).await });
                // Boxed: the futures of all handlers hold it.
                Inner::Postgres(Box::pin(begun).await?)
            }
        })
    }

    /// Begins a transaction that may write, behind the row-level security of `tenant`.
    pub(crate) async fn begin_write(&self, tenant: &str) -> Result<Inner, StoreError> {
        Ok(match self {
            Self::Sqlite(pools) => Inner::Sqlite(pools.begin_write().await?),
            Self::Postgres(primary) => {
                let begun =
                    primary.begin(|pool| async move { postgres::begin_write(&pool, tenant).await });
                // Boxed: the futures of all handlers hold it.
                Inner::Postgres(Box::pin(begun).await?)
            }
        })
    }

    /// Writes something that changes nothing, on SQLite.
    ///
    /// # Errors
    /// The database cannot be written.
    pub(crate) async fn try_to_write(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(pools) => pools.try_to_write().await,
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Waits for the connections in use and closes all.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pools) => pools.close().await,
            Self::Postgres(primary) => primary.close().await,
        }
    }
}
