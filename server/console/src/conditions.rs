//! Conditions as people read them.

use portcullis_engine::{Condition, Invalid, expression};

/// The width of a line of a condition, in characters.
const WIDTH: usize = 80;
/// Longest condition in a cell of a table, in characters.
const MAX_IN_CELL: usize = 160;

/// Returns a condition as an expression; `stored` if it does not compile any more.
pub(crate) fn text(condition: Result<Condition, Invalid>, stored: &str) -> String {
    condition.map_or_else(|_| stored.to_owned(), |condition| expression::layout(&condition, WIDTH))
}

/// Returns a condition in one line; a long one is left to the page of its policy.
pub(crate) fn in_cell(condition: Result<Condition, Invalid>) -> String {
    let text = condition.ok().and_then(|it| expression::print_within(&it, MAX_IN_CELL));
    text.unwrap_or_else(|| "…".to_owned())
}
