//! The two kinds of database, and their pools of connections.

use std::sync::Arc;

use sqlx::SqlitePool;

use crate::error::StoreError;
use crate::primary::Primary;
use crate::tx::Inner;
use crate::{postgres, sqlite};

/// The pools of an open database. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    Sqlite {
        /// One connection: SQLite has one writer, and a queue in the pool is fairer than its busy
        /// handler.
        writer: SqlitePool,
        /// Opened read-only: a mistaken write fails instead of waiting for the writer's lock.
        readers: SqlitePool,
    },
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
            Self::Sqlite { readers, .. } => Inner::Sqlite(readers.begin().await?),
            Self::Postgres(primary) => {
                let begin = |pool| async move { postgres::begin_read(&pool, tenant).await };
                // Boxed: the futures of all handlers hold it.
                Inner::Postgres(Box::pin(primary.begin(begin)).await?)
            }
        })
    }

    /// Begins a transaction that may write, behind the row-level security of `tenant`.
    pub(crate) async fn begin_write(&self, tenant: &str) -> Result<Inner, StoreError> {
        Ok(match self {
            Self::Sqlite { writer, .. } => Inner::Sqlite(sqlite::begin_write(writer).await?),
            Self::Postgres(primary) => {
                let begin = |pool| async move { postgres::begin_write(&pool, tenant).await };
                // Boxed: the futures of all handlers hold it.
                Inner::Postgres(Box::pin(primary.begin(begin)).await?)
            }
        })
    }

    /// Waits for the connections in use and closes all.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(primary) => primary.close().await,
        }
    }
}
