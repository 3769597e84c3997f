//! Writes clauses as SQL.

mod terms;

use super::clause::{Array, Clause, Term};
use super::columns::{Column, Items, Kind, Pairs, ScalarType};
use super::dialect::{Dialect, Placeholders};
use super::limits::{MAX_ID_BYTES, MAX_NESTING, MAX_PARAMS, MAX_TEXT, TooLarge};
use super::param::SqlParam;
use crate::operator::{Order, Part, Quantifier};

/// More parts of a conjunction or disjunction than this are halved by parentheses. SQLite nests each part of a chain
/// one level deeper than the next.
const MAX_CHAIN: usize = 8;

/// Writes one condition.
pub(super) struct Writer {
    dialect: Dialect,
    placeholders: Placeholders,
    text: String,
    params: Vec<SqlParam>,
    /// The parameters with ids, before they have the form of the dialect, with their numbers.
    ids: Vec<(SqlParam, usize)>,
    /// The bytes of ids in the parameters.
    id_bytes: usize,
    nesting: usize,
    /// Whether an odd number of negations stands around the clause: no index finds rows that do not equal.
    is_negated: bool,
}

type Written = Result<(), TooLarge>;

impl Writer {
    pub(super) fn new(dialect: Dialect, placeholders: Placeholders) -> Self {
        Self {
            dialect,
            placeholders,
            text: String::new(),
            params: Vec::new(),
            ids: Vec::new(),
            id_bytes: 0,
            nesting: 0,
            is_negated: false,
        }
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
            Clause::Not(inner) => self.negated(inner)?,
            Clause::Exists(list, inner) => self.exists(list, inner)?,
            Clause::HasSuch(list, inner) => self.has_such(list, inner)?,
            leaf => self.leaf(leaf),
        }
        self.nesting -= 1;
        // Again, because leaves write without a look at the limits.
        let is_full = self.params.len() > MAX_PARAMS || self.id_bytes > MAX_ID_BYTES;
        if is_full || self.text.len() > MAX_TEXT {
            return Err(TooLarge);
        }
        Ok(())
    }

    fn negated(&mut self, inner: &Clause<'_>) -> Written {
        if let Clause::IsNull(column) = inner {
            self.identifier(column);
            self.push(" IS NOT NULL");
            return Ok(());
        }
        if let Clause::NoArray(column) = inner {
            self.push("(");
            self.array_of_json(column);
            self.push(") IS NOT NULL");
            return Ok(());
        }
        self.push("(NOT ");
        self.within(!self.is_negated, inner)?;
        self.push(")");
        Ok(())
    }

    /// Writes whether some item of a list makes the clause true.
    fn exists(&mut self, list: &Column, inner: &Clause<'_>) -> Written {
        let Some(items) = &list.items else { return Ok(()) };
        self.push("EXISTS (SELECT 1 FROM ");
        self.items(list, items);
        self.push(" AND ");
        self.within(false, inner)?;
        self.push(")");
        Ok(())
    }

    /// Writes whether a condition on items is true for some item of a list.
    fn has_such(&mut self, list: &Column, inner: &Clause<'_>) -> Written {
        let Some(each) = &list.each else { return Ok(()) };
        self.push("EXISTS (SELECT 1 FROM ");
        self.each(list, &each.items);
        self.within(false, inner)?;
        self.push(")");
        Ok(())
    }

    fn within(&mut self, negation: bool, inner: &Clause<'_>) -> Written {
        let around = std::mem::replace(&mut self.is_negated, negation);
        self.clause(inner)?;
        // An error ends the whole text, so that nothing need be put back then.
        self.is_negated = around;
        Ok(())
    }

    /// Writes the table of the items of a list, and the condition of its rows.
    fn items(&mut self, list: &Column, items: &Items) {
        // The two parts are the alias of the table and the name of its value.
        let (alias, _) = items.column.parts.split_at(1);
        if let Some(pairs) = &items.pairs {
            return self.pairs(list, alias, pairs);
        }
        self.push("json_each(");
        self.identifier(list);
        self.push(") AS ");
        self.names(alias);
        self.push(" WHERE ");
        self.names(alias);
        // Items of other types equal nothing: SQLite would compare `true` with 1.
        self.push(type_of_items(items.column.kind));
    }

    /// Writes the table of pairs of a row.
    fn pairs(&mut self, list: &Column, alias: &[Box<str>], pairs: &Pairs) {
        self.names(&pairs.table);
        self.push(" AS ");
        self.names(alias);
        self.push(" WHERE ");
        self.names(alias);
        self.push(".");
        self.names(&pairs.row);
        self.push(" = ");
        self.identifier(list);
    }

    /// Writes the table of the items of a list, up to the condition on one.
    fn each(&mut self, list: &Column, items: &Items) {
        let (alias, value) = items.column.parts.split_at(1);
        match (&items.pairs, self.dialect) {
            (Some(pairs), _) => {
                self.pairs(list, alias, pairs);
                return self.push(" AND ");
            }
            (None, Dialect::Postgres) => {
                self.push("unnest(");
                self.cast(list);
                self.push(") AS ");
                self.names(alias);
                self.push("(");
                self.names(value);
                self.push(")");
            }
            (None, Dialect::Sqlite) => {
                self.push("json_each(");
                self.array_of_json(list);
                self.push(") AS ");
                self.names(alias);
            }
        }
        self.push(" WHERE ");
    }

    /// Writes JSON of SQLite if it is an array, and else NULL. A query fails at a text that is not JSON. A BLOB is JSONB, of
    /// which `json_valid` knows nothing.
    fn array_of_json(&mut self, list: &Column) {
        for before in ["CASE WHEN typeof(", ") = 'blob' OR json_valid(", ") THEN CASE json_type("] {
            self.push(before);
            self.identifier(list);
        }
        self.push(") WHEN 'array' THEN ");
        self.identifier(list);
        self.push(" END END");
    }

    /// Writes the number of items of a list, which `column` is.
    fn length(&mut self, column: &Column, items: &Items) {
        let (alias, value) = items.column.parts.split_at(1);
        match (&items.pairs, self.dialect) {
            (Some(pairs), _) => {
                // A pair without a value is not an item.
                self.push("(SELECT count(");
                self.names(alias);
                self.push(".");
                self.names(value);
                self.push(") FROM ");
                self.pairs(column, alias, pairs);
            }
            (None, Dialect::Postgres) => {
                self.push("cardinality(");
                self.identifier(column);
            }
            (None, Dialect::Sqlite) => {
                self.push("json_array_length(");
                self.array_of_json(column);
            }
        }
        self.push(")");
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
            Clause::Compare(Term::Column(column), Order::Eq, Term::Value(value)) => {
                self.one_of(column, std::slice::from_ref(value));
            }
            Clause::Compare(left, order, right) => {
                self.term(left);
                self.push(symbol(*order));
                self.term(right);
            }
            Clause::NoArray(column) => {
                self.push("(");
                self.array_of_json(column);
                self.push(") IS NULL");
            }
            Clause::IsTyped(item) => {
                self.names(item.parts.split_at(1).0);
                self.push(type_of_items(item.kind));
            }
            Clause::In(column, values) => self.one_of(column, values),
            Clause::InIds(column, ids) => self.one_of_ids(column, ids),
            Clause::Has(array, item) => self.has(array, item),
            Clause::Arrays(quantifier, left, right) => self.compared(*quantifier, left, right),
            Clause::Part(part, left, right) => self.part(*part, left, right),
            // Written by `clause`.
            Clause::Constant(_)
            | Clause::All(_)
            | Clause::Any(_)
            | Clause::Not(_)
            | Clause::Exists(..)
            | Clause::HasSuch(..) => {}
            // No clause of two values has these.
            Clause::Unless(..) | Clause::Items(..) => {}
        }
    }

    /// Writes whether a column is one of the values.
    fn one_of(&mut self, column: &Column, values: &[SqlParam]) {
        self.collated(column, |writer, first| {
            writer.push(if values.len() == 1 { " = " } else { " IN (" });
            writer.listed(values, first);
            if values.len() != 1 {
                writer.push(")");
            }
        });
    }

    /// Writes whether a column is one of the ids, which are one parameter.
    fn one_of_ids(&mut self, column: &Column, ids: &SqlParam) {
        let (before, after) = match self.dialect {
            Dialect::Postgres => (" = ANY(", ")"),
            Dialect::Sqlite => (" IN (SELECT value FROM json_each(", "))"),
        };
        let number = self.number_of_ids(ids);
        self.collated_from(column, number, |writer, number| {
            writer.push(before);
            writer.numbered(ids, number);
            writer.push(after);
        });
    }

    /// Writes whether an array of PostgreSQL has an item.
    fn has(&mut self, array: &Column, item: &Term<'_>) {
        if let Term::Value(value) = item {
            return self.collated(array, |writer, number| {
                writer.push(" @> ARRAY[");
                writer.numbered(value, number);
                writer.push("]");
            });
        }
        self.column(array);
        self.push(" @> ARRAY[");
        self.term(item);
        self.push("]");
    }

    /// Writes whether an array of PostgreSQL has items of another one.
    fn compared(&mut self, quantifier: Quantifier, left: &Array<'_>, right: &Array<'_>) {
        let operator = match quantifier {
            Quantifier::Any => " && ",
            Quantifier::All => " @> ",
        };
        match (left, right) {
            (Array::Column(column), Array::Values(values)) => {
                self.collated(column, |writer, first| {
                    writer.push(operator);
                    writer.array(values, first);
                });
            }
            (Array::Column(column), Array::Ids(ids)) => {
                let number = self.number_of_ids(ids);
                self.collated_from(column, number, |writer, number| {
                    writer.push(operator);
                    writer.numbered(ids, number);
                });
            }
            (left, right) => {
                self.side(left);
                self.push(operator);
                self.side(right);
            }
        }
    }

    fn side(&mut self, side: &Array<'_>) {
        match side {
            Array::Column(column) => self.column(column),
            Array::Values(values) => self.array(values, self.params.len() + 1),
            Array::Ids(ids) => {
                let number = self.number_of_ids(ids);
                self.numbered(ids, number);
            }
        }
    }

    /// Writes an array of parameters, the first with this number. The other side gives an empty one its type.
    fn array(&mut self, values: &[SqlParam], first: usize) {
        if values.is_empty() {
            return self.push("'{}'");
        }
        self.push("ARRAY[");
        self.listed(values, first);
        self.push("]");
    }

    /// Writes parameters with commas between them, the first with this number.
    fn listed(&mut self, values: &[SqlParam], first: usize) {
        for (number, value) in (first..).zip(values) {
            if number > first {
                self.push(", ");
            }
            self.numbered(value, number);
        }
    }

    /// Writes an equality of a column with parameters, whose first number the right side gets. In PostgreSQL a test by the
    /// column's own collation stands before the one by code point: an index serves, and texts that are equal by code
    /// point are equal in every collation.
    fn collated(&mut self, column: &Column, right: impl Fn(&mut Self, usize)) {
        self.collated_from(column, self.params.len() + 1, right);
    }

    fn collated_from(&mut self, column: &Column, first: usize, right: impl Fn(&mut Self, usize)) {
        if self.dialect == Dialect::Postgres && column.is_collated() && !self.is_negated {
            self.push("(");
            self.cast(column);
            right(self, first);
            self.push(" AND ");
            self.column(column);
            right(self, first);
            self.push(")");
        } else {
            self.column(column);
            right(self, first);
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
}

/// Returns the test that an item of a JSON array has the type.
fn type_of_items(kind: Kind) -> &'static str {
    match kind {
        Kind::Scalar(ScalarType::Text) => ".type = 'text'",
        _ => ".type IN ('integer', 'real')",
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
