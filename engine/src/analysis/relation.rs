//! Tests that compare an attribute with another attribute.

use super::kinds::{ComparedKind, kinds};
use super::scope::Scope;
use super::truth_set::TruthSet;
use crate::condition::AttributePath;
use crate::operator::Operator;

/// Returns the truths that a test of a present value of kind `left` may have, whose right side is the attribute at
/// `right`.
pub(super) fn truths(
    operator: Operator,
    left: ComparedKind,
    right: &AttributePath,
    scope: &Scope<'_>,
) -> TruthSet {
    if scope.lacks(right) || !kinds(right).iter().any(|kind| compares(operator, left, *kind)) {
        return TruthSet::UNDETERMINED;
    }
    match (right, operator) {
        // A text may be no instant.
        (_, Operator::Before | Operator::After) => TruthSet::ANY,
        // A field of the request is never absent, and has one kind.
        (AttributePath::Request(_), _) => TruthSet::DETERMINED,
        _ => TruthSet::ANY,
    }
}

/// Returns whether the operator compares values of these kinds (`docs/semantics.md`, section 4.5).
fn compares(operator: Operator, left: ComparedKind, right: ComparedKind) -> bool {
    use ComparedKind::{Bool, List, Number, Text};
    match operator {
        Operator::Eq | Operator::Ne => left == right && left != List,
        Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte => {
            matches!((left, right), (Text, Text) | (Number, Number))
        }
        Operator::In | Operator::NotIn => left != List && right == List,
        Operator::Contains => {
            matches!((left, right), (Text, Text) | (List, Text | Number | Bool))
        }
        Operator::StartsWith | Operator::EndsWith | Operator::Before | Operator::After => {
            matches!((left, right), (Text, Text))
        }
    }
}
