//! The store: the only place that names sqlx and writes SQL.
//!
//! Every function takes a [`Tx`], which is bound to one tenant, and every statement starts from that
//! tenant: a foreign id is not found. The statements are written once, in SQL that SQLite and PostgreSQL
//! both read (`$1`, `ON CONFLICT`, `RETURNING`), and run through the macros below, the one place that
//! knows which database is behind a transaction.

pub mod deliveries;
pub mod encryption;
mod error;
pub mod events;
pub mod lanes;
pub mod policies;
mod postgres;
pub mod providers;
pub mod resolvers;
pub mod resources;
pub mod rules;
mod schema;
pub mod service_keys;
mod sqlite;
pub mod tenants;
pub mod webhooks;

use std::net::SocketAddr;

use portcullis_engine::ResourcePattern;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};

pub use error::{OpenError, StoreError};
pub use postgres::{Change, Notice, Notices};

use portcullis_model::event::Event;

/// Runs one statement on whichever database is behind the transaction.
macro_rules! on_database {
    ($tx:expr, $query:expr, $run:ident) => {
        match &mut $tx.inner {
            $crate::Inner::Sqlite(connection) => $query.$run(&mut **connection).await,
            $crate::Inner::Postgres(connection) => $query.$run(&mut **connection).await,
        }
    };
}

/// Runs a statement and gives all its rows as `$row`.
macro_rules! fetch_all {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::on_database!(
            $tx, sqlx::query_as::<_, $row>($sql)$(.bind($bind))*, fetch_all
        )
    };
}

/// Runs a statement and gives its row as `$row`, if there is one.
macro_rules! fetch_optional {
    ($tx:expr, $row:ty, $sql:expr $(, $bind:expr)* $(,)?) => {
        $crate::on_database!(
            $tx, sqlx::query_as::<_, $row>($sql)$(.bind($bind))*, fetch_optional
        )
    };
}

/// Runs a statement and gives the number of rows that it changed.
macro_rules! execute {
    ($tx:expr, $sql:expr $(, $bind:expr)* $(,)?) => {
        match &mut $tx.inner {
            $crate::Inner::Sqlite(connection) => sqlx::query($sql)$(.bind($bind))*
                .execute(&mut **connection).await.map(|done| done.rows_affected()),
            $crate::Inner::Postgres(connection) => sqlx::query($sql)$(.bind($bind))*
                .execute(&mut **connection).await.map(|done| done.rows_affected()),
        }
    };
}

use {execute, fetch_all, fetch_optional, on_database};

/// The database. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Store {
    Sqlite {
        /// One connection: SQLite has one writer, and a queue in the pool is fairer than its busy
        /// handler.
        writer: SqlitePool,
        /// Opened read-only: a mistaken write fails instead of waiting for the writer's lock.
        readers: SqlitePool,
    },
    Postgres(PgPool),
}

/// A transaction of one tenant. Dropped without a commit, it is rolled back.
#[derive(Debug)]
pub struct Tx {
    tenant: String,
    inner: Inner,
    /// The resources that the changes so far touch; `None` while there is no change.
    touched: Option<Vec<ResourcePattern>>,
    /// What has happened and is not written down yet.
    events: Vec<Event>,
    wrote: Wrote,
}

/// What a transaction wrote that somebody waits for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wrote {
    /// Something for a webhook to be told.
    pub deliveries: bool,
    /// A webhook.
    pub webhooks: bool,
}

#[derive(Debug)]
enum Inner {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>),
}

/// What a transaction of the service itself is bound to: it sees the rows of every tenant.
const EVERY_TENANT: &str = "*";

