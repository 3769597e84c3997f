//! Checks that a database which must not be migrated has the schema of this version.

use std::collections::BTreeSet;

use sqlx::migrate::{MigrateError, Migrator};

use crate::transactions::error::OpenError;

/// Reads the versions of the migrations that sqlx applied.
pub(crate) const APPLIED: &str = "SELECT version FROM _sqlx_migrations WHERE success";

/// Returns the error of a migration that failed. A migration that this version does not know was made by a newer one.
pub(crate) fn not_migrated(error: MigrateError) -> OpenError {
    match error {
        MigrateError::VersionMissing(unknown) => OpenError::Newer(unknown),
        error => OpenError::Migrate(error),
    }
}

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
    if let Some(unknown) = applied.difference(&known).next() {
        return Err(OpenError::Newer(*unknown));
    }
    if known.is_subset(&applied) {
        return Ok(());
    }
    Err(OpenError::Schema(
        "the database schema is older than this version of Portcullis; `portcullis migrate` updates it",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::migrations;

    #[test]
    fn a_schema_that_a_newer_version_made_is_named() {
        let known = migrations::sqlite();
        let own: Vec<(i64,)> = known.iter().map(|migration| (migration.version,)).collect();
        assert!(check(&known, Ok(own.clone())).is_ok());
        let older = check(&known, Ok(own[1..].to_vec())).expect_err("older").to_string();
        assert!(older.contains("older than this version"), "{older}");
        let newer = check(&known, Ok([&own[1..], &[(9_999,)]].concat())).expect_err("newer");
        for error in [newer, not_migrated(MigrateError::VersionMissing(9_999))] {
            let error = error.to_string();
            assert!(error.contains("newer than this version") && error.contains("9999"), "{error}");
        }
    }
}
