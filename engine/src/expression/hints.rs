//! Hints about expressions that are written as in other languages.

use crate::excerpt::quoted;
use crate::invalid::Fault;
use crate::nearest::nearest;
use crate::operator::{Operator, Takes};
use crate::syntax::{Token, TokenKind, Tokens};

/// The operators and words of other languages between two sides, each with the one of expressions.
const OTHER_COMPARISONS: [(&str, &str); 3] = [("=", "=="), ("is", "=="), ("not", "not_in")];
/// The operators of other languages between two conditions, each with the one of expressions.
const OTHER_JOINTS: [(&str, &str); 4] = [("and", "&&"), ("or", "||"), ("&", "&&"), ("|", "||")];
/// The functions of other languages, each with the one of expressions.
const OTHER_FUNCTIONS: [(&str, &str); 6] = [
    ("has", "exists"),
    ("defined", "exists"),
    ("undefined", "!exists"),
    ("size", "length"),
    ("len", "length"),
    ("count", "length"),
];

/// Returns the hint that names the comparison which `token` may mean, or an empty text.
pub(super) fn comparison(token: Token<'_>) -> String {
    // `eq` is the name of `==` in a condition tree.
    let of_tree = token.text.parse().ok().map(|operator: Operator| operator.row().symbol);
    let known = other(&OTHER_COMPARISONS, token).or(of_tree);
    hint(known.or_else(|| nearest(token.text, Operator::symbols())))
}

/// Returns the hint that names `&&` or `||` if `token` means it, or an empty text.
pub(super) fn joint(token: Token<'_>) -> String {
    hint(other(&OTHER_JOINTS, token))
}

/// Returns the hint that names `!` if `token` means it, or an empty text.
pub(super) fn negation(token: Token<'_>) -> String {
    hint(token.text.eq_ignore_ascii_case("not").then_some("!"))
}

/// Returns the hint about `token` on the right side of a comparison, or an empty text.
pub(super) fn right_side(takes: Takes, token: Token<'_>) -> String {
    let is_nothing = ["null", "nil", "none", "undefined"]
        .iter()
        .any(|word| token.kind == TokenKind::Name && token.text.eq_ignore_ascii_case(word));
    if is_nothing {
        return " (`x == null` asks whether `x` is absent, `x != null` whether it is present)"
            .to_owned();
    }
    let own = ["true", "false"].into_iter().find(|own| token.text.eq_ignore_ascii_case(own));
    hint(own.filter(|_| matches!(takes, Takes::Scalar)))
}

/// Returns the hint about a function of other languages, or an empty text.
pub(super) fn function(name: Token<'_>) -> String {
    hint(other(&OTHER_FUNCTIONS, name))
}

fn other(table: &[(&str, &'static str)], token: Token<'_>) -> Option<&'static str> {
    let row = table.iter().find(|(text, _)| token.text.eq_ignore_ascii_case(text));
    row.map(|(_, own)| *own)
}

fn hint(meant: Option<&str>) -> String {
    meant.map(|meant| format!(" (did you mean `{meant}`?)")).unwrap_or_default()
}

impl Tokens<'_> {
    /// Returns the hint about `"x" in user.list`, whose sides are exchanged, or an empty text. `text` is the next token.
    pub(super) fn exchanged_sides(&mut self, text: Token<'_>) -> String {
        let is_exchanged = text.kind == TokenKind::Text
            // The parse ends with a fault in any case, so that tokens may be taken here.
            && self.take().is_ok()
            && self.next.text == "in"
            && self.take().is_ok()
            && self.next.kind == TokenKind::Name;
        if !is_exchanged {
            return String::new();
        }
        format!(" (write {})", quoted(format_args!("{} contains {}", self.next.text, text.text)))
    }

    /// Returns the fault of the `-` that is the next token, after the attribute `start`.
    pub(super) fn hyphen(&mut self, start: Token<'_>) -> Fault {
        let hyphen = self.next;
        match self.hyphenated(start) {
            Some(attribute) => {
                let attribute = quoted(attribute);
                hyphen.fault(format!("brackets around a name with `-` (write {attribute})"))
            }
            None => hyphen.fault("the end of the attribute, because expressions do not calculate"),
        }
    }

    /// Returns the form in brackets of an attribute whose name goes on with `-` and words.
    fn hyphenated(&mut self, start: Token<'_>) -> Option<String> {
        let (kind, name) = start.text.split_once('.')?;
        let mut name = name.to_owned();
        while self.next.is("-") {
            self.take().ok()?;
            if self.next.kind != TokenKind::Name {
                return None;
            }
            name.push('-');
            name.push_str(self.take().ok()?.text);
        }
        Some(format!("{kind}[\"{name}\"]"))
    }
}
