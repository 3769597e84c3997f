//! The migrations of both databases, embedded in the binary.
//!
//! A migration that was released never changes: the database keeps the SHA-384 of each applied file, and sqlx refuses
//! a file with another one. sqlx has a macro that embeds a directory; it would build both database drivers a second
//! time, for the compiler.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// A migration file: its name without the ending, and its statements.
type MigrationFile = (&'static str, &'static str);

/// The migration files of a database, in their order.
macro_rules! migration_files {
    ($database:literal) => {
        migration_files!($database, "0001_baseline", "0002_conditions", "0003_console", "0004_plan_conditions",)
    };
    ($database:literal, $($name:literal,)+) => {
        &[$(($name, include_str!(concat!("../../migrations/", $database, "/", $name, ".sql")))),+]
    };
}

const SQLITE: &[MigrationFile] = migration_files!("sqlite");
const POSTGRES: &[MigrationFile] = migration_files!("postgres");

/// Returns the migrations of SQLite.
pub(crate) fn sqlite() -> Migrator {
    migrator(SQLITE)
}

/// Returns the migrations of PostgreSQL.
pub(crate) fn postgres() -> Migrator {
    migrator(POSTGRES)
}

fn migrator(files: &[MigrationFile]) -> Migrator {
    let migrations = files.iter().filter_map(|&(name, sql)| {
        // No file is left out here: a test compares the migrations with all files.
        let (version, description) = name.split_once('_')?;
        let (kind, sql) = (MigrationType::Simple, sql.into_sql_str());
        // Each migration runs in a transaction.
        Some(Migration::new(version.parse().ok()?, description.into(), kind, sql, false))
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The SHA-384 of each file, as databases in use keep them.
    const RELEASED: [(&str, &str); 8] = [
        (
            "postgres/0001_baseline.sql",
            "a1074041b43e79154b31d3372759730cc0a1d49e8c1ebca687c08680c633ad178e8dba0ad1e0bdd05e9c889e9b2813d9",
        ),
        (
            "postgres/0002_conditions.sql",
            "cda8947888c499bc99afa4962bf6bb5f3c3f5332c7ca580b340972ab75c9e2e346929cbbab84a6ee5dd0dd1a1a4f4997",
        ),
        (
            "postgres/0003_console.sql",
            "1948654ba4a2ccd148e5612ec0a3a58f27a9088da52cc3bdfbebb2b72baa2c18f2c2eb7b81d6f1d42a3fc0549f83074d",
        ),
        (
            "postgres/0004_plan_conditions.sql",
            "23f345f5b41f8bc25532dfac168a12e4a47a003f723e8e9431503e872dfc0dc738220ef69b8d60dfb5264a021d2efcc2",
        ),
        (
            "sqlite/0001_baseline.sql",
            "6b6b35821f68cf14549f2f1700e652a12e04e84665a820d96038418394e08ad7f4fa0fdde5d905ec06b47b3236019590",
        ),
        (
            "sqlite/0002_conditions.sql",
            "d46b1d83dcdb1e27a07d2ad775a89383a60908472422c752c9a490fe0dd2f25a1bfb4cb31e55b9d0e6fa2f6a1a2e2681",
        ),
        (
            "sqlite/0003_console.sql",
            "df5d8ed694d44150741e3de7bf45ce6d8fdc364dca1c58b98cbe2f0ef47e3d2bd865081a34c9049ab3c9d1cf8aa7abfc",
        ),
        (
            "sqlite/0004_plan_conditions.sql",
            "b1d0abe41d986e57ba85715d4f54723b91cbc580f9049ef7b2795dded4fc5e05481081f12b831836c47338afcb425ba6",
        ),
    ];

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn databases_in_use_stay_valid() {
        let built = [("postgres", postgres()), ("sqlite", sqlite())];
        let built: Vec<_> = built
            .iter()
            .flat_map(|(database, migrator)| {
                migrator.iter().map(move |migration| {
                    assert_eq!(migration.migration_type, MigrationType::Simple);
                    assert!(!migration.no_tx);
                    let Migration { version, description, checksum, .. } = migration;
                    (format!("{database}/{version:04}_{description}.sql"), hex(checksum))
                })
            })
            .collect();
        let built: Vec<_> = built.iter().map(|(file, sum)| (&**file, &**sum)).collect();
        assert_eq!(built, RELEASED);
        let migrator = sqlite();
        assert_eq!((&*migrator.table_name, migrator.locking), ("_sqlx_migrations", true));
    }

    #[test]
    fn every_file_is_embedded() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        for (database, embedded) in [("sqlite", SQLITE), ("postgres", POSTGRES)] {
            let entries = fs::read_dir(directory.join(database)).expect("a directory");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            let mut files: Vec<_> =
                names.map(|name| name.into_string().expect("in UTF-8")).collect();
            files.sort();
            let embedded: Vec<_> = embedded.iter().map(|(name, _)| format!("{name}.sql")).collect();
            assert_eq!(files, embedded, "{database}");
        }
    }
}
