//! Records of which each comes as one text: a value for each column takes longer to read than all the rest of it.
//!
//! A separator stands between the columns. SQLite gives all records in one row; PostgreSQL gives a row for each, while it
//! reads the next ones. If a column has the separator in it, the records are read again with the length of each column
//! before it.

use crate::error::StoreError;
use crate::macros::{fetch_all, fetch_optional};
use crate::tx::{Inner, Tx};

/// The character between columns. Hardly any text has it.
const SEPARATOR: char = '\u{1f}';

/// Records as the database gives them.
#[derive(Debug)]
pub(crate) enum Records {
    /// Columns with separators between them, in one text or in several.
    Separated(Vec<String>),
    /// Columns with their lengths before them: `<bytes>:<text>`.
    Measured(String),
}

/// The columns of records, one after the other.
pub(crate) struct Columns<'t> {
    rest: &'t str,
    is_measured: bool,
}

impl Records {
    /// Returns the columns of each text.
    fn texts(&self) -> impl Iterator<Item = Columns<'_>> {
        let (separated, measured): (&[String], _) = match self {
            Self::Separated(texts) => (texts, None),
            Self::Measured(text) => (&[], Some(text)),
        };
        let separated = separated.iter().map(|text| Columns { rest: text, is_measured: false });
        separated.chain(measured.map(|text| Columns { rest: text, is_measured: true }))
    }

    /// Reads all records by `read`, which takes the columns of one.
    pub(crate) fn read<'t, T>(
        &'t self,
        read: impl Fn(&mut Columns<'t>) -> Option<T>,
        what: &'static str,
    ) -> Result<Vec<T>, StoreError> {
        let mut records = Vec::new();
        for mut columns in self.texts() {
            while !columns.rest.is_empty() {
                records.push(read(&mut columns).ok_or(StoreError::Corrupt { what })?);
            }
        }
        Ok(records)
    }

    /// Returns the bytes of all records, with what stands between them.
    pub(crate) fn bytes(&self) -> usize {
        self.texts().map(|columns| columns.rest.len()).sum()
    }
}

impl<'t> Columns<'t> {
    /// Takes the next column; `None` at the end, or if the text has another form.
    pub(crate) fn next(&mut self) -> Option<&'t str> {
        let (column, rest) = match self.is_measured {
            true => {
                let (length, rest) = self.rest.split_once(':')?;
                rest.split_at_checked(length.parse().ok()?)?
            }
            false => self.rest.split_once(SEPARATOR).unwrap_or((self.rest, "")),
        };
        self.rest = rest;
        Some(column)
    }
}

/// The statements that read the records which can match a resource.
pub(crate) struct Statements {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
    /// With lengths: on SQLite and on PostgreSQL.
    pub(crate) measured: [&'static str; 2],
    /// The number of columns of a record.
    pub(crate) columns: usize,
}

/// Makes the statements that read the `id` and these columns of records.
macro_rules! statements {
    ($from:literal, [$($column:ident),+]) => {
        Statements {
            sqlite: concat!(
                "SELECT count(*), string_agg(concat_ws('\u{1f}', hex(id)",
                $(", ", stringify!($column),)+ "), '\u{1f}') ", $from
            ),
            postgres: concat!(
                "SELECT concat_ws('\u{1f}', id", $(", ", stringify!($column),)+ ") ", $from
            ),
            measured: [
                statements!(@measured "'32:' || hex(id)", $from, [$($column),+]),
                statements!(@measured "'36:' || id", $from, [$($column),+]),
            ],
            columns: 1 + [$(stringify!($column)),+].len(),
        }
    };
    (@measured $id:literal, $from:literal, [$($column:ident),+]) => {
        concat!(
            "SELECT string_agg(", $id,
            $(" || octet_length(CAST(", stringify!($column), " AS TEXT)) || ':' || ",
                stringify!($column),)+
            ", '') ", $from
        )
    };
}

pub(crate) use statements;

/// Reads the records of these patterns.
pub(crate) async fn read(
    tx: &mut Tx,
    [exact, name, any]: [String; 3],
    statements: &Statements,
) -> Result<Records, StoreError> {
    let (records, texts) = match &tx.inner {
        Inner::Sqlite(_) => {
            type Row = (i64, Option<String>);
            let sql = statements.sqlite;
            let row = fetch_optional!(tx, Row, sql, &tx.tenant, &exact, &name, &any)?;
            let (records, text) = row.unwrap_or_default();
            (usize::try_from(records).unwrap_or_default(), text.into_iter().collect::<Vec<_>>())
        }
        Inner::Postgres(_) => {
            let sql = statements.postgres;
            let rows = fetch_all!(tx, (String,), sql, &tx.tenant, &exact, &name, &any)?;
            (rows.len(), rows.into_iter().map(|(text,)| text).collect())
        }
    };
    // Each record has as many separators as columns, less one. One stands between two records of a text.
    let expected = (records * statements.columns).saturating_sub(texts.len());
    if texts.iter().map(|text| separators(text)).sum::<usize>() == expected {
        return Ok(Records::Separated(texts));
    }
    let [sqlite, postgres] = statements.measured;
    let sql = tx.either(sqlite, postgres);
    let row = fetch_optional!(tx, (Option<String>,), sql, &tx.tenant, exact, name, any)?;
    Ok(Records::Measured(row.and_then(|(text,)| text).unwrap_or_default()))
}

/// Counts the separators of a text.
fn separators(text: &str) -> usize {
    let is_separator = |byte: &u8| u8::from(u32::from(*byte) == u32::from(SEPARATOR));
    // A byte counts to 255: sums of bytes are taken of many bytes at once.
    let counts =
        text.as_bytes().chunks(255).map(|chunk| chunk.iter().map(is_separator).sum::<u8>());
    counts.map(usize::from).sum()
}
