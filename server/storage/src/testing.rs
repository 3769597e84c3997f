//! Databases for tests: each test runs on its own empty database, on every kind.
#![expect(clippy::expect_used, reason = "only tests use this module, and a failure ends them")]

use portcullis_test_postgres::Cluster;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Executor as _, PgPool, SqlSafeStr as _, SqlitePool};
use tempfile::TempDir;

use crate::store::Store;
use crate::transactions::tx::Inner;

/// A test's own empty database.
pub enum TestDatabase {
    Sqlite(TempDir),
    Postgres(portcullis_test_postgres::Database),
}

impl TestDatabase {
    pub fn sqlite() -> Option<Self> {
        Some(Self::Sqlite(TempDir::new().expect("a directory")))
    }

    /// Returns `None`, with a message, if PostgreSQL is not installed.
    pub fn postgres() -> Option<Self> {
        Some(Self::Postgres(Cluster::shared()?.database()))
    }

    pub async fn open(&self) -> Store {
        Store::open(&self.url()).await.expect("opens")
    }

    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(dir) => format!("sqlite://{}", dir.path().join("test.db").display()),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }
}

/// Migrates the empty database at `url` as unreleased versions did, whose migrations the baseline replaced.
pub async fn make_outdated(url: &str) {
    let files = [
        (1, "rules", "CREATE TABLE tenants (id TEXT NOT NULL PRIMARY KEY)"),
        (2, "service", "ALTER TABLE tenants ADD COLUMN name TEXT"),
    ];
    let migrations = files.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    let migrator = Migrator::with_migrations(migrations.to_vec());
    let migrated = if url.starts_with("sqlite:") {
        let pool = SqlitePool::connect(&format!("{url}?mode=rwc")).await.expect("opens");
        let migrated = migrator.run(&pool).await;
        pool.close().await;
        migrated
    } else {
        let pool = PgPool::connect(url).await.expect("opens");
        let migrated = migrator.run(&pool).await;
        pool.close().await;
        migrated
    };
    migrated.expect("migrates");
}

/// Runs statements in the SQLite database at `url` as it is: without migrations.
pub async fn execute_unmigrated(url: &str, statements: &str) {
    let pool = SqlitePool::connect(url).await.expect("opens");
    pool.execute(sqlx::AssertSqlSafe(statements.to_owned())).await.expect("works");
    pool.close().await;
}

/// Runs statements that see every tenant, in one transaction.
pub async fn execute(store: &Store, statements: impl IntoIterator<Item = String>) {
    let mut tx = store.write_all().await.expect("begins");
    for statement in statements {
        let sql = sqlx::AssertSqlSafe(statement);
        let done = match &mut tx.inner {
            Inner::Sqlite(connection) => connection.execute(sql).await.map(drop),
            Inner::Postgres(connection) => connection.execute(sql).await.map(drop),
        };
        done.expect("works");
    }
    tx.commit().await.expect("commits");
}

/// Makes each function a test on every database.
#[macro_export]
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            use $crate::testing::TestDatabase;
            $(#[tokio::test]
            async fn $test() {
                if let Some(database) = TestDatabase::sqlite() { super::$test(database).await }
            })*
        }
        mod on_postgres {
            use $crate::testing::TestDatabase;
            $(#[tokio::test]
            async fn $test() {
                if let Some(database) = TestDatabase::postgres() { super::$test(database).await }
            })*
        }
    };
}

pub use crate::on_every_database;
