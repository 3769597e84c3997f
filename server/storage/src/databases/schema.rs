//! Checks that a database has a schema that this version knows.

use std::collections::BTreeSet;

use sqlx::error::DatabaseError;
use sqlx::migrate::{MigrateError, Migrator};

use crate::transactions::error::OpenError;

/// Reads the migrations that sqlx applied: the version of each, and the SHA-384 of its file.
pub(crate) const APPLIED: &str = "SELECT version, checksum FROM _sqlx_migrations WHERE success";

/// The result of [`APPLIED`].
type Applied = Result<Vec<(i64, Vec<u8>)>, sqlx::Error>;

/// Returns the error of a migration that failed. A migration that this version does not know was made by a newer one.
pub(crate) fn not_migrated(error: MigrateError) -> OpenError {
    match error {
        MigrateError::VersionMissing(unknown) => OpenError::Newer(unknown),
        error => OpenError::Migrate(error),
    }
}

/// The right of the migrations to a database that is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Migrates {
    /// They make the schema, and bring an older one up to date.
    Everything,
    /// They make the schema of an empty database.
    Empty,
    Nothing,
}

/// Refuses a database that this version cannot migrate, or may not. Runs before the first change.
pub(crate) fn check_before_migration(
    known: &Migrator,
    applied: Applied,
    migrates: Migrates,
) -> Result<(), OpenError> {
    match check(known, applied) {
        Err(OpenError::NoSchema) if migrates != Migrates::Nothing => Ok(()),
        Err(OpenError::OlderSchema) if migrates == Migrates::Everything => Ok(()),
        checked => checked,
    }
}

/// Compares the migrations that this version knows with those of the database.
pub(crate) fn check(known: &Migrator, applied: Applied) -> Result<(), OpenError> {
    let applied = match applied {
        Ok(applied) => applied,
        Err(sqlx::Error::Database(error)) if is_missing_table(&*error) => {
            return Err(OpenError::NoSchema);
        }
        Err(error) => return Err(OpenError::Connect(error)),
    };
    // First, because such a database also has migrations that this version does not know.
    if has_another_baseline(known, &applied) {
        return Err(OpenError::BeforeBaseline);
    }
    let applied: BTreeSet<i64> = applied.into_iter().map(|(version, _)| version).collect();
    let known: BTreeSet<i64> = known.iter().map(|migration| migration.version).collect();
    if let Some(unknown) = applied.difference(&known).next() {
        return Err(OpenError::Newer(*unknown));
    }
    if known.is_subset(&applied) {
        return Ok(());
    }
    Err(OpenError::OlderSchema)
}

/// Returns whether a statement failed because its table does not exist.
fn is_missing_table(error: &dyn DatabaseError) -> bool {
    // SQLite has no code for it. The code of PostgreSQL is `undefined_table`.
    error.message().starts_with("no such table") || error.code().as_deref() == Some("42P01")
}

/// Returns whether the database began with another migration than this version. Unreleased versions had 31 small ones.
fn has_another_baseline(known: &Migrator, applied: &[(i64, Vec<u8>)]) -> bool {
    known.iter().next().is_some_and(|baseline| {
        applied.iter().any(|(version, checksum)| {
            *version == baseline.version && checksum[..] != baseline.checksum[..]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::migrations;
    use crate::store::Store;
    use crate::testing::{TestDatabase, execute, make_outdated, on_every_database};
    use crate::transactions::macros::fetch_all;

    on_every_database!(
        a_database_of_before_the_baseline_is_refused_and_left_alone,
        only_a_missing_table_is_a_missing_schema,
        an_older_schema_is_left_alone_unless_it_is_asked_for,
    );

    async fn a_database_of_before_the_baseline_is_refused_and_left_alone(database: TestDatabase) {
        let url = database.url();
        make_outdated(&url).await;
        for refused in [
            Store::open(&url).await.map(drop),
            Store::open_existing(&url).await.map(drop),
            Store::open_to_read(&url).await.map(drop),
            Store::examine(&url).await.map(drop),
            // Nothing changed: the reason is the same.
            Store::open(&url).await.map(drop),
        ] {
            assert!(matches!(refused, Err(OpenError::BeforeBaseline)), "{refused:?}");
        }
    }

    async fn an_older_schema_is_left_alone_unless_it_is_asked_for(database: TestDatabase) {
        let url = database.url();
        let missing = Store::open_existing(&url).await.map(drop);
        assert!(matches!(missing, Err(OpenError::NoSchema | OpenError::NoFile)), "{missing:?}");
        let store = Store::open_or_create(&url).await.expect("an empty database gets its schema");
        // The schema is as if this version had one migration more.
        let newest = "DELETE FROM _sqlx_migrations WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
        execute(&store, [newest.to_owned()]).await;
        store.close().await;
        for refused in [
            Store::open_existing(&url).await.map(drop),
            Store::open_or_create(&url).await.map(drop),
            Store::open_to_read(&url).await.map(drop),
            // Nothing changed: the reason is the same.
            Store::open_existing(&url).await.map(drop),
        ] {
            assert!(matches!(refused, Err(OpenError::OlderSchema)), "{refused:?}");
        }
        // The migration runs again, and meets what it made.
        let migrated = Store::open(&url).await.map(drop);
        assert!(matches!(migrated, Err(OpenError::Migrate(_))), "{migrated:?}");
    }

    async fn only_a_missing_table_is_a_missing_schema(database: TestDatabase) {
        let (store, known) = (database.open().await, migrations::sqlite());
        for (sql, is_missing) in [
            ("SELECT version, checksum FROM unknown_table", true),
            ("SELECT version, unknown_column FROM _sqlx_migrations", false),
        ] {
            let mut tx = store.begin_read_all().await.expect("begins");
            let read = fetch_all!(tx, (i64, Vec<u8>), sql);
            let checked = check(&known, read).expect_err("no migrations");
            assert_eq!(matches!(checked, OpenError::NoSchema), is_missing, "{checked}");
            assert_eq!(matches!(checked, OpenError::Connect(_)), !is_missing, "{checked}");
        }
    }

    #[test]
    fn a_schema_that_a_newer_version_made_is_named() {
        let known = migrations::sqlite();
        let own: Vec<_> = known.iter().map(|it| (it.version, it.checksum.to_vec())).collect();
        assert!(check(&known, Ok(own.clone())).is_ok());
        let older = check(&known, Ok(own[1..].to_vec())).expect_err("older").to_string();
        assert!(older.contains("older than this version"), "{older}");
        assert!(
            check_before_migration(&known, Ok(own[1..].to_vec()), Migrates::Everything).is_ok()
        );
        let newer = [&own[1..], &[(9_999, Vec::new())]].concat();
        for error in [
            check(&known, Ok(newer.clone())).expect_err("newer"),
            check_before_migration(&known, Ok(newer), Migrates::Everything).expect_err("newer"),
            not_migrated(MigrateError::VersionMissing(9_999)),
        ] {
            let error = error.to_string();
            assert!(error.contains("newer than this version") && error.contains("9999"), "{error}");
        }
    }
}
