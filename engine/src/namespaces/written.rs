//! The tokens of a text that name attributes, for faults.

use crate::casbin;
use crate::condition::AttributePath;
use crate::expression;
use crate::invalid::Fault;
use crate::policy::Format;
use crate::syntax::{Token, all_tokens};

/// Returns the fault of the token that names the attribute `read[at]` in a text, where a condition reads the attributes
/// `read` in the order of the text.
pub(super) fn fault(
    format: Format,
    text: &str,
    read: &[&AttributePath],
    at: usize,
    expected: String,
) -> Fault {
    let path = read.get(at).copied();
    let before = read.iter().take(at).filter(|other| Some(**other) == path).count();
    let named = attributes(format, text).into_iter();
    let mut named = named.filter(|(attribute, _)| Some(attribute) == path);
    match named.nth(before) {
        Some((_, token)) => token.fault(expected),
        None => Fault::Expected(expected),
    }
}

/// Returns the attributes of a sound text, in its order, each with its token.
fn attributes(format: Format, text: &str) -> Vec<(AttributePath, Token<'_>)> {
    let tokens = all_tokens(text).unwrap_or_default();
    let attribute = |index: usize| match format {
        Format::Json => None,
        Format::Casbin => casbin::named_attribute(tokens[index]),
        Format::Expression => expression::named_attribute(&tokens[index..]),
    };
    (0..tokens.len()).filter_map(attribute).collect()
}
