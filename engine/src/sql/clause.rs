//! Clauses: conditions over columns, with the three values of SQL.

use super::columns::Column;
use super::param::SqlParam;
use crate::operator::{Order, Part, Quantifier};

/// A condition over the columns of one row. NULL is undetermined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause<'c> {
    Constant(Option<bool>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    IsNull(&'c Column),
    /// The order of two values of one type.
    Compare(Term<'c>, Order, Term<'c>),
    /// The column is one of the values.
    In(&'c Column, Vec<SqlParam>),
    /// The column is one of the ids, which are one parameter.
    InIds(&'c Column, SqlParam),
    /// The array of PostgreSQL has the item.
    Has(&'c Column, Term<'c>),
    /// The first array of PostgreSQL has this many items of the second.
    Arrays(Quantifier, Array<'c>, Array<'c>),
    /// A list that is a table of items has one for which the clause is true.
    Exists(&'c Column, Box<Self>),
    /// The clause holds for an item of a list, or for each: undetermined as a disjunction or a conjunction over the items is.
    Items(Quantifier, &'c Column, Box<Self>),
    /// A list has an item for which the clause of two values is true.
    HasSuch(&'c Column, Box<Self>),
    /// The JSON text of SQLite, or NULL, is not an array.
    NoArray(&'c Column),
    /// The item of a JSON array has the declared type.
    IsTyped(&'c Column),
    /// One text is a part of another.
    Part(Part, Term<'c>, Term<'c>),
    /// Undetermined where the first clause, which is never NULL, is true; else the second.
    Unless(Box<Self>, Box<Self>),
}

/// A side of a comparison of arrays, at most one of them a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Array<'c> {
    Column(&'c Column),
    Values(Vec<SqlParam>),
    /// One parameter with ids.
    Ids(SqlParam),
}

impl<'c> Array<'c> {
    fn column(&self) -> Option<&'c Column> {
        match self {
            Self::Column(column) => Some(column),
            Self::Values(_) | Self::Ids(_) => None,
        }
    }
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term<'c> {
    Column(&'c Column),
    /// The text that a check sees in place of the column's value.
    Text(&'c Column),
    Value(SqlParam),
}

impl<'c> Term<'c> {
    /// Makes the term of a text.
    pub(super) fn text(text: &str) -> Self {
        Self::Value(SqlParam::Text(text.into()))
    }

    fn column(&self) -> Option<&'c Column> {
        match self {
            Self::Column(column) | Self::Text(column) => Some(column),
            Self::Value(_) => None,
        }
    }
}

impl<'c> Clause<'c> {
    /// Returns the conjunction. Constants fold.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(parts, false)
    }

    /// Returns the disjunction. Constants fold.
    pub(super) fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::join(parts, true)
    }

    /// Joins by AND (`deciding` is false) or OR (`deciding` is true).
    fn join(parts: impl IntoIterator<Item = Self>, deciding: bool) -> Self {
        let mut joined = Vec::new();
        for part in parts {
            match part {
                // The parts behind it are not even translated, because they do not matter.
                Self::Constant(Some(truth)) if truth == deciding => return part,
                Self::Constant(Some(_)) => {}
                Self::All(inner) if !deciding => joined.extend(inner),
                Self::Any(inner) if deciding => joined.extend(inner),
                part => joined.push(part),
            }
        }
        drop_repeated(&mut joined);
        match joined.len() {
            0 => Self::Constant(Some(!deciding)),
            1 => joined.pop().unwrap_or(Self::Constant(Some(!deciding))),
            _ if deciding => Self::Any(joined),
            _ => Self::All(joined),
        }
    }

    pub(super) fn negated(self) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(truth.map(|truth| !truth)),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Returns the negation of a clause of two values, in a positive form where some part of it has one: a deny of what is
    /// not tied to a domain allows what is, and then an index serves.
    pub(super) fn refuted(self) -> Self {
        if !self.is_refuted_positively() {
            return self.negated();
        }
        match self {
            Self::Compare(left, Order::Ne, right) => Self::Compare(left, Order::Eq, right),
            Self::Any(parts) => Self::all(parts.into_iter().map(Self::refuted)),
            Self::All(parts) => Self::any(parts.into_iter().map(Self::refuted)),
            other => other.negated(),
        }
    }

    /// Returns whether the negation has a form by which an index serves: of a conjunction one part is enough, of a
    /// disjunction it takes all.
    fn is_refuted_positively(&self) -> bool {
        match self {
            Self::Compare(_, order, _) => *order == Order::Ne,
            // Rows of a subquery are looked up one by one in both forms.
            Self::Not(inner) => !matches!(**inner, Self::Exists(..) | Self::HasSuch(..)),
            Self::Any(parts) => parts.iter().any(Self::is_refuted_positively),
            Self::All(parts) => parts.iter().all(Self::is_refuted_positively),
            _ => false,
        }
    }

    /// Returns the clause with two values: it is `unknown` where this one is NULL. Columns are tested for NULL beside each
    /// comparison, so that an index serves; around a comparison `IS TRUE` would hide it.
    pub(super) fn with_null_as(self, unknown: bool) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(Some(truth.unwrap_or(unknown))),
            Self::All(parts) => Self::all(parts.into_iter().map(|part| part.with_null_as(unknown))),
            Self::Any(parts) => Self::any(parts.into_iter().map(|part| part.with_null_as(unknown))),
            // The negation turns the truth around that stands for NULL.
            Self::Not(inner) => inner.with_null_as(!unknown).refuted(),
            Self::Unless(undetermined, inner) => {
                let inner = inner.with_null_as(unknown);
                match unknown {
                    true => Self::any([inner, *undetermined]),
                    false => Self::all([inner, undetermined.negated()]),
                }
            }
            Self::Items(quantifier, list, child) => {
                Self::items(quantifier, list, child.with_null_as(unknown), unknown)
            }
            Self::IsNull(_) | Self::NoArray(_) | Self::IsTyped(_) | Self::HasSuch(..) => self,
            comparison => {
                let absent: Vec<_> = comparison.columns().into_iter().map(Self::is_null).collect();
                let first = std::iter::once(comparison);
                match unknown {
                    true => Self::any(first.chain(absent)),
                    false => Self::all(first.chain(absent.into_iter().map(Self::negated))),
                }
            }
        }
    }

    /// Returns whether `holds`, a clause of two values, does for an item of a list, or for each.
    fn items(quantifier: Quantifier, list: &'c Column, holds: Self, unknown: bool) -> Self {
        let Some(each) = &list.each else { return Self::Constant(Some(unknown)) };
        let is_typed = list.json_items().map_or(Self::Constant(Some(true)), Self::IsTyped);
        // An item that has not the declared type is undetermined.
        let holds = match unknown {
            true => Self::any([is_typed.negated(), holds]),
            false => Self::all([is_typed, holds]),
        };
        // A pair without a value is not an item.
        let is_item = match each.items.pairs {
            Some(_) => Self::IsNull(&each.items.column).negated(),
            None => Self::Constant(Some(true)),
        };
        let such = match quantifier {
            Quantifier::Any => holds,
            Quantifier::All => holds.refuted(),
        };
        let has_such = match Self::all([is_item, such]) {
            Self::Constant(Some(false)) => Self::Constant(Some(false)),
            such => Self::HasSuch(list, Box::new(such)),
        };
        match quantifier {
            Quantifier::Any => has_such,
            // Each item is such if none is another.
            Quantifier::All => has_such.negated(),
        }
    }

    /// Returns whether the column has no list, which its NULL is not, either.
    pub(super) fn no_list(column: &'c Column) -> Self {
        match column.json_items() {
            Some(_) => Self::NoArray(column),
            None => Self::is_null(column),
        }
    }

    /// Returns whether the column is NULL.
    pub(super) fn is_null(column: &'c Column) -> Self {
        if column.nullable { Self::IsNull(column) } else { Self::Constant(Some(false)) }
    }

    /// Returns `truth` if all columns are present, else undetermined.
    pub(super) fn if_present(columns: impl IntoIterator<Item = &'c Column>, truth: bool) -> Self {
        let absent = Self::any(columns.into_iter().map(Self::is_null));
        match truth {
            // Over NULL, `OR TRUE` is true and `OR FALSE` is NULL. `AND` is the other way round.
            true => Self::any([absent.negated(), Self::Constant(None)]),
            false => Self::all([absent, Self::Constant(None)]),
        }
    }

    /// Returns the clause, undetermined where `undetermined` is true, which is never NULL.
    pub(super) fn unless(self, undetermined: Self) -> Self {
        match undetermined {
            Self::Constant(Some(true)) => Self::Constant(None),
            Self::Constant(Some(false)) => self,
            undetermined => Self::Unless(Box::new(undetermined), Box::new(self)),
        }
    }

    /// Returns the columns that a comparison reads.
    fn columns(&self) -> Vec<&'c Column> {
        match self {
            Self::Compare(left, _, right) | Self::Part(_, left, right) => {
                left.column().into_iter().chain(right.column()).collect()
            }
            Self::In(column, _) | Self::InIds(column, _) => vec![column],
            Self::Arrays(_, left, right) => {
                left.column().into_iter().chain(right.column()).collect()
            }
            Self::Has(column, item) => std::iter::once(*column).chain(item.column()).collect(),
            Self::Exists(column, inner) => {
                std::iter::once(*column).chain(inner.columns()).collect()
            }
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::columns).collect(),
            Self::Not(inner) | Self::Unless(_, inner) => inner.columns(),
            // These are never NULL, or have two values by then.
            Self::Constant(_)
            | Self::IsNull(_)
            | Self::Items(..)
            | Self::HasSuch(..)
            | Self::NoArray(_)
            | Self::IsTyped(_) => Vec::new(),
        }
    }

    fn is_null_test(&self) -> bool {
        match self {
            Self::IsNull(_) | Self::Constant(None) => true,
            Self::Not(inner) => matches!(**inner, Self::IsNull(_)),
            _ => false,
        }
    }
}

/// Drops tests for NULL that a chain has already.
fn drop_repeated(parts: &mut Vec<Clause<'_>>) {
    let mut seen = Vec::new();
    parts.retain(|part| {
        let repeated = part.is_null_test() && seen.contains(part);
        if part.is_null_test() && !repeated {
            seen.push(part.clone());
        }
        !repeated
    });
}
