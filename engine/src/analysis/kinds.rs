//! Kinds of values.

use crate::condition::{AttributePath, RequestField};
use crate::operator::ComparedKind;

/// Returns the kinds that present values of the attribute may have.
pub(super) fn kinds(path: &AttributePath) -> &'static [ComparedKind] {
    match path {
        AttributePath::Request(RequestField::Roles) => &[ComparedKind::List],
        AttributePath::Request(_) => &[ComparedKind::Text],
        _ => &[ComparedKind::Text, ComparedKind::Number, ComparedKind::Bool, ComparedKind::List],
    }
}
