//! The two kinds of database, and their pools of connections.

use std::sync::Arc;

use sqlx::{PgPool, SqlitePool};

use crate::error::StoreError;
use crate::reachability::Reachability;
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
    Postgres {
        pool: PgPool,
        reachability: Arc<Reachability>,
    },
}

impl Database {
    /// Returns the database with this pool.
    pub(crate) fn postgres(pool: PgPool) -> Self {
        Self::Postgres { pool, reachability: Arc::default() }
    }

    /// Begins a transaction that reads one snapshot, behind the row-level security of `tenant`.
    pub(crate) async fn begin_read(&self, tenant: &str) -> Result<Inner, StoreError> {
        Ok(match self {
            Self::Sqlite { readers, .. } => Inner::Sqlite(readers.begin().await?),
            Self::Postgres { pool, reachability } => {
                match postgres::begin_read(pool, tenant).await {
                    Ok(begun) => Inner::Postgres(begun),
                    Err(error) => return Err(reachability.explain(pool, error).await),
                }
            }
        })
    }

    /// Begins a transaction that may write, behind the row-level security of `tenant`.
    pub(crate) async fn begin_write(&self, tenant: &str) -> Result<Inner, StoreError> {
        Ok(match self {
            Self::Sqlite { writer, .. } => Inner::Sqlite(sqlite::begin_write(writer).await?),
            Self::Postgres { pool, reachability } => {
                match postgres::begin_write(pool, tenant).await {
                    Ok(begun) => Inner::Postgres(begun),
                    Err(error) => return Err(reachability.explain(pool, error).await),
                }
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
            Self::Postgres { pool, .. } => pool.close().await,
        }
    }
}
