//! Columns, parameters and names.

use super::Writer;
use crate::sql::clause::Term;
use crate::sql::columns::{Column, Kind, Presence, ScalarType};
use crate::sql::dialect::{Dialect, Placeholders};
use crate::sql::param::{IdType, SqlParam};

impl Writer {
    pub(super) fn term(&mut self, term: &Term<'_>) {
        match term {
            Term::Column(column) => self.column(column),
            Term::Text(column) => self.text_of(column),
            Term::Value(value) => self.param(value),
        }
    }

    /// Writes a column so that texts compare by code point. Other values that SQLite has as texts have one form, which
    /// every collation compares alike.
    pub(super) fn column(&mut self, column: &Column) {
        if column.is_collated() {
            return self.by_code_point(column);
        }
        if let Some(items) = &column.length_of {
            return self.length(column, items);
        }
        match (self.dialect, column.kind) {
            _ if column.presence.is_some() => self.presence(column),
            (Dialect::Postgres, Kind::List(_)) => self.cast(column),
            _ => self.identifier(column),
        }
    }

    /// Writes whether a column has a value, as a boolean.
    fn presence(&mut self, column: &Column) {
        self.push("(");
        self.identifier(column);
        self.push(match column.presence {
            Some(Presence::Absent) => " IS NULL)",
            _ => " IS NOT NULL)",
        });
    }

    /// Writes the text of a column of texts, UUIDs or dates, so that it compares by code point.
    fn text_of(&mut self, column: &Column) {
        match column.kind {
            Kind::Scalar(ScalarType::Text) => self.column(column),
            _ => self.by_code_point(column),
        }
    }

    fn by_code_point(&mut self, column: &Column) {
        self.push("(");
        match self.dialect {
            Dialect::Postgres => self.cast(column),
            Dialect::Sqlite => self.identifier(column),
        }
        self.push(match self.dialect {
            Dialect::Postgres => " COLLATE \"C\")",
            Dialect::Sqlite => " COLLATE BINARY)",
        });
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
            // No name has a quotation mark, so that nothing is escaped.
            self.push(name);
            self.push(quote);
        }
    }

    pub(super) fn param(&mut self, value: &SqlParam) {
        self.numbered(value, self.params.len() + 1);
    }

    /// Returns the number of the parameter with these ids, the next one if there is none yet.
    pub(super) fn number_of_ids(&mut self, ids: &SqlParam) -> usize {
        let known = self.ids.iter().find(|(known, _)| known == ids);
        known.map(|(_, number)| *number).unwrap_or_else(|| {
            let number = self.params.len() + 1;
            self.ids.push((ids.clone(), number));
            number
        })
    }

    /// Writes the parameter with this number. Placeholders with numbers can repeat one.
    pub(super) fn numbered(&mut self, value: &SqlParam, number: usize) {
        let is_new = number > self.params.len() || self.placeholders == Placeholders::Question;
        let (before, after) = match self.dialect {
            Dialect::Sqlite => ("", ""),
            Dialect::Postgres => cast_param(value),
        };
        if is_new {
            self.id_bytes += value.bytes_of_ids();
            // A condition that is too large ends before the next clause.
            self.params.push(match self.dialect {
                Dialect::Sqlite => value.to_sqlite(),
                Dialect::Postgres => value.clone(),
            });
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
        // With the inner cast every driver sends a text, and no type of its own.
        SqlParam::Instant(_) => ("CAST(CAST(", " AS text) AS timestamptz)"),
        SqlParam::Uuid(_) => ("CAST(CAST(", " AS text) AS uuid)"),
        SqlParam::Date(_) => ("CAST(CAST(", " AS text) AS date)"),
        SqlParam::Ids(IdType::Text, _) => ("CAST(", " AS text[])"),
        SqlParam::Ids(IdType::Uuid, _) => ("CAST(CAST(", " AS text[]) AS uuid[])"),
        SqlParam::Ids(IdType::Integer, _) => ("CAST(CAST(", " AS text[]) AS bigint[])"),
    }
}
