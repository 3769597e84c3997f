//! The statements of this crate, found in its source: all fit the schema, and survive a migration that adds columns.

use std::fs;
use std::path::{Path, PathBuf};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqlSafeStr};

use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::tx::Inner;

on_every_database!(every_statement_fits_the_schema);

/// Returns the sources of this crate, without tests.
pub(super) fn sources() -> Vec<(PathBuf, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("tests")) {
                continue;
            }
            match path.is_dir() {
                true => folders.push(path),
                false => sources.push((path.clone(), fs::read_to_string(&path).expect("text"))),
            }
        }
    }
    sources
}

/// Returns the columns that the macro `columns!()` of a source lists.
fn columns(source: &str) -> String {
    let row = source.split("as columns {").nth(1).and_then(|row| row.split('}').next());
    let fields = row.map(|row| row.lines().filter_map(|line| line.split_once(": ")));
    let fields = fields.map(|fields| fields.map(|(name, _)| name.trim()).collect::<Vec<_>>());
    // A member that is a struct has a colon behind its name, and its columns in braces.
    let stored = source.split(" as Row of ").nth(1).and_then(|it| it.split_once('{'));
    let stored = stored.and_then(|(_, members)| members.split("\n}").next());
    let is_column = |name: &&str| !name.is_empty() && !name.contains(':');
    let stored =
        stored.map(|it| it.split(['{', '}', ',']).map(str::trim).filter(is_column).collect());
    let written = source.split("macro_rules! columns {").nth(1).and_then(|it| it.split('"').nth(1));
    let written = written.map(|columns| columns.replace("\\\n", " "));
    written.or(stored.or(fields).map(|names| names.join(", "))).unwrap_or_default()
}

/// Returns the statements of a source: its string constants that begin with a verb of SQL.
fn statements_of(source: &str) -> Vec<String> {
    // A quote inside of a text, while texts are split at their quotes.
    const QUOTE: &str = "\u{1}";
    let text = |constant: &str| {
        let (constant, _) = constant.split_once(';').expect("the end of a constant");
        let constant = constant.replace("\\\"", QUOTE);
        let parts = constant.split('"').enumerate().map(|(index, part)| match index % 2 {
            1 => part.replace("\\\n", " "),
            _ if part.contains("select!(") => format!("SELECT {} ", columns(source)),
            _ if part.contains("pages!(") => format!("SELECT {} ", sizes(part)),
            _ if part.contains("columns!()") => columns(source),
            _ => String::new(),
        });
        parts.collect::<String>().replace(QUOTE, "\"")
    };
    let pages = source.split(": Pages =").skip(1);
    let pages = pages.flat_map(|it| [text(it), text(&it.replacen("pages!(", "select!(", 1))]);
    let indexed = source.split("indexed!(").skip(1).flat_map(indexed);
    let all = source.split(": &str =").skip(1).map(text).filter(|it| begins_statement(it));
    all.chain(pages).chain(indexed).collect()
}

/// Returns the statements of both databases that `indexed!(…, …, …)` makes.
fn indexed(arguments: &str) -> Vec<String> {
    let arguments = arguments.replace("\\\n", " ");
    let texts: Vec<&str> = arguments.splitn(5, '"').collect();
    let [_, from, index, rest, ..] = texts[..] else { return Vec::new() };
    let index = index.trim_matches([',', ' ', '\n']);
    if !begins_statement(from) {
        return Vec::new();
    }
    vec![format!("{from} INDEXED BY {index} {rest}"), format!("{from} {rest} {OF_POSTGRES}")]
}

/// Returns whether a text begins with a verb of SQL.
pub(super) fn begins_statement(text: &str) -> bool {
    ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "].iter().any(|word| text.starts_with(word))
}

/// Returns the sizes that `pages!([…], …)` selects.
fn sizes(pages: &str) -> String {
    let columns = pages.split(['[', ']']).nth(1).expect("a list of columns");
    let sizes = columns.split(", ").map(|column| format!("COALESCE(octet_length({column}), 0)"));
    sizes.collect::<Vec<_>>().join(" + ")
}

pub(super) fn statements() -> Vec<String> {
    let statements: Vec<_> =
        sources().iter().flat_map(|(_, source)| statements_of(source)).collect();
    assert!(statements.len() >= 150, "only {} were found", statements.len());
    statements
}

/// Marks a statement that SQLite knows, but that goes to PostgreSQL alone.
const OF_POSTGRES: &str = "/* of PostgreSQL */";

