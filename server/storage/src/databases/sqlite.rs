//! SQLite: opens pools and begins transactions.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection, SqlitePool};

use crate::databases::schema::Migrates;
use crate::databases::{migrations, schema};
use crate::transactions::error::OpenError;
use crate::transactions::sqlite_fault::sqlite_fault;
use crate::transactions::sqlite_files;

/// Connections that read, beside the one that writes: plan loads and lists are short.
const READERS: u32 = 4;
/// Pages that a connection that reads keeps, in KiB, as a negative number says. The kernel keeps the file, too.
const READ_CACHE: &str = "-256";
/// The longest wait for the write lock, which another process such as `portcullis migrate` may hold.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for a connection. After it, the store counts as down.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

fn options(url: &str) -> Result<SqliteConnectOptions, OpenError> {
    let options = SqliteConnectOptions::from_str(url)
        .map_err(|error| OpenError::Url(format!("`sqlite://<file>`, but {error}")))?;
    // Each connection would have a database of its own.
    if options.get_filename().as_os_str().is_empty() || has_parameter(url, "mode", &["memory"]) {
        let expected =
            "`sqlite://<file>`, or `sqlite::memory:` for a database that is gone at the stop";
        return Err(OpenError::Url(expected.to_owned()));
    }
    Ok(options)
}

/// Returns the options of a database that is written to.
fn options_to_write(url: &str) -> Result<SqliteConnectOptions, OpenError> {
    if has_parameter(url, "mode", &["ro"]) || has_parameter(url, "immutable", &["true", "1"]) {
        let expected =
            "`sqlite://<file>` without `mode=ro` and `immutable`: the file is written to";
        return Err(OpenError::Url(expected.to_owned()));
    }
    options(url)
}

/// Returns whether a parameter of the URL has one of these values.
fn has_parameter(url: &str, name: &str, values: &[&str]) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.any(|(key, value)| key == name && values.contains(&&*value))
}

/// Returns the file of a database. A database in memory has none.
fn file_of(options: &SqliteConnectOptions) -> Option<&Path> {
    let file = options.get_filename();
    // sqlx calls a database in memory `file:sqlx-in-memory-<n>`.
    let is_in_memory = file.as_os_str().as_encoded_bytes().starts_with(b"file:");
    (!is_in_memory).then_some(file)
}

/// Creates the file of a database if it is missing, and makes it private.
fn make_private(options: &SqliteConnectOptions) -> Result<(), OpenError> {
    let Some(file) = file_of(options) else { return Ok(()) };
    can_have(file)?;
    sqlite_files::make_private(file);
    Ok(())
}

/// Refuses a place at which no file can be.
fn can_have(file: &Path) -> Result<(), OpenError> {
    if file.is_dir() {
        return Err(OpenError::Folder(file.display().to_string()));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.exists()) {
        Some(folder) => Err(OpenError::NoFolder(folder.display().to_string())),
        None => Ok(()),
    }
}

/// Refuses a database whose file is missing.
pub(crate) fn must_exist(url: &str) -> Result<(), OpenError> {
    let options = options(url)?;
    match file_of(&options) {
        Some(file) if !is_there(file)? => Err(OpenError::NoFile),
        _ => Ok(()),
    }
}

/// Returns whether the file of a database exists.
///
/// # Errors
/// The URL names nothing that can be written to, the folder does not exist, so that the file cannot be made, the file is a folder
/// itself, or its folder lets nobody look.
pub(crate) fn exists(url: &str) -> Result<bool, OpenError> {
    let options = options_to_write(url)?;
    let Some(file) = file_of(&options) else { return Ok(true) };
    can_have(file)?;
    is_there(file)
}

fn is_there(file: &Path) -> Result<bool, OpenError> {
    file.try_exists().map_err(OpenError::Hidden)
}

