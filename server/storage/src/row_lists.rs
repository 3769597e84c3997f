//! Statements with lists of rows: one for each of thousands of records would take seconds.

use std::collections::BTreeSet;

use portcullis_model::Timestamp;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::error::StoreError;
use crate::macros::on_database;
use crate::tx::{Inner, Tx};

/// Rows of one statement. With 15 values each they are far from the limits of both databases, 32,766 and 65,535.
pub(crate) const BATCH: usize = 100;

/// A statement with a list of rows.
pub(crate) struct Rows {
    pub(crate) head: &'static str,
    /// Values of a row, beside the tenant.
    pub(crate) values: usize,
    pub(crate) tail: &'static str,
}

impl Rows {
    /// Returns the statement for `count` rows.
    pub(crate) fn statement(&self, count: usize) -> String {
        let row = |index: usize| {
            let values = numbered(index * self.values + 2, self.values);
            format!("($1, {values})")
        };
        let rows: Vec<String> = (0..count).map(row).collect();
        format!("{} VALUES {} {}", self.head, rows.join(", "), self.tail)
    }
}

/// A look-up of rows of a table by many keys.
pub(crate) struct LookUp {
    pub(crate) table: &'static str,
    /// The columns of a key, beside the tenant.
    pub(crate) key: &'static [&'static str],
    /// The columns that it reads, and their names in its rows.
    pub(crate) columns: &'static str,
    pub(crate) names: &'static str,
}

impl LookUp {
    /// Returns the statement for `count` keys.
    pub(crate) fn statement(&self, tx: &Tx, count: usize) -> String {
        let Self { table, key, columns, names } = self;
        let row = |index: usize| format!("({})", numbered(index * key.len() + 2, key.len()));
        let rows: Vec<String> = (0..count).map(row).collect();
        let is_key =
            key.iter().zip(1..).map(|(column, n)| format!(" AND r.{column} = k.column{n}"));
        let (rows, is_key) = (rows.join(", "), is_key.collect::<String>());
        // Without statistics, both databases would read all rows of the tenant to join them. SQLite keeps the order of a
        // cross join; PostgreSQL reads a subquery with an offset once for each key.
        tx.either(
            format!(
                "SELECT {columns} FROM (VALUES {rows}) AS k CROSS JOIN {table} r \
                ON r.tenant_id = $1{is_key}"
            ),
            format!(
                "SELECT {names} FROM (VALUES {rows}) AS k CROSS JOIN LATERAL \
                (SELECT {columns} FROM {table} r WHERE r.tenant_id = $1{is_key} OFFSET 0) AS found"
            ),
        )
    }
}

/// A column of texts.
pub(crate) struct Texts {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
}

impl Texts {
    /// Returns the statement for `count` texts.
    pub(crate) fn statement(&self, count: usize) -> String {
        let Self { table, column } = self;
        let texts = numbered(2, count);
        format!("SELECT {column} FROM {table} WHERE tenant_id = $1 AND {column} IN ({texts})")
    }

    /// Returns those of `texts` that are in the column.
    pub(crate) async fn among(
        &self,
        tx: &mut Tx,
        texts: &[&str],
    ) -> Result<BTreeSet<String>, StoreError> {
        let mut found = BTreeSet::new();
        for batch in texts.chunks(BATCH) {
            let sql = AssertSqlSafe(self.statement(batch.len()));
            let tenant = &tx.tenant;
            macro_rules! bound {
                () => {{
                    let is_full = batch.len() == BATCH;
                    let mut query =
                        sqlx::query_as::<_, (String,)>(sql).persistent(is_full).bind(tenant);
                    for text in batch {
                        query = query.bind(*text);
                    }
                    query
                }};
            }
            let rows = on_database!(tx, bound!(), fetch_all)?;
            found.extend(rows.into_iter().map(|(text,)| text));
        }
        Ok(found)
    }
}

/// Returns `count` parameters from `$first` on, separated by commas.
pub(crate) fn numbered(first: usize, count: usize) -> String {
    let numbers: Vec<String> = (first..first + count).map(|number| format!("${number}")).collect();
    numbers.join(", ")
}

/// Runs `statement` on the records with these ids, in batches. Its second value is `at`, if there is one.
pub(crate) async fn change_by_id(
    tx: &mut Tx,
    statement: &str,
    at: Option<Timestamp>,
    ids: &[Uuid],
) -> Result<(), StoreError> {
    let first = if at.is_some() { 3 } else { 2 };
    for batch in ids.chunks(BATCH) {
        let ids = numbered(first, batch.len());
        let sql = AssertSqlSafe(format!("{statement} AND id IN ({ids})"));
        let tenant = &tx.tenant;
        macro_rules! bound {
            () => {{
                let mut query = sqlx::query(sql).persistent(false).bind(tenant);
                if let Some(at) = at {
                    query = query.bind(at.millis());
                }
                for id in batch {
                    query = query.bind(id);
                }
                query
            }};
        }
        match &mut tx.inner {
            Inner::Sqlite(connection) => {
                tx.write_fault.noting(bound!().execute(&mut **connection).await).map(drop)
            }
            Inner::Postgres(connection) => bound!().execute(&mut **connection).await.map(drop),
        }?;
    }
    Ok(())
}

/// Runs the statement of `$rows` on `$records`, in batches. Each record, `$record`, gives the values `$value`. Gives the
/// number of rows that it wrote.
macro_rules! write_rows {
    ($tx:ident, $rows:expr, $records:expr, $record:ident => $($value:expr),+ $(,)?) => {{
        let mut written = 0;
        for batch in $records.chunks($crate::row_lists::BATCH) {
            let sql = sqlx::AssertSqlSafe($rows.statement(batch.len()));
            // Only the statements of one record and of a full batch are worth their places in the cache of statements.
            let is_usual = [1, $crate::row_lists::BATCH].contains(&batch.len());
            let tenant = &$tx.tenant;
            macro_rules! bound {
                () => {{
                    let mut query = sqlx::query(sql).persistent(is_usual).bind(tenant);
                    for $record in batch {
                        query = query$(.bind($value))+;
                    }
                    query
                }};
            }
            written += match &mut $tx.inner {
                $crate::tx::Inner::Sqlite(connection) => {
                    let done = bound!().execute(&mut **connection).await;
                    $tx.write_fault.noting(done).map(|done| done.rows_affected())
                }
                $crate::tx::Inner::Postgres(connection) => {
                    bound!().execute(&mut **connection).await.map(|done| done.rows_affected())
                }
            }?;
        }
        written
    }};
}

pub(crate) use write_rows;
