//! The truths that tests may have for one value.

use super::relation;
use super::scope::Scope;
use crate::condition::{Operand, Predicate, Test};
use crate::operator::{ComparedKind, Operator};
use crate::truths::TruthSet;
use crate::value::{AttributeValue, List};

/// A list without items. A value that is not an item of a list compares with it as with this one.
pub(super) const NO_ITEMS: AttributeValue<'static> = AttributeValue::List(List::Json(&[]));

/// A test, and the truths that it may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand<'c> {
    pub(super) test: &'c Test,
    pub(super) truths: TruthSet,
}

/// Returns whether all demands are met at the same time if each test has one of its `possible` truths. Tests of one
/// predicate have one truth.
pub(super) fn agree(demands: &[Demand<'_>], possible: impl Fn(&Test) -> TruthSet) -> bool {
    let mut shared: Vec<(SharedPredicate<'_>, TruthSet)> = Vec::new();
    for demand in demands {
        let possible = possible(demand.test);
        if !possible.has(demand.truths) {
            return false;
        }
        // With one possible truth, tests of one predicate agree in any case.
        if possible.is_settled() {
            continue;
        }
        let (predicate, is_negated) = SharedPredicate::new(&demand.test.predicate);
        let truths = possible.and(demand.truths);
        let truths = if is_negated { truths.negated() } else { truths };
        match shared.iter_mut().find(|(known, _)| *known == predicate) {
            None => shared.push((predicate, truths)),
            Some((_, known)) if known.has(truths) => *known = known.and(truths),
            Some(_) => return false,
        }
    }
    true
}

/// A predicate, without a negation in its operator.
#[derive(PartialEq)]
enum SharedPredicate<'c> {
    Compare(Operator, &'c Operand),
    Other(&'c Predicate),
}

impl<'c> SharedPredicate<'c> {
    /// Returns the predicate, and whether its operator is the negation of the shared one.
    fn new(predicate: &'c Predicate) -> (Self, bool) {
        let Predicate::Compare(operator, operand) = predicate else {
            return (Self::Other(predicate), false);
        };
        let (operator, is_negated) = operator.positive();
        (Self::Compare(operator, operand), is_negated)
    }
}

/// Returns the truths that a test may have for a text, a number, a boolean or an instant.
pub(super) fn for_value(test: &Test, value: AttributeValue<'_>, scope: &Scope<'_>) -> TruthSet {
    let text = if let AttributeValue::Text(text) = value { Some(text) } else { None };
    match &test.predicate {
        Predicate::Exists => TruthSet::TRUE,
        Predicate::Compare(operator, Operand::Attribute(right)) => {
            let kind = ComparedKind::from_value(value).unwrap_or(ComparedKind::Text);
            relation::truths(*operator, kind, right, scope)
        }
        Predicate::Compare(operator, literal) => match literal.literal() {
            Some(literal) => TruthSet::from_truth(operator.holds(value, literal)),
            // The present decides.
            None if value.instant().is_some() => TruthSet::DETERMINED,
            None => TruthSet::UNDETERMINED,
        },
        // A pattern may be over a budget, and then the test is undetermined.
        Predicate::Matches(_) => text.map_or(TruthSet::UNDETERMINED, |_| TruthSet::ANY),
        Predicate::IpIn(networks) => {
            TruthSet::from_truth(text.and_then(|text| networks.contain(text)))
        }
        Predicate::During(window) => {
            TruthSet::from_truth(value.instant().map(|instant| window.covers(instant)))
        }
        Predicate::Items(_) | Predicate::Length(..) | Predicate::Unordered(..) => {
            TruthSet::UNDETERMINED
        }
    }
}
