//! The table of rows on real databases.

use portcullis_engine::sql::{Dialect, Sql, SqlParam};
use portcullis_test_postgres::Cluster;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Decode, Executor, PgPool, Postgres, Row as _, Sqlite, SqlitePool, Type};

use super::rows::{ATTRIBUTES, Row};

/// Ignores case in the columns that are not declared binary.
const SQLITE_TABLES: &str = "CREATE TABLE docs (
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
    labels TEXT NOT NULL,
    mixed TEXT);
    CREATE TABLE pairs (
    doc INTEGER,
    readers TEXT COLLATE NOCASE,
    codes TEXT,
    levels INTEGER,
    weights REAL,
    teams TEXT,
    days TEXT)";

/// `ci` ignores case, if PostgreSQL has ICU; otherwise the columns have another collation than `C`.
const POSTGRES_TABLES: &str = "CREATE TABLE docs (
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
    labels varchar(40)[] NOT NULL,
    mixed text[]);
    CREATE TABLE pairs (
    doc bigint,
    readers varchar(40) COLLATE ci,
    codes text COLLATE \"C\",
    levels bigint,
    weights double precision,
    teams uuid,
    days date)";
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
        pool.execute(SQLITE_TABLES).await.expect("tables");
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
        pool.execute(POSTGRES_TABLES).await.expect("tables");
        Some((own, Self::Postgres(pool)))
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            Self::Sqlite(_) => Dialect::Sqlite,
            Self::Postgres(_) => Dialect::Postgres,
        }
    }

    pub(crate) async fn fill(&self, rows: &[Row]) {
        let columns: Vec<_> =
            ATTRIBUTES.iter().filter(|one| !one.paired).map(|one| one.name).collect();
        for (id, row) in (0_i64..).zip(rows) {
            self.insert("docs", "id", id, &columns, row).await;
            for attribute in ATTRIBUTES.iter().filter(|attribute| attribute.paired) {
                let items = row[attribute.name].as_array().expect("a list");
                // A value that is NULL is no item.
                for item in items.iter().chain([&Value::Null]) {
                    let pair = Row::from_iter([(attribute.name.to_owned(), item.clone())]);
                    self.insert("pairs", "doc", id, &[attribute.name], &pair).await;
                }
            }
        }
    }

    async fn insert(&self, table: &str, key: &str, id: i64, columns: &[&str], row: &Row) {
        match self {
            Self::Sqlite(pool) => {
                let names = columns.join(", ");
                let values = ", ?".repeat(columns.len());
                let insert = format!("INSERT INTO {table} ({key}, {names}) VALUES (?{values})");
                let mut insert = sqlx::query(AssertSqlSafe(insert)).bind(id);
                for column in columns {
                    insert = match row.get(*column).unwrap_or(&Value::Null) {
                        Value::Null => insert.bind(None::<String>),
                        Value::String(text) => insert.bind(text),
                        Value::Bool(value) => insert.bind(*value),
                        Value::Number(number) => match number.as_i64() {
                            Some(integer) => insert.bind(integer),
                            None => insert.bind(number.as_f64()),
                        },
                        list => insert.bind(list.to_string()),
                    };
                }
                insert.execute(pool).await.expect("inserts");
            }
            Self::Postgres(pool) => {
                let mut row = row.clone();
                row.insert(key.to_owned(), id.into());
                let insert = format!(
                    "INSERT INTO {table} SELECT * FROM json_populate_record(NULL::{table}, CAST($1 AS json))"
                );
                let insert = sqlx::query(AssertSqlSafe(insert));
                insert.bind(Value::Object(row).to_string()).execute(pool).await.expect("inserts");
            }
        }
    }

    /// Runs statements without parameters.
    pub(crate) async fn run(&self, statements: &'static str) {
        match self {
            Self::Sqlite(pool) => pool.execute(statements).await.map(|_| ()),
            Self::Postgres(pool) => pool.execute(statements).await.map(|_| ()),
        }
        .expect("runs");
    }

    /// Inserts rows by a statement that reads a JSON list of them, and returns 1 for each.
    pub(crate) async fn insert_all(&self, insert: &str, rows: &[Value]) {
        let text = SqlParam::Text(Value::from(rows).to_string().into());
        let inserted: Vec<i64> = self.column(insert.to_owned(), &[text], 0).await;
        assert_eq!(inserted.len(), rows.len());
    }

    /// Returns the value of the condition for each row, in order.
    pub(crate) async fn select(&self, sql: &Sql) -> Vec<Option<bool>> {
        let text = format!("SELECT {} FROM docs AS d ORDER BY d.id", sql.text);
        self.column(text, &sql.params, 0).await
    }

    /// Returns a column of the rows of a query.
    pub(crate) async fn column<T>(
        &self,
        query: String,
        params: &[SqlParam],
        column: usize,
    ) -> Vec<T>
    where
        T: for<'r> Decode<'r, Sqlite>
            + Type<Sqlite>
            + for<'r> Decode<'r, Postgres>
            + Type<Postgres>,
    {
        let shown = query.clone();
        let text = AssertSqlSafe(query);
        match self {
            Self::Sqlite(pool) => {
                let mut query = sqlx::query(text);
                for param in params {
                    query = match param {
                        SqlParam::Text(text) => query.bind(text.to_string()),
                        SqlParam::Integer(value) => query.bind(*value),
                        SqlParam::Number(value) => query.bind(*value),
                        other => panic!("{other:?} is not a value of SQLite"),
                    };
                }
                let rows =
                    query.fetch_all(pool).await.unwrap_or_else(|error| panic!("{error}: {shown}"));
                rows.iter().map(|row| row.get(column)).collect()
            }
            Self::Postgres(pool) => {
                let mut query = sqlx::query(text).persistent(false);
                for param in params {
                    query = match param {
                        SqlParam::Text(text) => query.bind(text.to_string()),
                        SqlParam::Integer(value) => query.bind(*value),
                        SqlParam::Number(value) => query.bind(*value),
                        SqlParam::Bool(value) => query.bind(*value),
                        SqlParam::Instant(at) => query.bind(SqlParam::instant_text(*at)),
                        SqlParam::Uuid(uuid) => query.bind(uuid.to_string()),
                        SqlParam::Date(date) => query.bind(date.to_string()),
                        SqlParam::Ids(_, ids) => {
                            query.bind(ids.iter().map(ToString::to_string).collect::<Vec<_>>())
                        }
                    };
                }
                let rows =
                    query.fetch_all(pool).await.unwrap_or_else(|error| panic!("{error}: {shown}"));
                rows.iter().map(|row| row.get(column)).collect()
            }
        }
    }
}
