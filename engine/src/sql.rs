//! Filters as SQL conditions that hold for exactly the allowed rows (`docs/semantics.md`, section 14.3).
//!
//! A condition is a clause of three values, as in SQL: absent is NULL, undetermined is NULL. An allow applies if its
//! clause is true, a deny if its clause is not false: from there on everything has two values, and each comparison stands
//! beside a test of its columns for NULL. Types that an operator does not compare, and values that a column cannot hold,
//! are constants before SQL is written: no database converts.

mod clause;
mod columns;
mod comparison;
mod declared;
mod dialect;
mod limits;
mod number;
mod param;
mod relations;
mod rows;
mod translate;
mod writer;

use crate::matrix::Outcome;
use crate::plan::filter::{Filter, InexactPolicy};
use crate::rbac::Effect;
use clause::Clause;
pub use columns::{ColumnType, Columns};
pub use dialect::{Dialect, Placeholders};
pub use limits::{MAX_ID_BYTES, MAX_NESTING, MAX_PARAMS, MAX_TEXT, TooLarge};
pub use param::{IdType, SqlParam};
pub use relations::{ObjectIds, RelatedRows, RowReference, RowRelation, RowRelations};
use translate::{Sources, Translator};
use writer::Writer;

/// A condition in SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql {
    /// The condition, in parentheses where it needs them. It is true or false for every row, never NULL.
    pub text: String,
    /// The parameters, in the order of the text.
    pub params: Vec<SqlParam>,
    /// The policies that the text does not translate exactly: it holds for more rows than are allowed, never for fewer.
    /// Empty if it is exact.
    pub inexact: Vec<InexactPolicy>,
}

/// Writes the condition that holds for the rows that `filter` allows. Relations to the rows that are not among `relations`
/// have no exact form.
///
/// # Errors
/// The condition is too long, has too many parameters or is nested too deeply.
pub fn write(
    filter: &Filter<'_>,
    columns: &Columns,
    relations: &RowRelations,
    (dialect, placeholders): (Dialect, Placeholders),
) -> Result<Sql, TooLarge> {
    let mut inexact = Vec::new();
    let relations = relations.clauses(columns);
    let clause = match &filter.outcome {
        Outcome::Allow => Clause::Constant(Some(true)),
        Outcome::Deny => Clause::Constant(Some(false)),
        Outcome::Depends(residual) => {
            let open: Vec<_> = residual.open_policies().ok_or(TooLarge)?.collect();
            let mut rest = Clause::Constant(Some(residual.otherwise() == Effect::Allow));
            // From the last policy to the first: each decides before those after it.
            for open in open.into_iter().rev() {
                let policy = open.policy;
                let sources = Sources { columns, relations: &relations, filter };
                let mut translator = Translator::new(sources, dialect, policy.effect);
                let clause = translator.condition(open.condition, true);
                rest = match policy.effect {
                    Effect::Allow => Clause::any([clause.with_null_as(false), rest]),
                    Effect::Deny => Clause::all([clause.with_null_as(true).refuted(), rest]),
                };
                let reasons = translator.into_reasons();
                if !reasons.is_empty() {
                    inexact.push(InexactPolicy::new(policy, reasons));
                }
            }
            rest
        }
    };
    // They were collected from the last policy to the first.
    inexact.reverse();
    let (text, params) = Writer::new(dialect, placeholders).write(&clause)?;
    Ok(Sql { text, params, inexact })
}

#[cfg(test)]
mod tests;
