//! The table of rows on real databases.

use portcullis_engine::sql::{Dialect, Sql, SqlParam};
use portcullis_test_postgres::Cluster;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor, PgPool, Row as _, SqlitePool};

use super::rows::{ATTRIBUTES, Row};

/// Ignores case in the columns that are not declared binary.
const SQLITE_TABLE: &str = "CREATE TABLE docs (
    id INTEGER PRIMARY KEY,
    name TEXT COLLATE NOCASE,
    code TEXT,
    owner TEXT NOT NULL COLLATE NOCASE,
    prefix TEXT COLLATE RTRIM,
    level INTEGER,
    rank INTEGER NOT NULL,
    score REAL,
    flag INTEGER,
    until TEXT,
    parent TEXT,
    key TEXT NOT NULL COLLATE NOCASE,
    day TEXT,
    tags TEXT COLLATE NOCASE,
    numbers TEXT,
    scores TEXT,
    labels TEXT NOT NULL)";

/// `ci` ignores case, if PostgreSQL has ICU; otherwise the columns have another collation than `C`.
const POSTGRES_TABLE: &str = "CREATE TABLE docs (
    id bigint PRIMARY KEY,
    name text COLLATE ci,
    code text COLLATE \"C\",
    owner varchar(40) COLLATE ci NOT NULL,
    prefix text,
    level bigint,
    rank bigint NOT NULL,
    score double precision,
    flag boolean,
    until timestamptz,
    parent uuid,
    key uuid NOT NULL,
    day date,
    tags text[] COLLATE ci,
    numbers bigint[],
    scores double precision[],
    labels varchar(40)[] NOT NULL)";
const POSTGRES_COLLATIONS: [&str; 2] = [
    "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    "CREATE COLLATION ci FROM \"POSIX\"",
];

pub(crate) enum Database {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Database {
    pub(crate) async fn sqlite() -> Self {
        let options = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
        let pool = options.connect("sqlite::memory:").await.expect("connects");
        pool.execute(SQLITE_TABLE).await.expect("a table");
        Self::Sqlite(pool)
    }

    /// Returns `None`, with a message, if PostgreSQL is not installed.
    pub(crate) async fn postgres() -> Option<(portcullis_test_postgres::Database, Self)> {
        let own = Cluster::shared()?.database();
        let pool = PgPool::connect(own.url()).await.expect("connects");
        let mut made = false;
        for collation in POSTGRES_COLLATIONS {
            made = made || pool.execute(collation).await.is_ok();
        }
        pool.execute(POSTGRES_TABLE).await.expect("a table");
        Some((own, Self::Postgres(pool)))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    pub(crate) async fn fill(&self, rows: &[Row]) {
        for (id, row) in (0_i64..).zip(rows) {
            match self {
                Self::Sqlite(pool) => {
                    let values = ", ?".repeat(ATTRIBUTES.len());
                    let insert = AssertSqlSafe(format!("INSERT INTO docs VALUES (?{values})"));
                    let mut insert = sqlx::query(insert).bind(id);
                    for attribute in &ATTRIBUTES {
                        insert = match row.get(attribute.name) {
                            None => insert.bind(None::<String>),
                            Some(Value::String(text)) => insert.bind(text),
                            Some(Value::Bool(value)) => insert.bind(*value),
                            Some(Value::Number(number)) => match number.as_i64() {
                                Some(integer) => insert.bind(integer),
                                None => insert.bind(number.as_f64()),
                            },
                            Some(list) => insert.bind(list.to_string()),
                        };
                    }
                    insert.execute(pool).await.expect("inserts");
                }
                Self::Postgres(pool) => {
                    let mut row = row.clone();
                    row.insert("id".to_owned(), id.into());
                    let insert = "INSERT INTO docs SELECT * FROM \
                                  json_populate_record(NULL::docs, CAST($1 AS json))";
                    let insert = sqlx::query(insert).bind(Value::Object(row).to_string());
                    insert.execute(pool).await.expect("inserts");
                }
            }
        }
    }

    /// Returns the value of the condition for each row, in order.
    pub(crate) async fn select(&self, sql: &Sql) -> Vec<Option<bool>> {
        let text = AssertSqlSafe(format!("SELECT {} FROM docs AS d ORDER BY d.id", sql.text));
        match self {
            Self::Sqlite(pool) => {
                let mut query = sqlx::query(text);
                for param in &sql.params {
                    query = match param {
                        SqlParam::Text(text) => query.bind(text.to_string()),
                        SqlParam::Integer(value) => query.bind(*value),
                        SqlParam::Number(value) => query.bind(*value),
                        other => panic!("{other:?} is not a value of SQLite"),
                    };
                }
                let rows = query.fetch_all(pool).await;
                let rows = rows.unwrap_or_else(|error| panic!("{error}: {}", sql.text));
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Postgres(pool) => {
                let mut query = sqlx::query(text).persistent(false);
                for param in &sql.params {
                    query = match param {
                        SqlParam::Text(text) => query.bind(text.to_string()),
                        SqlParam::Integer(value) => query.bind(*value),
                        SqlParam::Number(value) => query.bind(*value),
                        SqlParam::Bool(value) => query.bind(*value),
                        SqlParam::Instant(at) => query.bind(SqlParam::instant_text(*at)),
                        SqlParam::Uuid(uuid) => query.bind(uuid.to_string()),
                        SqlParam::Date(date) => query.bind(date.to_string()),
                    };
                }
                let rows = query.fetch_all(pool).await;
                let rows = rows.unwrap_or_else(|error| panic!("{error}: {}", sql.text));
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    }
}
