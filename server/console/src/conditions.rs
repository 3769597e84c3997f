//! Conditions as people read them.

use askama::Template;
use portcullis_engine::expression::{self, PieceKind};
use portcullis_engine::{Condition, Invalid};

use crate::next::with_query;
use crate::visit::Visit;

/// The width of a line of a condition, in characters.
const WIDTH: usize = 80;
/// Longest condition in a cell of a table, in characters.
const MAX_IN_CELL: usize = 160;

/// A condition with colours, and links to the named conditions that it uses.
#[derive(Template)]
#[template(path = "condition.html")]
pub(crate) struct ShownCondition(Vec<ShownPiece>);

struct ShownPiece {
    /// The class that colours it; empty for none.
    class: &'static str,
    text: String,
    /// The address of the named condition.
    page: Option<String>,
}

impl ShownCondition {
    /// Returns the condition that [`text`] writes.
    pub(crate) fn of(visit: &Visit, condition: Result<Condition, Invalid>, stored: &str) -> Self {
        let text = text(condition, stored);
        let pieces = expression::pieces(&text).into_iter().map(|piece| ShownPiece {
            class: class(piece.kind),
            text: piece.text.to_owned(),
            page: piece.condition().map(|name| page_of(visit, name)),
        });
        Self(pieces.collect())
    }
}

/// Returns the address of a named condition.
fn page_of(visit: &Visit, name: &str) -> String {
    with_query(&visit.page("conditions"), &[("name", name)])
}

fn class(kind: PieceKind) -> &'static str {
    match kind {
        PieceKind::Attribute => "attribute",
        PieceKind::Named => "named",
        PieceKind::Operator => "operator",
        PieceKind::Literal => "literal",
        PieceKind::Other => "",
    }
}

/// Returns a condition as an expression over lines; `stored` if it does not compile any more.
pub(crate) fn text(condition: Result<Condition, Invalid>, stored: &str) -> String {
    condition.map_or_else(|_| stored.to_owned(), |condition| expression::layout(&condition, WIDTH))
}

/// Returns a condition in one line; a long one is left to the page of its policy.
pub(crate) fn in_cell(condition: Result<Condition, Invalid>) -> String {
    let text = condition.ok().and_then(|it| expression::print_within(&it, MAX_IN_CELL));
    text.unwrap_or_else(|| "…".to_owned())
}
