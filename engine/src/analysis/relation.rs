//! Tests that compare an attribute with another attribute.

use super::kinds::kinds;
use super::scope::Scope;
use super::truth_set::TruthSet;
use crate::condition::AttributePath;
use crate::operator::{ComparedKind, Operator};

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
