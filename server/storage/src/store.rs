//! The database: opens it and begins transactions.

use std::net::SocketAddr;

use sqlx::{PgPool, SqlitePool};

use crate::error::{OpenError, StoreError};
use crate::notices::Notices;
use crate::tx::{EVERY_TENANT, Inner, Tx};
use crate::{postgres, sqlite, tenants};

/// The form of a URL that [`Store::open`] accepts.
const SUPPORTED_URLS: &str = "`sqlite://<file>` or `postgres://…`";

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

impl Store {
    /// Opens the database at `url` and migrates it. Creates a SQLite file that is missing.
    ///
    /// # Errors
    /// The URL is not supported, the database cannot be opened, or a migration failed.
    pub async fn open(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => {
                let (writer, readers) = sqlite::open(url).await?;
                Ok(Self::Sqlite { writer, readers })
            }
            Some(("postgres" | "postgresql", _)) => Ok(Self::Postgres(postgres::open(url).await?)),
            _ => Err(OpenError::Url(SUPPORTED_URLS.to_owned())),
        }
    }

    /// Opens the database at `url` to read only, without creating or migrating anything. A write gets an error.
    ///
    /// # Errors
    /// The errors of [`Store::open`], or the schema is not the one of this version.
    pub async fn open_to_read(url: &str) -> Result<Self, OpenError> {
        match url.split_once(':') {
            Some(("sqlite", _)) => {
                let readers = sqlite::open_to_read(url).await?;
                // The connections refuse writes themselves.
                Ok(Self::Sqlite { writer: readers.clone(), readers })
            }
            Some(("postgres" | "postgresql", _)) => {
                Ok(Self::Postgres(postgres::open_to_read(url).await?))
            }
            _ => Err(OpenError::Url(SUPPORTED_URLS.to_owned())),
        }
    }

    /// Opens the database at `url` as [`Store::open`] does, but refuses one that has a table.
    pub async fn open_empty(url: &str) -> Result<Self, OpenError> {
        let empty = match url.split_once(':') {
            Some(("sqlite", _)) => sqlite::is_empty(url).await?,
            Some(("postgres" | "postgresql", _)) => postgres::is_empty(url).await?,
            _ => true,
        };
        if empty { Self::open(url).await } else { Err(OpenError::InUse) }
    }

    /// Begins a transaction that may write, for `tenant`. The first write of a tenant creates it. Writes of one
    /// tenant run one after the other.
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

    /// Returns a name of the replica that listens on `address`. No other replica of this database has the name, and
    /// a restart keeps it. It is empty on SQLite, which has one process.
    pub fn replica_name(&self, address: SocketAddr) -> String {
        match self {
            Self::Sqlite { .. } => String::new(),
            Self::Postgres(_) => {
                let host = rustix::system::uname();
                format!("{} {address} ", host.nodename().to_string_lossy())
            }
        }
    }

    /// Makes one round trip to the database.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let mut tx = self.read_all().await?;
        // A table is read: a constant would not need the file.
        tenants::revision(&mut tx).await?;
        tx.end().await
    }

    /// Waits for the connections in use and closes all.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }

    /// Listens for the commits of other replicas. `None` on SQLite, which has no replicas.
    pub async fn notices(&self) -> Result<Option<Notices>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres(pool) => Ok(Some(Notices::listen(pool).await?)),
        }
    }
}
