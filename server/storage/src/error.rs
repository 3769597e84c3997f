//! What can go wrong with the store.

/// A failed statement or transaction.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database failed or cannot be reached.
    #[error("database error: {0}")]
    Database(#[from] sqlx::Error),
    /// A row holds what no version of this service wrote there.
    #[error("the stored {what} is not readable")]
    Corrupt {
        /// Table and column.
        what: &'static str,
    },
}

impl StoreError {
    /// Whether the database as a whole is at fault, so that trying again later may help.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Database(error) => !matches!(
                error,
                sqlx::Error::ColumnDecode { .. }
                    | sqlx::Error::ColumnNotFound(_)
                    | sqlx::Error::Decode(_)
                    | sqlx::Error::Encode(_)
                    | sqlx::Error::RowNotFound
                    | sqlx::Error::TypeNotFound { .. }
            ),
            Self::Corrupt { .. } => false,
        }
    }
}

/// Why the database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL is malformed or of another kind of database; the text says what is expected.
    #[error("expected {0}")]
    Url(String),
    /// No connection could be made.
    #[error("cannot open the database: {0}")]
    Connect(sqlx::Error),
    /// The schema is missing, or of another version.
    #[error("{0}")]
    Schema(&'static str),
    /// Somebody's tables are in a database that was to be empty.
    #[error("it must be empty, but it has tables")]
    InUse,
    /// The schema could not be brought up to date.
    #[error("cannot migrate the database: {0}")]
    Migrate(sqlx::migrate::MigrateError),
}
