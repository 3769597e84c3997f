//! The pieces of an expression by what they are, so that a page can colour them.

use crate::condition::Named;
use crate::operator::Operator;
use crate::syntax::{TokenKind, all_tokens};

/// The kind of a piece of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// An attribute, such as `user.ward`.
    Attribute,
    /// A named condition, such as `condition.on_team`.
    Named,
    /// An operator, or the word before a parenthesis.
    Operator,
    /// A text, a number, or a truth value.
    Literal,
    /// Parentheses, commas and white space.
    Other,
}

/// A piece of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'t> {
    pub kind: PieceKind,
    pub text: &'t str,
}

impl<'t> Piece<'t> {
    /// Returns the name of the condition that the piece uses; `None` for another piece.
    pub fn condition(&self) -> Option<&'t str> {
        named(self.text).filter(|_| self.kind == PieceKind::Named)
    }
}

/// Cuts an expression into its pieces. Together they are the text. A text that is not an expression is one piece.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let Ok(tokens) = all_tokens(text) else {
        return vec![Piece { kind: PieceKind::Other, text }];
    };
    let (mut pieces, mut rest) = (Vec::with_capacity(2 * tokens.len()), text);
    for token in tokens {
        // The lexer skips the same white space.
        let space = rest.len() - rest.trim_start().len();
        let (between, after) = rest.split_at(space);
        let (text, after) = after.split_at(token.text.len());
        if !between.is_empty() {
            pieces.push(Piece { kind: PieceKind::Other, text: between });
        }
        pieces.push(Piece { kind: kind(token.kind, text, after), text });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece { kind: PieceKind::Other, text: rest });
    }
    pieces
}

fn kind(token: TokenKind, text: &str, after: &str) -> PieceKind {
    match token {
        TokenKind::Text | TokenKind::Number => PieceKind::Literal,
        TokenKind::Name if matches!(text, "true" | "false") => PieceKind::Literal,
        TokenKind::Name if named(text).is_some() => PieceKind::Named,
        TokenKind::Name if after.starts_with('(') || is_operator(text) => PieceKind::Operator,
        TokenKind::Name => PieceKind::Attribute,
        TokenKind::Symbol if matches!(text, "!" | "&&" | "||" | "??") || is_operator(text) => {
            PieceKind::Operator
        }
        TokenKind::Symbol | TokenKind::End => PieceKind::Other,
    }
}

fn is_operator(text: &str) -> bool {
    text == "matches" || Operator::from_symbol(text).is_some()
}

/// Returns the name behind the word for named conditions.
fn named(text: &str) -> Option<&str> {
    text.strip_prefix(Named::NAMESPACE)?.strip_prefix('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_has_its_kind() {
        let text = "!condition.on_team && (user[\"a b\"] in [1, \"x\"]) ?? true\n  || any(user.n, item == -2)\n";
        let found = pieces(text);
        let whole: String = found.iter().map(|piece| piece.text).collect();
        assert_eq!(whole, text);
        let of = |kind| {
            let of_kind = found.iter().filter(move |piece| piece.kind == kind);
            of_kind.map(|piece| piece.text).collect::<Vec<_>>()
        };
        assert_eq!(of(PieceKind::Named), ["condition.on_team"]);
        assert_eq!(of(PieceKind::Attribute), ["user", "user.n", "item"]);
        assert_eq!(of(PieceKind::Operator), ["!", "&&", "in", "??", "||", "any", "=="]);
        assert_eq!(of(PieceKind::Literal), ["\"a b\"", "1", "\"x\"", "true", "2"]);
        let names: Vec<_> = found.iter().filter_map(Piece::condition).collect();
        assert_eq!(names, ["on_team"]);
        assert_eq!(pieces("\"open"), [Piece { kind: PieceKind::Other, text: "\"open" }]);
    }
}