impl Store {
    /// Opens the database at `url` and migrates it; a SQLite file is created when it is missing.
    ///
    /// # Errors
    /// The URL is none that is supported, the database cannot be opened, or a migration failed.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => sqlite::open(url).await,
            Some(("postgres" | "postgresql", _)) => postgres::open(url).await,
            _ => Err(OpenError::Url("`sqlite://<file>` or `postgres://…`".to_owned())),
        }
    }

    /// Opens the database at `url` to read only, and neither creates nor migrates anything. What a write gets
    /// is an error.
    ///
    /// # Errors
    /// As [`Store::open`], or the schema is not the one that this version makes.
    pub async fn open_to_read(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => sqlite::open_to_read(url).await,
            Some(("postgres" | "postgresql", _)) => postgres::open_to_read(url).await,
            _ => Err(OpenError::Url("`sqlite://<file>` or `postgres://…`".to_owned())),
        }
    }

    /// As [`Store::open`], for a database that nobody uses yet: one that has a table is refused.
    pub async fn open_empty(url: &str) -> Result<Self, OpenError> {
        let empty = match url.split_once(':') {
            Some(("sqlite", _)) => sqlite::is_empty(url).await?,
            Some(("postgres" | "postgresql", _)) => postgres::is_empty(url).await?,
            _ => true,
        };
        if empty { Self::open(url).await } else { Err(OpenError::InUse) }
    }

    /// Begins a transaction that may write, for `tenant`, which comes into being with its first write.
    /// Writes of one tenant happen one after the other.
    pub async fn write(&self, tenant: &str, now: i64) -> Result<Tx, StoreError> {
        let mut tx = self.write_as(tenant).await?;
        tenants::lock(&mut tx, now).await?;
        Ok(tx)
    }

    /// Begins a transaction that reads one snapshot, for `tenant`.
    pub async fn read(&self, tenant: &str) -> Result<Tx, StoreError> {
        let inner = match self {
            Self::Sqlite { readers, .. } => Inner::Sqlite(readers.begin().await?),
            Self::Postgres(pool) => Inner::Postgres(postgres::begin_read(pool, tenant).await?),
        };
        Ok(Tx::new(tenant, inner))
    }

    /// Begins a transaction of the service itself, which sees every tenant, to read.
    pub async fn read_all(&self) -> Result<Tx, StoreError> {
        self.read(EVERY_TENANT).await
    }

    /// Begins a transaction of the service itself, which sees every tenant, to write.
    pub async fn write_all(&self) -> Result<Tx, StoreError> {
        self.write_as(EVERY_TENANT).await
    }

    /// Begins a transaction that may write, for a tenant that it neither locks nor creates.
    pub async fn write_as(&self, tenant: &str) -> Result<Tx, StoreError> {
        let inner = match self {
            Self::Sqlite { writer, .. } => Inner::Sqlite(sqlite::begin_write(writer).await?),
            Self::Postgres(pool) => Inner::Postgres(postgres::begin_write(pool, tenant).await?),
        };
        Ok(Tx::new(tenant, inner))
    }

    /// What names a process that listens on `address` among all that use this database, before and after it
    /// was started again.
    pub fn place_of(&self, address: SocketAddr) -> String {
        match self {
            // There is no other.
            Self::Sqlite { .. } => String::new(),
            Self::Postgres(_) => {
                let host = rustix::system::uname();
                format!("{} {address} ", host.nodename().to_string_lossy())
            }
        }
    }

    /// One round trip to the database.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut tx = self.read_all().await?;
        // A table is read: a constant would not need the file.
        tenants::revision(&mut tx).await?;
        tx.end().await
    }

    /// Waits for what is in use and closes every connection.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }

    /// Listens for what other replicas commit; `None` on SQLite, which has none.
    pub async fn notices(&self) -> Result<Option<Notices>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres(pool) => Ok(Some(Notices::listen(pool).await?)),
        }
    }
}

/// What a committed transaction changed.
#[derive(Debug)]
pub struct Committed {
    pub tenant: String,
    /// The tenant's revision after it.
    pub revision: u64,
    /// The resources that it touched; `None` when it changed nothing.
    pub touched: Option<Vec<ResourcePattern>>,
    pub wrote: Wrote,
}

impl Tx {
    fn new(tenant: &str, inner: Inner) -> Self {
        let tenant = tenant.to_owned();
        Self { tenant, inner, touched: None, events: Vec::new(), wrote: Wrote::default() }
    }

    /// The tenant that every statement is bound to.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Notes a change and the resources whose decisions it may alter. Every function that writes what
    /// decisions depend on calls it, so that no write can forget to raise the revision.
    fn changed(&mut self, touched: impl IntoIterator<Item = ResourcePattern>) {
        self.touched.get_or_insert_default().extend(touched);
    }

    /// Notes an event, which is written before the transaction is committed. Every function that writes
    /// what webhooks are told of calls it, so that no write can forget to tell them.
    pub fn happened(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Commits; a transaction that changed something raises the tenant's revision by one, and tells the
    /// other replicas.
    pub async fn commit(mut self) -> Result<Committed, StoreError> {
        events::write(&mut self).await?;
        let revision = match self.touched.take() {
            None => tenants::revision(&mut self).await?,
            Some(touched) => {
                let revision = tenants::raise_revision(&mut self).await?;
                if let Inner::Postgres(connection) = &mut self.inner {
                    postgres::notify(connection, &self.tenant, revision, &touched).await?;
                }
                self.touched = Some(touched);
                revision
            }
        };
        if let Inner::Postgres(connection) = &mut self.inner {
            postgres::notify_of(connection, self.wrote).await?;
        }
        match self.inner {
            Inner::Sqlite(inner) => inner.commit().await?,
            Inner::Postgres(inner) => inner.commit().await?,
        }
        let (tenant, touched, wrote) = (self.tenant, self.touched, self.wrote);
        Ok(Committed { tenant, revision, touched, wrote })
    }

    /// Ends a transaction that only read.
    pub async fn end(self) -> Result<(), StoreError> {
        match self.inner {
            Inner::Sqlite(inner) => inner.rollback().await?,
            Inner::Postgres(inner) => inner.rollback().await?,
        }
        Ok(())
    }
}

/// A JSON array of strings, as a column holds it.
fn to_json_list(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    serde_json::json!(items).to_string()
}

/// The strings of a column that [`to_json_list`] wrote.
fn from_json_list(text: &str, what: &'static str) -> Result<Vec<String>, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Corrupt { what })
}

#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
