//! Columns, parameters and names.

use super::Writer;
use crate::sql::clause::Term;
use crate::sql::columns::{Column, Kind, ScalarType};
use crate::sql::dialect::{Dialect, Placeholders};
use crate::sql::param::SqlParam;

impl Writer {
    pub(super) fn term(&mut self, term: &Term<'_>) {
        match term {
            Term::Column(column) => self.column(column),
            Term::Text(column) => self.text_of(column),
            Term::Value(value) => self.param(value),
        }
    }

    /// Returns whether the values of a column are texts that may have another collation than by code point.
    pub(super) fn is_collated(&self, column: &Column) -> bool {
        let (Kind::Scalar(kind) | Kind::List(kind)) = column.kind;
        let is_text = match self.dialect {
            Dialect::Postgres => kind == ScalarType::Text,
            Dialect::Sqlite => kind.is_text() || kind == ScalarType::Instant,
        };
        is_text && !column.binary
    }

    /// Writes a column so that texts compare by code point.
    pub(super) fn column(&mut self, column: &Column) {
        match self.dialect {
            Dialect::Postgres if self.is_collated(column) => {
                self.push("(");
                self.cast(column);
                self.push(" COLLATE \"C\")");
            }
            Dialect::Postgres if matches!(column.kind, Kind::List(_)) => self.cast(column),
            Dialect::Sqlite if self.is_collated(column) => {
                self.push("(");
                self.identifier(column);
                self.push(" COLLATE BINARY)");
            }
            _ => self.identifier(column),
        }
    }

    /// Writes the text of a column of texts, UUIDs or dates, so that it compares by code point.
    fn text_of(&mut self, column: &Column) {
        let is_text = column.kind == Kind::Scalar(ScalarType::Text);
        if self.dialect == Dialect::Sqlite || is_text {
            return self.column(column);
        }
        self.push("(");
        self.cast(column);
        self.push(" COLLATE \"C\")");
    }

    /// Writes a column of PostgreSQL as a text, or as an array of the type that its parameters have. A cast to the
    /// column's own type does nothing, and hides no index.
    pub(super) fn cast(&mut self, column: &Column) {
        let (before, after) = match column.kind {
            // The text of a cast depends on `DateStyle`.
            Kind::Scalar(ScalarType::Date) => ("to_char(CAST(", " AS timestamp), 'YYYY-MM-DD')"),
            Kind::Scalar(_) => ("CAST(", " AS text)"),
            Kind::List(ScalarType::Integer) => ("CAST(", " AS bigint[])"),
            Kind::List(ScalarType::Number) => ("CAST(", " AS double precision[])"),
            Kind::List(_) => ("CAST(", " AS text[])"),
        };
        self.push(before);
        self.identifier(column);
        self.push(after);
    }

    pub(super) fn identifier(&mut self, column: &Column) {
        self.names(&column.parts);
    }

    /// Writes names with dots between them. SQLite reads an unknown name in double quotes as a text, but not one in
    /// backquotes.
    pub(super) fn names(&mut self, names: &[Box<str>]) {
        let quote = match self.dialect {
            Dialect::Postgres => "\"",
            Dialect::Sqlite => "`",
        };
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                self.push(".");
            }
            self.push(quote);
            self.push(name);
            self.push(quote);
        }
    }

    pub(super) fn param(&mut self, value: &SqlParam) {
        self.numbered(value, self.params.len() + 1);
    }

    /// Writes the parameter with this number. Placeholders with numbers can repeat one.
    pub(super) fn numbered(&mut self, value: &SqlParam, number: usize) {
        let is_new = number > self.params.len() || self.placeholders == Placeholders::Question;
        let (value, (before, after)) = match self.dialect {
            Dialect::Sqlite => (value.to_sqlite(), ("", "")),
            Dialect::Postgres => (value.clone(), cast_param(value)),
        };
        if is_new {
            self.params.push(value);
        }
        self.push(before);
        match self.placeholders {
            Placeholders::Dollar => self.push(&format!("${number}")),
            Placeholders::Question => self.push("?"),
            Placeholders::Named => self.push(&format!(":p{number}")),
        }
        self.push(after);
    }
}

/// Returns what stands around a parameter of PostgreSQL: its type, which drivers would otherwise guess.
fn cast_param(value: &SqlParam) -> (&'static str, &'static str) {
    match value {
        SqlParam::Text(_) => ("CAST(", " AS text)"),
        SqlParam::Integer(_) => ("CAST(", " AS bigint)"),
        SqlParam::Number(_) => ("CAST(", " AS double precision)"),
        SqlParam::Bool(_) => ("CAST(", " AS boolean)"),
        SqlParam::Instant(_) => ("CAST(CAST(", " AS text) AS timestamptz)"),
        SqlParam::Uuid(_) => ("CAST(CAST(", " AS text) AS uuid)"),
        SqlParam::Date(_) => ("CAST(CAST(", " AS text) AS date)"),
    }
}
