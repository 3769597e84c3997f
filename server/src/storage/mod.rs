//! The store: the only place that names sqlx and writes SQL.
//!
//! Every function takes a [`Tx`], which is bound to one tenant, and every statement starts from that
//! tenant: a foreign id is not found. The statements are written once, in SQL that SQLite and PostgreSQL
//! both read (`$1`, `ON CONFLICT`, `RETURNING`), and run through the macros below, the one place that
//! knows which database is behind a transaction.

mod error;
pub(crate) mod policies;
pub(crate) mod resources;
pub(crate) mod rules;
mod sqlite;
pub(crate) mod tenants;

use portcullis_engine::ResourcePattern;
use sqlx::{Sqlite, SqlitePool, Transaction};

pub(crate) use error::{OpenError, StoreError};

/// Runs a statement and gives all its rows as `$row`.
macro_rules! fetch_all {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch_all($tx.connection()).await
    };
}

/// Runs a statement and gives its row as `$row`, if there is one.
macro_rules! fetch_optional {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        sqlx::query_as::<_, $row>($sql)$(.bind($bind))*.fetch_optional($tx.connection()).await
    };
}

/// Runs a statement and gives the number of rows that it changed.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        sqlx::query($sql)$(.bind($bind))*
            .execute($tx.connection())
            .await
            .map(|done| done.rows_affected())
    };
}

use {execute, fetch_all, fetch_optional};

/// The database. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// One connection: SQLite has one writer, and a queue in the pool is fairer than its busy handler.
    writer: SqlitePool,
    /// Opened read-only: a mistaken write fails instead of waiting for the writer's lock.
    readers: SqlitePool,
}

/// A transaction of one tenant. Dropped without a commit, it is rolled back.
#[derive(Debug)]
pub(crate) struct Tx {
    tenant: String,
    inner: Transaction<'static, Sqlite>,
    /// The resources that the changes so far touch; `None` while there is no change.
    touched: Option<Vec<ResourcePattern>>,
}

impl Store {
    /// Opens the database at `url`, creates it when it is missing, and migrates it.
    ///
    /// # Errors
    /// The URL is none that is supported, the database cannot be opened, or a migration failed.
    pub(crate) async fn open(url: &str) -> Result<Self, OpenError> {
        sqlite::open(url).await
    }

    /// Begins a transaction that may write, for `tenant`, which it creates on its first write.
    pub(crate) async fn write(&self, tenant: &str, now: i64) -> Result<Tx, StoreError> {
        let mut tx = Self::tx(tenant, sqlite::begin_write(&self.writer).await?);
        tenants::ensure(&mut tx, now).await?;
        Ok(tx)
    }

    /// Begins a transaction that reads one snapshot, for `tenant`.
    pub(crate) async fn read(&self, tenant: &str) -> Result<Tx, StoreError> {
        Ok(Self::tx(tenant, self.readers.begin().await?))
    }

    fn tx(tenant: &str, inner: Transaction<'static, Sqlite>) -> Tx {
        Tx { tenant: tenant.to_owned(), inner, touched: None }
    }

    /// One round trip to the database.
    pub(crate) async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query("SELECT 1").execute(&self.readers).await?;
        Ok(())
    }

    /// Waits for what is in use and closes every connection.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// What a committed transaction changed.
#[derive(Debug)]
pub(crate) struct Committed {
    pub(crate) tenant: String,
    /// The tenant's revision after it.
    pub(crate) revision: u64,
    /// The resources that it touched; `None` when it changed nothing.
    pub(crate) touched: Option<Vec<ResourcePattern>>,
}

impl Tx {
    /// The tenant that every statement is bound to.
    pub(crate) fn tenant(&self) -> &str {
        &self.tenant
    }

    fn connection(&mut self) -> &mut sqlx::SqliteConnection {
        &mut self.inner
    }

    /// Notes a change and the resources whose decisions it may alter. Every function that writes calls
    /// it, so that no write can forget to raise the revision.
    fn changed(&mut self, touched: impl IntoIterator<Item = ResourcePattern>) {
        self.touched.get_or_insert_default().extend(touched);
    }

    /// Commits; a transaction that changed something raises the tenant's revision by one.
    pub(crate) async fn commit(mut self) -> Result<Committed, StoreError> {
        let revision = match self.touched {
            Some(_) => tenants::raise_revision(&mut self).await?,
            None => tenants::revision(&mut self).await?,
        };
        self.inner.commit().await?;
        Ok(Committed { tenant: self.tenant, revision, touched: self.touched })
    }

    /// Ends a transaction that only read.
    pub(crate) async fn end(self) -> Result<(), StoreError> {
        Ok(self.inner.rollback().await?)
    }
}

#[cfg(test)]
mod tests;
