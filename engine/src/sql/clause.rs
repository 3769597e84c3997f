//! Clauses: conditions over columns, with the three values of SQL.

use super::columns::Column;
use super::param::SqlParam;
use crate::operator::{Order, Part};

/// A condition over the columns of one row. NULL is undetermined.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause<'c> {
    Constant(Option<bool>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    IsTrue(Box<Self>),
    IsNotFalse(Box<Self>),
    IsNull(&'c Column),
    /// The truth, or NULL if one of the columns is NULL.
    IfPresent(Vec<&'c Column>, bool),
    /// The order of two values of one type.
    Compare(Term<'c>, Order, Term<'c>),
    /// The column is one of the values.
    In(&'c Column, Vec<SqlParam>),
    /// The array has the item.
    Has(&'c Column, Term<'c>),
    /// One text is a part of another.
    Part(Part, Term<'c>, Term<'c>),
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term<'c> {
    Column(&'c Column),
    Value(SqlParam),
}

impl Term<'_> {
    /// Makes the term of a text.
    pub(super) fn text(text: &str) -> Self {
        Self::Value(SqlParam::Text(text.into()))
    }

    fn can_be_null(&self) -> bool {
        matches!(self, Self::Column(column) if column.nullable)
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
        let mut is_null = false;
        for part in parts {
            match part {
                Self::Constant(Some(truth)) if truth == deciding => return part,
                Self::Constant(Some(_)) => {}
                Self::Constant(None) => is_null = true,
                Self::All(inner) if !deciding => joined.extend(inner),
                Self::Any(inner) if deciding => joined.extend(inner),
                part => joined.push(part),
            }
        }
        if is_null && !joined.contains(&Self::Constant(None)) {
            joined.push(Self::Constant(None));
        }
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
            Self::IfPresent(columns, truth) => Self::IfPresent(columns, !truth),
            other => Self::Not(Box::new(other)),
        }
    }

    /// Returns whether the clause is true: an allow applies.
    pub(super) fn or_false(self) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(Some(truth == Some(true))),
            clause if !clause.can_be_null() => clause,
            clause => Self::IsTrue(Box::new(clause)),
        }
    }

    /// Returns whether the clause is not false: a deny applies.
    pub(super) fn or_true(self) -> Self {
        match self {
            Self::Constant(truth) => Self::Constant(Some(truth != Some(false))),
            clause if !clause.can_be_null() => clause,
            clause => Self::IsNotFalse(Box::new(clause)),
        }
    }

    /// Returns whether the column is NULL.
    pub(super) fn is_null(column: &'c Column) -> Self {
        if column.nullable { Self::IsNull(column) } else { Self::Constant(Some(false)) }
    }

    /// Returns `truth` if all columns are present, else undetermined.
    pub(super) fn if_present(columns: impl IntoIterator<Item = &'c Column>, truth: bool) -> Self {
        let columns: Vec<_> = columns.into_iter().filter(|column| column.nullable).collect();
        if columns.is_empty() {
            return Self::Constant(Some(truth));
        }
        Self::IfPresent(columns, truth)
    }

    /// Returns whether some row can make the clause NULL.
    fn can_be_null(&self) -> bool {
        match self {
            Self::Constant(truth) => truth.is_none(),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::can_be_null),
            Self::Not(inner) => inner.can_be_null(),
            Self::IsTrue(_) | Self::IsNotFalse(_) | Self::IsNull(_) => false,
            // Columns that cannot be NULL are left out.
            Self::IfPresent(..) => true,
            Self::Compare(left, _, right) | Self::Part(_, left, right) => {
                left.can_be_null() || right.can_be_null()
            }
            Self::In(column, _) => column.nullable,
            Self::Has(column, item) => column.nullable || item.can_be_null(),
        }
    }
}
