//! Statements with lists of rows: one for each of thousands of records would take seconds.

use std::collections::BTreeSet;

use portcullis_model::Timestamp;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::tx::{Inner, Tx};

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
    /// Returns the statement of SQLite for `count` rows, each with the tenant before its values. Its parameters have no numbers:
    /// for each numbered one the driver asks for its name, and SQLite walks a list of all of them.
    pub(crate) fn unnumbered(&self, count: usize) -> String {
        let row = format!("({})", vec!["?"; self.values + 1].join(", "));
        format!("{} VALUES {} {}", self.head, vec![&*row; count].join(", "), self.tail)
    }

    /// Returns the statement for `count` rows.
    pub(crate) fn statement(&self, count: usize) -> String {
        let rows = (0..count).map(|index| {
            // The tenant is the first parameter of all rows.
            let values = numbered(index * self.values + 2, self.values);
            format!("($1, {values})")
        });
        let rows: Vec<String> = rows.collect();
        format!("{} VALUES {} {}", self.head, rows.join(", "), self.tail)
    }
}

/// A look-up of rows of a table by many keys.
pub(crate) struct LookUp {
    pub(crate) table: &'static str,
    /// The columns of a key, beside the tenant, each with its type in PostgreSQL.
    pub(crate) key: &'static [(&'static str, &'static str)],
    /// The columns that it reads, and their names in its rows.
    pub(crate) columns: &'static str,
    pub(crate) names: &'static str,
}

impl LookUp {
    /// Returns the statement of SQLite for `count` keys, one after the other, and the tenant behind them. Without statistics
    /// SQLite would read all rows of the tenant to join them; it keeps the order of a cross join.
    pub(crate) fn of_values(&self, count: usize) -> String {
        let Self { table, key, columns, .. } = self;
        let row = format!("({})", vec!["?"; key.len()].join(", "));
        format!(
            "SELECT {columns} FROM (VALUES {}) AS k CROSS JOIN {table} r ON r.tenant_id = ?{}",
            vec![&*row; count].join(", "),
            self.is_key()
        )
    }

    /// Returns the statement of PostgreSQL, whose parameters are the columns of the keys. A subquery with an offset is read once
    /// for each key.
    pub(crate) fn of_arrays(&self) -> String {
        let Self { table, key, columns, names } = self;
        let arrays =
            (2..).zip(*key).map(|(number, (_, kind))| format!("CAST(${number} AS {kind}[])"));
        let arrays: Vec<String> = arrays.collect();
        let given: Vec<String> = (1..=key.len()).map(|number| format!("column{number}")).collect();
        format!(
            "SELECT {names} FROM UNNEST({}) AS k ({}) CROSS JOIN LATERAL \
            (SELECT {columns} FROM {table} r WHERE r.tenant_id = $1{} OFFSET 0) AS found",
            arrays.join(", "),
            given.join(", "),
            self.is_key()
        )
    }

    /// Returns the condition that `r` has the key `k`, after another one.
    fn is_key(&self) -> String {
        let columns = self.key.iter().zip(1..);
        columns.map(|((column, _), n)| format!(" AND r.{column} = k.column{n}")).collect()
    }
}

/// Finds the rows of `$look_up` with these keys. They are a slice, and each `$key` gives the values `$value`.
macro_rules! look_up {
    ($tx:ident, $row:ty, $look_up:expr, $keys:expr, $key:ident => $($value:expr),+ $(,)?) => {{
        let (mut found, tenant): (Vec<$row>, _) = (Vec::new(), &$tx.tenant);
        match &mut $tx.inner {
            $crate::transactions::tx::Inner::Sqlite(connection) => {
                for batch in $keys.chunks($crate::transactions::row_lists::BATCH) {
                    let sql = sqlx::AssertSqlSafe($look_up.of_values(batch.len()));
                    let is_usual = [1, $crate::transactions::row_lists::BATCH].contains(&batch.len());
                    let query = sqlx::query_as::<_, $row>(sql).persistent(is_usual);
                    let query = batch.iter().fold(query, |query, $key| query$(.bind($value))+);
                    found.extend(query.bind(tenant).fetch_all(&mut **connection).await?);
                }
            }
            $crate::transactions::tx::Inner::Postgres(connection) if !$keys.is_empty() => {
                let sql = sqlx::AssertSqlSafe($look_up.of_arrays());
                // Planned each time: the plan of an empty table, which a kept statement has, walks the tenant when it is full.
                let query = sqlx::query_as::<_, $row>(sql).persistent(false).bind(tenant);
                let query = query$(.bind($keys.iter().map(|$key| $value).collect::<Vec<_>>()))+;
                found = query.fetch_all(&mut **connection).await?;
            }
            $crate::transactions::tx::Inner::Postgres(_) => {}
        }
        found
    }};
}

/// Returns those of `texts` that `look_up` finds, whose key and only column is a text.
pub(crate) async fn among(
    tx: &mut Tx,
    look_up: LookUp,
    texts: &[&str],
) -> Result<BTreeSet<String>, StoreError> {
    let found = look_up!(tx, (String,), look_up, texts, text => *text);
    Ok(found.into_iter().map(|(text,)| text).collect())
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
        // Safe: the text has the numbers of parameters, and no value.
        let sql = AssertSqlSafe(format!("{statement} AND id IN ({ids})"));
        let tenant = &tx.tenant;
        // A macro, because the query has another type for each database.
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
        for batch in $records.chunks($crate::transactions::row_lists::BATCH) {
            // Only the statements of one record and of a full batch are worth their places in the cache of statements.
            let is_usual = [1, $crate::transactions::row_lists::BATCH].contains(&batch.len());
            let tenant = &$tx.tenant;
            written += match &mut $tx.inner {
                $crate::transactions::tx::Inner::Sqlite(connection) => {
                    let sql = sqlx::AssertSqlSafe($rows.unnumbered(batch.len()));
                    let mut query = sqlx::query(sql).persistent(is_usual);
                    for $record in batch {
                        query = query.bind(tenant)$(.bind($value))+;
                    }
                    let done = query.execute(&mut **connection).await;
                    $tx.write_fault.noting(done).map(|done| done.rows_affected())
                }
                $crate::transactions::tx::Inner::Postgres(connection) => {
                    let sql = sqlx::AssertSqlSafe($rows.statement(batch.len()));
                    let mut query = sqlx::query(sql).persistent(is_usual).bind(tenant);
                    for $record in batch {
                        query = query$(.bind($value))+;
                    }
                    query.execute(&mut **connection).await.map(|done| done.rows_affected())
                }
            }?;
        }
        written
    }};
}

pub(crate) use {look_up, write_rows};
