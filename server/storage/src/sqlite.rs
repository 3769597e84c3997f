//! SQLite: how it is opened and how its transactions begin.

use std::str::FromStr;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, Sqlite, SqliteConnection, SqlitePool, Transaction};

use super::{OpenError, Store, schema};

/// Readers beside the writer: plan loads and lists, none of which takes long.
const READERS: u32 = 4;
/// How long another process, such as `portcullis migrate`, may hold the write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request waits for a connection before the store counts as down.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/sqlite");

pub(super) async fn open(url: &str) -> Result<Store, OpenError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| OpenError::Url(format!("`sqlite://<file>`, but {error}")))?
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .journal_mode(SqliteJournalMode::Wal)
        // An acknowledged write survives a power cut.
        .synchronous(SqliteSynchronous::Full);
    let pool = || SqlitePoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT);
    let writer = pool()
        .max_connections(1)
        .connect_with(options.clone().create_if_missing(true))
        .await
        .map_err(OpenError::Connect)?;
    MIGRATIONS.run(&writer).await.map_err(OpenError::Migrate)?;
    let readers = pool()
        .max_connections(READERS)
        .connect_with(options.read_only(true))
        .await
        .map_err(OpenError::Connect)?;
    Ok(Store::Sqlite { writer, readers })
}

/// Opens an existing file to read only.
pub(super) async fn open_to_read(url: &str) -> Result<Store, OpenError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| OpenError::Url(format!("`sqlite://<file>`, but {error}")))?
        .busy_timeout(BUSY_TIMEOUT)
        .read_only(true)
        .create_if_missing(false);
    let readers = SqlitePoolOptions::new()
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .max_connections(READERS)
        .connect_with(options)
        .await
        .map_err(OpenError::Connect)?;
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&readers).await;
    schema::check(&MIGRATIONS, applied)?;
    Ok(Store::Sqlite { writer: readers.clone(), readers })
}

/// Whether the file, which may be missing, has no table.
pub(super) async fn is_empty(url: &str) -> Result<bool, OpenError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| OpenError::Url(format!("`sqlite://<file>`, but {error}")))?
        .create_if_missing(true);
    let connected = SqliteConnection::connect_with(&options).await;
    let mut connection = connected.map_err(OpenError::Connect)?;
    let tables = sqlx::query_scalar("SELECT count(*) FROM sqlite_master");
    let tables: i64 = tables.fetch_one(&mut connection).await.map_err(OpenError::Connect)?;
    connection.close().await.map_err(OpenError::Connect)?;
    Ok(tables == 0)
}

/// Takes the write lock at once: a transaction that reads first and writes later could find that
/// another one has written in between, and fail.
pub(super) async fn begin_write(
    writer: &SqlitePool,
) -> Result<Transaction<'static, Sqlite>, sqlx::Error> {
    writer.begin_with("BEGIN IMMEDIATE").await
}
