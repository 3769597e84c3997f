//! The tokens of a text that name attributes and conditions, for faults.

use std::fmt;

use crate::casbin;
use crate::condition::{AttributePath, Named};
use crate::expression;
use crate::invalid::Fault;
use crate::policy::Format;
use crate::syntax::{Token, all_tokens};

/// The names in a condition.
#[derive(Clone, Copy)]
pub(super) enum Read<'c> {
    Attribute(&'c AttributePath),
    Condition(&'c Named),
}

impl fmt::Display for Read<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute(path) => path.fmt(f),
            Self::Condition(named) => named.fmt(f),
        }
    }
}

/// Returns the fault of the token that names `read[at]` in a text, where a condition names `read` in the order of the text.
/// A fault without `at` is one of the whole text.
pub(super) fn fault(
    format: Format,
    text: &str,
    read: &[Read<'_>],
    at: Option<usize>,
    expected: String,
) -> Fault {
    let Some(at) = at else { return Fault::Expected(expected) };
    let path_at = read.get(at).map(ToString::to_string);
    // A text can name one attribute several times: the fault is about this place of it.
    let before = read.iter().take(at).filter(|other| Some(other.to_string()) == path_at).count();
    let named = attributes(format, text).into_iter();
    let mut named = named.filter(|(attribute, _)| Some(attribute.to_string()) == path_at);
    match named.nth(before) {
        Some((_, token)) => token.fault(expected),
        None => Fault::Expected(expected),
    }
}

/// Returns the attributes of a sound text, in its order, each with its token.
fn attributes(format: Format, text: &str) -> Vec<(AttributePath, Token<'_>)> {
    let tokens = all_tokens(text).unwrap_or_default();
    let attributes = (0..tokens.len()).filter_map(|index| match format {
        Format::Json => None,
        Format::Casbin => casbin::named_attribute(tokens[index]),
        Format::Expression => expression::named_attribute(&tokens[index..]),
    });
    attributes.collect()
}