/// Returns the error of a connection.
fn not_opened(error: sqlx::Error) -> OpenError {
    match sqlite_fault(&error) {
        Some(fault) => OpenError::Unwritable { fault, error },
        None => OpenError::Connect(error),
    }
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).max_connections(connections)
}

/// Returns the options of the pool of the writer. After some failures, as of a full disk, SQLite itself has ended the
/// transaction, and the connection can neither end it nor begin another one: it is closed.
fn pool_of_writer() -> SqlitePoolOptions {
    pool(1).after_release(|connection, _| {
        Box::pin(async move {
            // The end of a transaction that was dropped comes first.
            connection.ping().await?;
            Ok(!connection.is_in_transaction())
        })
    })
}

/// An open file, and its pools.
pub(crate) struct Opened {
    /// `None` for a database in memory.
    pub(crate) path: Option<PathBuf>,
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

/// Opens the file, creates it if it is missing, and migrates it as far as it may.
pub(crate) async fn open(url: &str, migrates: Migrates) -> Result<Opened, OpenError> {
    let options = options_to_write(url)?
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .journal_mode(SqliteJournalMode::Wal)
        // An acknowledged write survives a power cut.
        .synchronous(SqliteSynchronous::Full)
        // What is deleted is overwritten in each page that is written anyway.
        .pragma("secure_delete", "fast");
    // Before SQLite creates it with the rights that the umask leaves.
    make_private(&options)?;
    let writer = pool_of_writer()
        .connect_with(options.clone().create_if_missing(true))
        .await
        .map_err(not_opened)?;
    let migrations = migrations::sqlite();
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&writer).await;
    schema::check_before_migration(&migrations, applied, migrates)?;
    migrations.run(&writer).await.map_err(schema::not_migrated)?;
    let path = file_of(&options).map(Path::to_owned);
    // After the writer: a read-only connection can create neither the file nor its tables.
    let readers = options.read_only(true).pragma("cache_size", READ_CACHE);
    let readers = pool(READERS).connect_with(readers).await.map_err(not_opened)?;
    Ok(Opened { path, writer, readers })
}

/// Opens an existing file to read only.
pub(crate) async fn open_to_read(url: &str) -> Result<SqlitePool, OpenError> {
    let options = options(url)?.busy_timeout(BUSY_TIMEOUT).read_only(true).create_if_missing(false);
    let readers = pool(READERS).connect_with(options).await.map_err(not_opened)?;
    let applied = sqlx::query_as(schema::APPLIED).fetch_all(&readers).await;
    schema::check(&migrations::sqlite(), applied)?;
    Ok(readers)
}

/// Tells whether the file, which may be missing, has no table.
pub(crate) async fn is_empty(url: &str) -> Result<bool, OpenError> {
    let options = options_to_write(url)?.create_if_missing(true);
    make_private(&options)?;
    let connected = SqliteConnection::connect_with(&options).await;
    let mut connection = connected.map_err(not_opened)?;
    let tables = sqlx::query_scalar("SELECT count(*) FROM sqlite_master");
    let tables: i64 = tables.fetch_one(&mut connection).await.map_err(not_opened)?;
    connection.close().await.map_err(not_opened)?;
    Ok(tables == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_deleted_is_not_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("test.db");
        let opened =
            open(&format!("sqlite://{}", file.display()), Migrates::Empty).await.expect("opens");
        for statement in [
            "CREATE TABLE words (word TEXT)",
            "INSERT INTO words VALUES ('the-first'), ('the-forgotten'), ('the-last')",
            "DELETE FROM words WHERE word = 'the-forgotten'",
            "PRAGMA wal_checkpoint(TRUNCATE)",
        ] {
            sqlx::query(statement).execute(&opened.writer).await.expect("works");
        }
        let stored = std::fs::read(&file).expect("reads");
        assert!(contains(&stored, "the-first") && !contains(&stored, "the-forgotten"));
    }

    fn contains(stored: &[u8], word: &str) -> bool {
        stored.windows(word.len()).any(|part| part == word.as_bytes())
    }
}