/// Returns whether PostgreSQL alone knows a part of a statement.
pub(super) fn is_of_postgres(statement: &str) -> bool {
    let parts = [
        OF_POSTGRES,
        "set_config",
        "pg_",
        "portcullis_change",
        "has_schema_privilege",
        "FOR UPDATE",
        "json_array_elements_text",
        "UNNEST",
        "= ANY ($",
        "COLLATE",
    ];
    parts.iter().any(|it| statement.contains(it))
}

/// Returns whether SQLite alone knows a part of a statement.
pub(super) fn is_of_sqlite(statement: &str) -> bool {
    ["json_each", "hex(", "INDEXED BY"].iter().any(|it| statement.contains(it))
}

async fn every_statement_fits_the_schema(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write_as("acme").await.expect("begins");
    for statement in statements() {
        let sql = AssertSqlSafe(statement.clone());
        let prepared = match &mut tx.inner {
            Inner::Sqlite(_) if is_of_postgres(&statement) => continue,
            Inner::Postgres(_) if is_of_sqlite(&statement) => continue,
            Inner::Sqlite(connection) => connection.prepare(sql.into_sql_str()).await.map(drop),
            Inner::Postgres(connection) => connection.prepare(sql.into_sql_str()).await.map(drop),
        };
        prepared.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Executes the prepared statements `s0`, `s1` and so on with parameters that are all null.
async fn execute_all(connection: &mut PgConnection, statements: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, statement) in statements.iter().enumerate() {
        let parameters = (1..).take_while(|it| statement.contains(&format!("${it}"))).count();
        let nulls = vec!["NULL"; parameters].join(", ");
        let nulls = if nulls.is_empty() { nulls } else { format!("({nulls})") };
        let sql = AssertSqlSafe(format!("EXECUTE s{number}{nulls}"));
        if let Err(error) = connection.execute(sql).await {
            faults.push(format!("{statement}: {error}"));
        }
    }
    faults
}

/// Replicas of an older version keep their prepared statements while a newer one migrates the database.
#[tokio::test]
async fn prepared_statements_survive_a_migration_that_adds_columns() {
    let Some(database) = TestDatabase::postgres() else { return };
    database.open().await.close().await;
    let mut connection = PgConnection::connect(&database.url()).await.expect("connects");
    let rows = |it: &String| !it.starts_with("INSERT") && !is_of_sqlite(it);
    let statements: Vec<_> = statements().into_iter().filter(rows).collect();
    for (number, statement) in statements.iter().enumerate() {
        let sql = AssertSqlSafe(format!("PREPARE s{number} AS {statement}"));
        connection.execute(sql).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    assert_eq!(execute_all(&mut connection, &statements).await, [""; 0]);
    const TABLES: &str = "SELECT CAST(tablename AS TEXT) FROM pg_tables \
        WHERE schemaname = current_schema()";
    let tables: Vec<String> =
        sqlx::query_scalar(TABLES).fetch_all(&mut connection).await.expect("works");
    assert!(tables.len() > 10, "{tables:?}");
    for table in tables {
        let sql = AssertSqlSafe(format!("ALTER TABLE {table} ADD COLUMN of_a_newer_version TEXT"));
        connection.execute(sql).await.expect("works");
    }
    assert_eq!(execute_all(&mut connection, &statements).await, [""; 0]);
    // The control: this is the statement that does not survive.
    for careless in ["PREPARE careless AS SELECT * FROM tenants", "EXECUTE careless"] {
        connection.execute(careless).await.expect("works");
    }
    connection.execute("ALTER TABLE tenants ADD COLUMN newer TEXT").await.expect("works");
    let error = connection.execute("EXECUTE careless").await.expect_err("it has one column more");
    assert!(error.to_string().contains("cached plan must not change result type"), "{error}");
}

/// A column that a newer version adds would change the result, and PostgreSQL would refuse the prepared statement.
#[test]
fn every_statement_names_its_columns() {
    let is_careless = |line: &&str| {
        !line.trim_start().starts_with("//")
            && ["SELECT *", "RETURNING *", ".* "].iter().any(|it| line.contains(it))
    };
    for (path, source) in sources() {
        let careless: Vec<_> = source.lines().filter(is_careless).collect();
        assert!(careless.is_empty(), "{}: name the columns: {careless:?}", path.display());
    }
    assert!(is_careless(&"    const SQL: &str = \"SELECT * FROM tenants\";"), "the control");
}
