//! Whether a database that must not be migrated has the schema of this version.

use std::collections::BTreeSet;

use sqlx::migrate::Migrator;

use super::OpenError;

/// What sqlx notes of the migrations that were applied.
pub(super) const APPLIED: &str = "SELECT version FROM _sqlx_migrations WHERE success";

/// Compares the migrations that this version knows with those that [`APPLIED`] gave.
pub(super) fn check(
    known: &Migrator,
    applied: Result<Vec<(i64,)>, sqlx::Error>,
) -> Result<(), OpenError> {
    let applied: BTreeSet<i64> = match applied {
        Ok(rows) => rows.into_iter().map(|(version,)| version).collect(),
        // The statement is sound: what the database refuses of it is the table.
        Err(sqlx::Error::Database(_)) => {
            return Err(OpenError::Schema(
                "it has no schema of Portcullis, which `portcullis migrate` makes",
            ));
        }
        Err(error) => return Err(OpenError::Connect(error)),
    };
    let known: BTreeSet<i64> = known.iter().map(|migration| migration.version).collect();
    if known.is_subset(&applied) && applied.is_subset(&known) {
        Ok(())
    } else if applied.is_subset(&known) {
        Err(OpenError::Schema("its schema is older than this version; see `portcullis migrate`"))
    } else {
        Err(OpenError::Schema("its schema is newer than this version"))
    }
}
