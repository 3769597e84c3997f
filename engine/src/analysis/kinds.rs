//! Kinds of values.

use crate::condition::{AttributePath, RequestField};

/// The kind of a present value that operators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedKind {
    Text,
    Number,
    Bool,
    List,
}

/// Returns the kinds that present values of the attribute may have.
pub(super) fn kinds(path: &AttributePath) -> &'static [ComparedKind] {
    match path {
        AttributePath::Request(RequestField::Roles) => &[ComparedKind::List],
        AttributePath::Request(_) => &[ComparedKind::Text],
        _ => &[ComparedKind::Text, ComparedKind::Number, ComparedKind::Bool, ComparedKind::List],
    }
}
