//! Writes clauses as SQL.

use super::clause::{Clause, Term};
use super::columns::{Column, ColumnType, ScalarType};
use super::dialect::{Dialect, Placeholders};
use super::limits::{MAX_NESTING, MAX_PARAMS, MAX_TEXT, TooLarge};
use super::param::SqlParam;
use crate::operator::{Order, Part};

/// More parts of a conjunction or disjunction than this are halved by parentheses. SQLite nests each part of a chain
/// one level deeper than the next.
const MAX_CHAIN: usize = 8;

/// Writes one condition.
pub(super) struct Writer {
    dialect: Dialect,
    placeholders: Placeholders,
    text: String,
    params: Vec<SqlParam>,
    nesting: usize,
}

type Written = Result<(), TooLarge>;

impl Writer {
    pub(super) fn new(dialect: Dialect, placeholders: Placeholders) -> Self {
        Self { dialect, placeholders, text: String::new(), params: Vec::new(), nesting: 0 }
    }

    /// Returns the text and its parameters.
    pub(super) fn write(
        mut self,
        clause: &Clause<'_>,
    ) -> Result<(String, Vec<SqlParam>), TooLarge> {
        self.clause(clause)?;
        Ok((self.text, self.params))
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes a clause, in parentheses unless it is a single comparison.
    fn clause(&mut self, clause: &Clause<'_>) -> Written {
        self.nesting += 1;
        let fits = self.nesting <= MAX_NESTING
            && self.params.len() <= MAX_PARAMS
            && self.text.len() <= MAX_TEXT;
        if !fits {
            return Err(TooLarge);
        }
        match clause {
            Clause::Constant(truth) => self.push(match truth {
                Some(true) => "TRUE",
                Some(false) => "FALSE",
                None => "NULL",
            }),
            Clause::All(parts) => self.joined(parts, " AND ")?,
            Clause::Any(parts) => self.joined(parts, " OR ")?,
            Clause::Not(inner) => self.wrapped("(NOT ", inner, ")")?,
            Clause::IsTrue(inner) => self.tested(inner, " IS TRUE)")?,
            Clause::IsNotFalse(inner) => self.tested(inner, " IS NOT FALSE)")?,
            leaf => self.leaf(leaf),
        }
        self.nesting -= 1;
        if self.params.len() > MAX_PARAMS || self.text.len() > MAX_TEXT {
            return Err(TooLarge);
        }
        Ok(())
    }

    fn wrapped(&mut self, before: &str, inner: &Clause<'_>, after: &str) -> Written {
        self.push(before);
        self.clause(inner)?;
        self.push(after);
        Ok(())
    }

    /// Writes a test of the value of a clause, which needs parentheses of its own if it is a comparison.
    fn tested(&mut self, inner: &Clause<'_>, test: &str) -> Written {
        match inner {
            Clause::All(_) | Clause::Any(_) | Clause::Not(_) | Clause::IfPresent(..) => {
                self.wrapped("(", inner, test)
            }
            comparison => self.wrapped("((", comparison, &format!("){test}")),
        }
    }

    fn joined(&mut self, parts: &[Clause<'_>], operator: &str) -> Written {
        self.push("(");
        if parts.len() > MAX_CHAIN {
            let (first, second) = parts.split_at(parts.len() / 2);
            self.nesting += 1;
            self.joined(first, operator)?;
            self.push(operator);
            self.joined(second, operator)?;
            self.nesting -= 1;
        } else {
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    self.push(operator);
                }
                self.clause(part)?;
            }
        }
        self.push(")");
        Ok(())
    }

