//! The errors of the store.

use std::convert::Infallible;
use std::sync::Arc;

use portcullis_fairness::Stopping;
use portcullis_model::quota::QuotaExcess;

use crate::transactions::sqlite_fault::sqlite_fault;

/// A failed statement or transaction.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database failed or cannot be reached.
    #[error("database error: {0}")]
    Database(sqlx::Error),
    /// The database gives no connection; the text says why and holds no credential.
    #[error("cannot connect to the database: {0}")]
    Unreachable(Arc<str>),
    /// Somebody removed the file of the database.
    #[error("there is no file of the database any more")]
    NoFile,
    /// The operator suspended the tenant, or is deleting it.
    #[error("the tenant is suspended, or is being deleted")]
    TenantClosed,
    /// A row holds a value that no version of this service writes.
    #[error("cannot read the stored {what}")]
    Corrupt {
        /// Table and column.
        what: &'static str,
    },
    /// The transaction adds something beyond the quota of the tenant.
    #[error("{0}")]
    Quota(QuotaExcess),
    /// Entities are on more tuples than one call may delete.
    #[error("more than {limit} tuples name what is deleted")]
    TooManyTuples {
        /// The most tuples that one call may delete.
        limit: usize,
    },
    /// The database did not answer in time.
    #[error("the database did not answer in time")]
    TimedOut,
    /// The system gives no random numbers for the id of a commit.
    #[error("the system gives no random numbers")]
    Random,
    /// Too many writes of the tenant wait.
    #[error("too many writes of this tenant are waiting")]
    Busy,
    /// The tenant has gates, and nobody judged the changes of the transaction.
    #[error("the changes did not pass the gates of the tenant")]
    GatesNotPassed,
    /// The name of the tenant is `*`, which stands for every tenant.
    #[error("`*` is not the name of a tenant")]
    NotATenant,
}

/// Not by `#[from]`: then a text with all causes would have this one twice.
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

/// The work of a store that is closed, because the process stops, ends in the same way.
impl From<Stopping> for StoreError {
    fn from(_: Stopping) -> Self {
        Self::Database(sqlx::Error::PoolClosed)
    }
}

impl From<Infallible> for StoreError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl StoreError {
    /// Returns the error of a value of `what` that cannot be read, whatever its reader says.
    pub(crate) fn corrupt<E>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |_| Self::Corrupt { what }
    }

    /// Returns whether the service has closed the database, because it stops. Nobody needs to know of this failure.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::PoolClosed))
    }

    /// Returns whether the database undid the transaction because it conflicted with another one, so that the same
    /// transaction may succeed at once: a deadlock, or a failed serialization (SQLSTATE `40P01` and `40001`).
    pub fn is_conflict(&self) -> bool {
        let Self::Database(sqlx::Error::Database(error)) = self else { return false };
        error.code().is_some_and(|code| matches!(&*code, "40P01" | "40001"))
    }

    /// Returns what keeps SQLite from writing, in words that show nothing of the machine; `None` for another error.
    pub fn write_fault(&self) -> Option<&'static str> {
        match self {
            Self::Database(error) => sqlite_fault(error),
            Self::NoFile => Some("the file of the database is missing"),
            _ => None,
        }
    }

    /// Tells whether the database as a whole failed, so that the same request may succeed later.
    pub fn is_unavailable(&self) -> bool {
        match self {
            // A statement or a row that does not fit its types is a fault of this service, which a repetition meets again.
            Self::Database(error) => !matches!(
                error,
                sqlx::Error::ColumnDecode { .. }
                    | sqlx::Error::ColumnNotFound(_)
                    | sqlx::Error::Decode(_)
                    | sqlx::Error::Encode(_)
                    | sqlx::Error::RowNotFound
                    | sqlx::Error::TypeNotFound { .. }
            ),
            Self::Unreachable(_) | Self::NoFile | Self::TimedOut => true,
            Self::Corrupt { .. }
            | Self::TenantClosed
            | Self::GatesNotPassed
            | Self::NotATenant
            | Self::Quota(_)
            | Self::TooManyTuples { .. }
            | Self::Random
            | Self::Busy => false,
        }
    }
}

/// The database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is malformed or of another kind of database; the text says what is expected.
    #[error("expected {0}")]
    Url(String),
    /// There is no file, and this command creates none.
    #[error(
        "there is no such file: set DATABASE_URL to the database of the service, or create this one with \
         `portcullis migrate`"
    )]
    NoFile,
    /// The folder of the file does not exist.
    #[error("there is no folder `{0}`: create it first")]
    NoFolder(String),
    /// The file is a folder.
    #[error("`{0}` is a folder: name a file in it")]
    Folder(String),
    /// No connection could be made.
    #[error("cannot open the database: {0}")]
    Connect(sqlx::Error),
    /// No host is a primary; the text has the answer of each and holds no credential.
    #[error("cannot open the database: no host is a primary: {0}")]
    NoPrimary(String),
    /// The only host has no such database for this role, or gives no answer; the text has its reason and holds no credential.
    #[error("cannot open the database: {0}")]
    NoAnswer(String),
    /// SQLite cannot write the file.
    #[error(
        "cannot open the database: {fault}: {error}; the user of this process must be able to write the file and its \
         folder, and the disk must have room"
    )]
    Unwritable { fault: &'static str, error: sqlx::Error },
    /// The place of the file cannot be looked at.
    #[error(
        "cannot look for the file: {0}; the user of this process must be able to enter its folder"
    )]
    Hidden(std::io::Error),
    /// The server works otherwise than this service needs it; the text says how, and what to do.
    #[error("cannot use the database: {0}")]
    Unsuitable(String),
    /// The database has no table of this service.
    #[error("the database has no Portcullis schema; `portcullis migrate` creates it")]
    NoSchema,
    /// The schema is that of an older version.
    #[error(
        "the database schema is older than this version of Portcullis; `portcullis migrate` updates it"
    )]
    OlderSchema,
    /// A newer version migrated the database, by this migration.
    #[error(
        "the database schema is newer than this version of Portcullis, which does not know migration {0}: start the \
         version that migrated it, or a later one"
    )]
    Newer(i64),
    /// A version from before the baseline of the migrations made the schema.
    #[error(
        "the database was written before the release of version 0.3.0, with which upgrades begin: export each tenant with \
         the version that wrote it (`portcullis export`), start this version on an empty database, and apply the folders \
         (`portcullis apply`)"
    )]
    BeforeBaseline,
    /// The database must be empty, but it has tables.
    #[error("expected an empty database, but it has tables")]
    InUse,
    /// The database lost changes, and its tenants cannot begin an epoch.
    #[error("cannot begin an epoch after lost changes: {0}")]
    History(StoreError),
    /// A migration failed.
    #[error("cannot migrate the database: {0}")]
    Migrate(sqlx::migrate::MigrateError),
}
