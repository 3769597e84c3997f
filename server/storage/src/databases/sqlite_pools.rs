//! The pools of connections to a SQLite file. Somebody may put another file in its place while the service runs, and then
//! open connections go on with a file that nobody finds any more.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;
use sqlx::{Executor as _, Sqlite, SqlitePool, Transaction};

use crate::databases::schema::Migrates;
use crate::databases::sqlite;
use crate::databases::sqlite::Opened;
use crate::transactions::error::{OpenError, StoreError};
use crate::transactions::newest_commit::NewestCommit;
use crate::transactions::sqlite_files;

/// A write that changes nothing: the number is the one that every database has.
const NEUTRAL_WRITE: &str = "BEGIN IMMEDIATE; PRAGMA user_version = 0; COMMIT";

/// The pools of the file at a URL.
#[derive(Debug)]
pub(crate) struct SqlitePools {
    /// `None` where the pools stay: for a database in memory, or one that is open to read only.
    file: Option<WatchedFile>,
    current: RwLock<Pools>,
    reopening: tokio::sync::Mutex<()>,
    judging: tokio::sync::Mutex<()>,
}

/// The file that a URL names.
#[derive(Debug)]
struct WatchedFile {
    url: String,
    migrates: Migrates,
    path: PathBuf,
    newest: Arc<NewestCommit>,
}

/// The pools of one file.
#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// One connection: SQLite has one writer, and a queue in the pool is fairer than its busy handler.
    pub(crate) writer: SqlitePool,
    /// Opened read-only: a mistaken write fails instead of waiting for the writer's lock.
    pub(crate) readers: SqlitePool,
    identity: Option<FileIdentity>,
    /// Whether somebody has looked if the file lacks commits.
    is_judged: Arc<AtomicBool>,
}

/// Devices and numbers of the file and of its log of writes. The log stays for as long as a connection is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    database: (u64, u64),
    log: Option<(u64, u64)>,
}

impl WatchedFile {
    /// Returns what is at the path now; `None` if there is no file.
    fn identity(&self) -> Option<FileIdentity> {
        let database = device_and_number(self.path.metadata().ok()?);
        let log = sqlite_files::log_of(&self.path).metadata().ok().map(device_and_number);
        Some(FileIdentity { database, log })
    }
}

fn device_and_number(found: Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl SqlitePools {
    /// Opens the file at `url`, creates it if it is missing, and migrates it as far as it may. Another file that takes its place
    /// is opened later, in the same way.
    ///
    /// # Errors
    /// The errors of [`sqlite::open`].
    pub(crate) async fn open(url: &str, migrates: Migrates) -> Result<Self, OpenError> {
        let opened = sqlite::open(url, migrates).await?;
        Ok(Self::watched(url, migrates, opened))
    }

    fn watched(url: &str, migrates: Migrates, opened: Opened) -> Self {
        let Opened { path, writer, readers } = opened;
        let file = path.map(|path| WatchedFile {
            url: url.to_owned(),
            migrates,
            newest: Arc::new(NewestCommit::beside(&path)),
            path,
        });
        // After the opening, which creates the file and its log.
        let identity = file.as_ref().and_then(WatchedFile::identity);
        // Pools that stay lack nothing.
        let is_judged = Arc::new(AtomicBool::new(file.is_none()));
        Self {
            file,
            current: RwLock::new(Pools { writer, readers, identity, is_judged }),
            reopening: tokio::sync::Mutex::default(),
            judging: tokio::sync::Mutex::default(),
        }
    }

    /// Returns pools that stay.
    pub(crate) fn fixed(writer: SqlitePool, readers: SqlitePool) -> Self {
        Self::watched("", Migrates::Nothing, Opened { path: None, writer, readers })
    }

    /// Begins a transaction that reads one snapshot.
    pub(crate) async fn begin_read(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        Ok(self.pools().await?.readers.begin().await?)
    }

    /// Begins a transaction that holds the write lock from its start: a transaction that reads first and writes later
    /// fails if another one has written in between.
    pub(crate) async fn begin_write(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        Ok(self.pools().await?.writer.begin_with("BEGIN IMMEDIATE").await?)
    }

    /// Returns where the newest commit is noted; `None` for pools that stay.
    pub(crate) fn newest(&self) -> Option<&Arc<NewestCommit>> {
        self.file.as_ref().map(|file| &file.newest)
    }

    /// Runs `judge` if nobody has looked yet whether the file that is at the path now lacks commits. All others wait for it.
    pub(crate) async fn judge(
        &self,
        judge: impl AsyncFnOnce(&NewestCommit) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(file) = &self.file else { return Ok(()) };
        // The flag belongs to the file that is open: another file that takes its place has its own.
        let is_judged = self.pools().await?.is_judged;
        if is_judged.load(Ordering::Acquire) {
            return Ok(());
        }
        let _judging = self.judging.lock().await;
        if !is_judged.load(Ordering::Acquire) {
            judge(&file.newest).await?;
            is_judged.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Returns whether somebody has looked if the file that was opened last lacks commits.
    pub(crate) fn is_judged(&self) -> bool {
        self.current.read().is_judged.load(Ordering::Acquire)
    }

    /// Writes something that changes nothing, if there is a file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) async fn try_to_write(&self) -> Result<(), StoreError> {
        if self.file.is_none() {
            return Ok(());
        }
        let writer = self.pools().await?.writer;
        // A connection that was opened while the file was read-only stays so.
        writer.acquire().await?.close().await?;
        let mut connection = writer.acquire().await?;
        // The text leaves a transaction open where it fails.
        connection.close_on_drop();
        connection.execute(NEUTRAL_WRITE).await?;
        Ok(())
    }

    /// Waits for the connections in use and closes all.
    pub(crate) async fn close(&self) {
        let Pools { writer, readers, .. } = self.current();
        // The writer last: SQLite moves the log into the file when the last connection closes, which a read-only one cannot do.
        readers.close().await;
        writer.close().await;
    }

    fn current(&self) -> Pools {
        self.current.read().clone()
    }

    /// Returns the pools of the file that is at the path now.
    async fn pools(&self) -> Result<Pools, StoreError> {
        let pools = self.current();
        let Some(file) = &self.file else { return Ok(pools) };
        // Closed pools in use mean that the service stops: nothing is opened again.
        if pools.writer.is_closed() || file.identity() == pools.identity {
            return Ok(pools);
        }
        let _reopening = self.reopening.lock().await;
        // Another task may have opened the file while this one waited.
        let pools = self.current();
        match file.identity() {
            None => return Err(StoreError::NoFile),
            identity if identity == pools.identity => return Ok(pools),
            Some(_) => {}
        }
        let opened = Self::open(&file.url, file.migrates).await;
        let opened = opened.map_err(|error| StoreError::Unreachable(error.to_string().into()))?;
        let new = opened.current();
        if new.identity.map(|new| new.database) != pools.identity.map(|old| old.database) {
            tracing::warn!("the file of the database is another one now");
        }
        *self.current.write() = new.clone();
        // The calls close the pools. Whoever holds a connection to the old file ends on it.
        drop((pools.readers.close(), pools.writer.close()));
        Ok(new)
    }
}

#[cfg(test)]
mod tests;
