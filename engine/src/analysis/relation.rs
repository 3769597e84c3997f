//! Tests that compare an attribute with another attribute.

use super::scope::Scope;
use crate::condition::{AttributePath, RequestField};
use crate::operator::{ComparedKind, Operator};
use crate::truths::TruthSet;

/// Returns the truths that a test of a present value of kind `left` may have, whose right side is the attribute at
/// `right`.
pub(super) fn truths(
    operator: Operator,
    left: ComparedKind,
    right: &AttributePath,
    scope: &Scope<'_>,
) -> TruthSet {
    if scope.lacks(right) || !kinds(right).iter().any(|kind| operator.compares(left, *kind)) {
        return TruthSet::UNDETERMINED;
    }
    match right {
        // A field of the request is never absent, and has one kind.
        AttributePath::Request(_) if operator.row().form.compares_every_text() => {
            TruthSet::DETERMINED
        }
        _ => TruthSet::ANY,
    }
}

/// Returns the kinds that present values of the attribute may have.
pub(super) fn kinds(path: &AttributePath) -> &'static [ComparedKind] {
    match path {
        AttributePath::Request(RequestField::Roles) => &[ComparedKind::List],
        AttributePath::Request(_) => &[ComparedKind::Text],
        _ => &[ComparedKind::Text, ComparedKind::Number, ComparedKind::Bool, ComparedKind::List],
    }
}