    fn leaf(&mut self, leaf: &Clause<'_>) {
        match leaf {
            Clause::IsNull(column) => {
                self.identifier(column);
                self.push(" IS NULL");
            }
            Clause::IfPresent(columns, truth) => self.if_present(columns, *truth),
            Clause::Compare(left, order, right) => {
                self.term(left);
                self.push(symbol(*order));
                self.term(right);
            }
            Clause::In(column, values) => {
                self.column(column);
                self.push(" IN (");
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        self.push(", ");
                    }
                    self.param(value);
                }
                self.push(")");
            }
            Clause::Has(array, item) => self.has(array, item),
            Clause::Part(part, left, right) => self.part(*part, left, right),
            // Written by `clause`.
            Clause::Constant(_)
            | Clause::All(_)
            | Clause::Any(_)
            | Clause::Not(_)
            | Clause::IsTrue(_)
            | Clause::IsNotFalse(_) => {}
        }
    }

    /// Writes `truth` for rows that have all columns, and NULL for others.
    fn if_present(&mut self, columns: &[&Column], truth: bool) {
        let (test, operator, rest) = match truth {
            true => (" IS NOT NULL", " AND ", " OR NULL)"),
            false => (" IS NULL", " OR ", " AND NULL)"),
        };
        self.push("((");
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                self.push(operator);
            }
            self.identifier(column);
            self.push(test);
        }
        self.push(")");
        self.push(rest);
    }

    /// Writes whether an array of PostgreSQL has an item. An item that is NULL would count as not contained.
    fn has(&mut self, array: &Column, item: &Term<'_>) {
        let guarded = match item {
            Term::Column(column) if column.nullable => Some(column),
            _ => None,
        };
        if let Some(column) = guarded {
            self.push("(CASE WHEN ");
            self.identifier(column);
            self.push(" IS NULL THEN NULL ELSE ");
        }
        self.column(array);
        self.push(" @> ARRAY[");
        self.term(item);
        self.push("]");
        if guarded.is_some() {
            self.push(" END)");
        }
    }

    fn part(&mut self, part: Part, left: &Term<'_>, right: &Term<'_>) {
        match part {
            Part::Anywhere => {
                self.push(match self.dialect {
                    Dialect::Postgres => "strpos(",
                    Dialect::Sqlite => "instr(",
                });
                self.term(left);
                self.push(", ");
                self.term(right);
                self.push(") > 0");
            }
            Part::Start => {
                let length = length_of(right);
                self.sliced(left, length.as_deref(), right, "left(", ", 1, ");
            }
            Part::End => match (self.dialect, length_of(right)) {
                (Dialect::Sqlite, Some(length)) => self.ends(left, &length, right),
                (Dialect::Sqlite, None) => self.ends_with_column(left, right),
                (Dialect::Postgres, length) => {
                    self.sliced(left, length.as_deref(), right, "right(", "");
                }
            },
        }
    }

    /// Compares the piece of `left` that has the length of `right` with `right`.
    fn sliced(
        &mut self,
        left: &Term<'_>,
        length: Option<&str>,
        right: &Term<'_>,
        function: &str,
        from: &str,
    ) {
        self.push(match self.dialect {
            Dialect::Postgres => function,
            Dialect::Sqlite => "substr(",
        });
        self.term(left);
        self.push(match self.dialect {
            Dialect::Postgres => ", ",
            Dialect::Sqlite => from,
        });
        match length {
            Some(length) => self.push(length),
            None => {
                self.push("length(");
                self.term(right);
                self.push(")");
            }
        }
        self.push(")");
        self.equals(right);
    }

    /// Compares the last characters of `left` with a parameter, in SQLite.
    fn ends(&mut self, left: &Term<'_>, length: &str, right: &Term<'_>) {
        self.push("substr(");
        self.term(left);
        self.push(", -");
        self.push(length);
        self.push(")");
        self.equals(right);
    }

    /// Compares the end of `left` with a column, in SQLite, where a length of 0 is not the empty end.
    fn ends_with_column(&mut self, left: &Term<'_>, right: &Term<'_>) {
        self.push("(length(");
        self.term(left);
        self.push(") >= length(");
        self.term(right);
        self.push(") AND substr(");
        self.term(left);
        self.push(", length(");
        self.term(left);
        self.push(") - length(");
        self.term(right);
        self.push(") + 1)");
        self.equals(right);
        self.push(")");
    }

    /// Compares the result of a function with a text, by code point.
    fn equals(&mut self, right: &Term<'_>) {
        self.push(match self.dialect {
            Dialect::Postgres => " = ",
            Dialect::Sqlite => " COLLATE BINARY = ",
        });
        self.term(right);
    }

    fn term(&mut self, term: &Term<'_>) {
        match term {
            Term::Column(column) => self.column(column),
            Term::Value(value) => self.param(value),
        }
    }

    /// Writes a column so that texts compare by code point.
    fn column(&mut self, column: &Column) {
        let (ColumnType::Scalar(kind) | ColumnType::List(kind)) = column.kind;
        if kind != ScalarType::Text || column.binary {
            return self.identifier(column);
        }
        match self.dialect {
            Dialect::Postgres => {
                self.push("(CAST(");
                self.identifier(column);
                self.push(match column.kind {
                    ColumnType::Scalar(_) => " AS text) COLLATE \"C\")",
                    ColumnType::List(_) => " AS text[]) COLLATE \"C\")",
                });
            }
            Dialect::Sqlite => {
                self.push("(");
                self.identifier(column);
                self.push(" COLLATE BINARY)");
            }
        }
    }

    /// Writes an identifier. SQLite reads an unknown name in double quotes as a text, but not one in backquotes.
    fn identifier(&mut self, column: &Column) {
        let quote = match self.dialect {
            Dialect::Postgres => "\"",
            Dialect::Sqlite => "`",
        };
        for (index, part) in column.parts.iter().enumerate() {
            if index > 0 {
                self.push(".");
            }
            self.push(quote);
            self.push(part);
            self.push(quote);
        }
    }

    fn param(&mut self, value: &SqlParam) {
        let (value, cast) = match (self.dialect, value) {
            // SQLite has no booleans, and drivers refuse them.
            (Dialect::Sqlite, SqlParam::Bool(value)) => (SqlParam::Integer((*value).into()), None),
            (Dialect::Sqlite, value) => (value.clone(), None),
            (Dialect::Postgres, value) => (value.clone(), Some(cast(value))),
        };
        self.params.push(value);
        if let Some((before, _)) = cast {
            self.push(before);
        }
        let number = self.params.len();
        match self.placeholders {
            Placeholders::Dollar => self.push(&format!("${number}")),
            Placeholders::Question => self.push("?"),
            Placeholders::Named => self.push(&format!(":p{number}")),
        }
        if let Some((_, after)) = cast {
            self.push(after);
        }
    }
}

/// Returns what stands around a parameter of PostgreSQL: its type, which drivers would otherwise guess.
fn cast(value: &SqlParam) -> (&'static str, &'static str) {
    match value {
        SqlParam::Text(_) => ("CAST(", " AS text)"),
        SqlParam::Integer(_) => ("CAST(", " AS bigint)"),
        SqlParam::Number(_) => ("CAST(", " AS double precision)"),
        SqlParam::Bool(_) => ("CAST(", " AS boolean)"),
        SqlParam::Instant(_) => ("CAST(CAST(", " AS text) AS timestamptz)"),
    }
}

/// Returns the length of a parameter in characters; `None` for a column.
fn length_of(term: &Term<'_>) -> Option<String> {
    match term {
        Term::Value(SqlParam::Text(text)) => Some(text.chars().count().to_string()),
        _ => None,
    }
}

fn symbol(order: Order) -> &'static str {
    match order {
        Order::Eq => " = ",
        Order::Ne => " <> ",
        Order::Lt => " < ",
        Order::Lte => " <= ",
        Order::Gt => " > ",
        Order::Gte => " >= ",
    }
}
