//! Checks that a database which must not be migrated has the schema of this version.

use std::collections::BTreeSet;

use sqlx::migrate::Migrator;

use crate::error::OpenError;

/// Reads the versions of the migrations that sqlx applied.
pub(crate) const APPLIED: &str = "SELECT version FROM _sqlx_migrations WHERE success";

/// Compares the migrations that this version knows with those that [`APPLIED`] gave.
pub(crate) fn check(
    known: &Migrator,
    applied: Result<Vec<(i64,)>, sqlx::Error>,
) -> Result<(), OpenError> {
    let applied: BTreeSet<i64> = match applied {
        Ok(rows) => rows.into_iter().map(|(version,)| version).collect(),
        // The statement is valid, so the database refuses it because the table is missing.
        Err(sqlx::Error::Database(_)) => {
            return Err(OpenError::Schema(
                "the database has no Portcullis schema; `portcullis migrate` creates it",
            ));
        }
        Err(error) => return Err(OpenError::Connect(error)),
    };
    let known: BTreeSet<i64> = known.iter().map(|migration| migration.version).collect();
    if known.is_subset(&applied) && applied.is_subset(&known) {
        Ok(())
    } else if applied.is_subset(&known) {
        Err(OpenError::Schema(
            "the database schema is older than this version of Portcullis; `portcullis migrate` updates it",
        ))
    } else {
        Err(OpenError::Schema("the database schema is newer than this version of Portcullis"))
    }
}
