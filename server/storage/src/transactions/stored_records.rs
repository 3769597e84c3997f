//! Records that come as one text each: a value for each column takes longer to read than all the rest of it.
//!
//! Each column has its length in bytes before it: `<bytes>:<text>`. SQLite gives all records in one row; PostgreSQL gives a
//! row for each, while it reads the next ones.

use futures_util::TryStreamExt;

use crate::transactions::error::StoreError;
use crate::transactions::row_streams::{self, stream_rows};
use crate::transactions::tx::{Statements, Tx};

/// Records as the database gives them: texts of one or more whole records.
#[derive(Debug)]
pub(crate) struct Records(Vec<String>);

/// The columns of records, one after the other.
pub(crate) struct Columns<'t>(&'t str);

impl Records {
    /// The most bytes of a text that several rows share.
    const MAX_SHARED: usize = 1024 * 1024;

    /// Reads all records by `read`, which takes the columns of one.
    pub(crate) fn read<'t, T>(
        &'t self,
        read: impl Fn(&mut Columns<'t>) -> Option<T>,
        what: &'static str,
    ) -> Result<Vec<T>, StoreError> {
        let mut records = Vec::new();
        for text in &self.0 {
            let mut columns = Columns(text);
            while !columns.0.is_empty() {
                records.push(read(&mut columns).ok_or(StoreError::Corrupt { what })?);
            }
        }
        Ok(records)
    }

    /// Returns the bytes of all records, with the lengths of columns.
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(String::len).sum()
    }

    /// Returns the texts of the records.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    fn add(&mut self, text: String) {
        match self.0.last_mut() {
            Some(last) if last.len() + text.len() <= Self::MAX_SHARED => last.push_str(&text),
            _ => self.0.push(text),
        }
    }
}

impl From<Option<String>> for Records {
    fn from(text: Option<String>) -> Self {
        Self(text.into_iter().collect())
    }
}

impl<'t> Columns<'t> {
    /// Takes the next column; `None` at the end, or if the text has another form.
    pub(crate) fn next(&mut self) -> Option<&'t str> {
        let (length, rest) = self.0.split_once(':')?;
        // Checked, because a wrong length could end within a character.
        let (column, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some(column)
    }
}

/// Makes the statements that read the `id` and these columns of records. SQLite takes the index `$index`: without statistics
/// it prefers the primary key to every other index, and reads all records of the tenant.
macro_rules! statements {
    ($table:ident by $index:ident, $where:literal, [$($column:ident),+]) => {
        Statements {
            sqlite: concat!(
                "SELECT string_agg(format('32:%s", $(statements!(@form $column),)+ "', hex(id)",
                $(", octet_length(", stringify!($column), "), ", stringify!($column),)+
                "), '') FROM ", stringify!($table), " INDEXED BY ", stringify!($index), " ", $where
            ),
            postgres: concat!(
                "SELECT concat('36:', id",
                $(", octet_length(CAST(", stringify!($column), " AS TEXT)), ':', ",
                    stringify!($column),)+
                ") FROM ", stringify!($table), " ", $where
            ),
        }
    };
    (@form $column:ident) => { "%d:%s" };
}

pub(crate) use statements;

/// Reads the records of these patterns.
pub(crate) async fn read(
    tx: &mut Tx,
    [exact, name, any]: [String; 3],
    statements: &Statements,
) -> Result<Records, StoreError> {
    let sql = tx.statement(statements);
    collect(stream_rows!(tx, (Option<String>,), sql, &tx.tenant, exact, name, any)).await
}

/// Reads the records of the patterns after `after` through `last`.
pub(crate) async fn read_between(
    tx: &mut Tx,
    [after, last]: [&str; 2],
    statements: &Statements,
) -> Result<Records, StoreError> {
    let sql = tx.statement(statements);
    collect(stream_rows!(tx, (Option<String>,), sql, &tx.tenant, after, last)).await
}

async fn collect(
    mut rows: row_streams::Records<'_, (Option<String>,)>,
) -> Result<Records, StoreError> {
    let mut records = Records(Vec::new());
    while let Some((text,)) = rows.try_next().await? {
        text.into_iter().for_each(|text| records.add(text));
    }
    Ok(records)
}
