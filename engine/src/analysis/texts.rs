//! Texts with which tests have wanted truths.

use super::instants;
use super::outcomes::{Demand, NO_ITEMS, agree, for_value};
use super::relation;
use super::scope::Scope;
use crate::condition::{AttributePath, Operand, Predicate, RequestField, Test};
use crate::operator::{ComparedKind, Form, Part};
use crate::truths::TruthSet;
use crate::value::AttributeValue;
use crate::witnesses::{Points, addresses};

/// Returns whether a text may meet all demands: one of the literals, or any other.
pub(super) fn exist(path: &AttributePath, scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let is_met = |text: &str| {
        scope.admits(path, text)
            && agree(demands, |test| for_value(test, AttributeValue::Text(text), scope))
    };
    if let Some(only) = scope.only(path) {
        return is_met(only);
    }
    demands.iter().any(|demand| is_literal(demand.test, is_met))
        || (is_other(scope, demands) && is_special(path, scope, demands))
}

/// Returns whether `is_met` holds for a text of the right side of a test.
fn is_literal(test: &Test, is_met: impl Fn(&str) -> bool) -> bool {
    match &test.predicate {
        Predicate::Compare(_, Operand::Text(text)) => is_met(text),
        Predicate::Compare(_, Operand::List(list)) => list.texts().any(is_met),
        _ => false,
    }
}

/// A place between texts in their order: before a text, or after the last text that begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut<'c> {
    text: &'c str,
    is_after: bool,
}

impl Ord for Cut<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        use std::cmp::Ordering::{Greater, Less};
        if self.text == other.text {
            return self.is_after.cmp(&other.is_after);
        }
        if self.is_after && other.text.starts_with(self.text) {
            return Greater;
        }
        if other.is_after && self.text.starts_with(other.text) {
            return Less;
        }
        self.text.cmp(other.text)
    }
}

impl PartialOrd for Cut<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns whether a text that is not a literal may meet the demands, except the texts of [`is_special`].
fn is_other(scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    if has_conflict(demands) {
        return false;
    }
    let mut cuts: Vec<Cut<'_>> = Vec::new();
    for demand in demands {
        if let Predicate::Compare(operator, Operand::Text(text)) = &demand.test.predicate {
            let (start, end) = (Cut { text, is_after: false }, Cut { text, is_after: true });
            match operator.row().form {
                Form::Order(_) => cuts.push(start),
                Form::Part(Part::Start) => cuts.extend([start, end]),
                // These do not depend on the order of texts.
                Form::Part(Part::Anywhere | Part::End)
                | Form::Member
                | Form::Instants(_)
                | Form::Items(_)
                | Form::Near(_) => {}
            }
        }
    }
    let cuts = Points::new(cuts);
    cuts.gaps().any(|gap| agree(demands, |test| below(test, gap.high.copied(), scope)))
}

/// Returns the truths that a test may have for a text just before `bound`, after every smaller cut, that is not a literal;
/// after all cuts if there is no bound.
fn below(test: &Test, bound: Option<Cut<'_>>, scope: &Scope<'_>) -> TruthSet {
    match &test.predicate {
        Predicate::Exists => TruthSet::TRUE,
        Predicate::Compare(operator, Operand::Attribute(right)) => {
            relation::truths(*operator, ComparedKind::Text, right, scope)
        }
        Predicate::Compare(operator, Operand::Text(text)) => {
            let (start, end) = (Cut { text, is_after: false }, Cut { text, is_after: true });
            match operator.row().form {
                Form::Order(_) => {
                    use std::cmp::Ordering::{Greater, Less};
                    let order = if is_before(bound, start) { Less } else { Greater };
                    TruthSet::from_truth(operator.holds_in_order(order))
                }
                Form::Part(Part::Start) => {
                    // The text lies after the first text that begins so, and not after the last.
                    TruthSet::from_truth(Some(!is_before(bound, start) && is_before(bound, end)))
                }
                Form::Part(Part::Anywhere | Part::End) => TruthSet::DETERMINED,
                Form::Member | Form::Instants(_) | Form::Items(_) | Form::Near(_) => {
                    TruthSet::UNDETERMINED
                }
            }
        }
        // `is_special` judges these.
        Predicate::Compare(_, Operand::Instant(_) | Operand::Duration { .. })
        | Predicate::IpIn(_)
        | Predicate::During(_)
        | Predicate::Matches(_) => TruthSet::ANY,
        Predicate::Items(_) | Predicate::Length(..) | Predicate::Unordered(..) => {
            TruthSet::UNDETERMINED
        }
        // The text is not an item of a list.
        Predicate::Compare(operator, Operand::List(_)) => {
            TruthSet::from_truth(operator.holds(AttributeValue::Text(""), NO_ITEMS))
        }
        Predicate::Compare(_, Operand::Number(_) | Operand::Bool(_)) => {
            for_value(test, AttributeValue::Text(""), scope)
        }
    }
}

/// Returns whether a text just before `bound` comes before a cut.
fn is_before(bound: Option<Cut<'_>>, cut: Cut<'_>) -> bool {
    bound.is_some_and(|bound| bound <= cut)
}

/// Returns whether two demands on parts of a text exclude each other.
fn has_conflict(demands: &[Demand<'_>]) -> bool {
    let parts: Vec<(TextPart<'_>, TruthSet)> = demands
        .iter()
        .filter_map(|demand| Some((TextPart::from_test(demand.test)?, demand.truths)))
        .collect();
    let with = parts.iter().filter(|(_, truths)| !truths.has(TruthSet::FALSE));
    with.into_iter().any(|(part, _)| {
        parts.iter().any(|(other, truths)| {
            let is_excluded = !truths.has(TruthSet::TRUE) && part.implies(*other);
            let is_required = !truths.has(TruthSet::FALSE);
            is_excluded || (is_required && part.excludes(*other))
        })
    })
}

/// A part that a text has.
#[derive(Clone, Copy, Debug)]
struct TextPart<'c> {
    place: Part,
    text: &'c str,
}

impl<'c> TextPart<'c> {
    fn from_test(test: &'c Test) -> Option<Self> {
        let Predicate::Compare(operator, Operand::Text(text)) = &test.predicate else {
            return None;
        };
        match operator.row().form {
            Form::Part(place) => Some(Self { place, text }),
            Form::Order(_) | Form::Member | Form::Instants(_) | Form::Items(_) | Form::Near(_) => {
                None
            }
        }
    }

    /// Returns whether every text with this part has the other one.
    fn implies(self, other: Self) -> bool {
        match other.place {
            Part::Anywhere => self.text.contains(other.text),
            place if place != self.place => false,
            Part::End => self.text.ends_with(other.text),
            Part::Start => self.text.starts_with(other.text),
        }
    }

    /// Returns whether no text ends with both parts. Two beginnings are exact without this.
    fn excludes(self, other: Self) -> bool {
        let both = (self.place, other.place) == (Part::End, Part::End);
        both && !self.implies(other) && !other.implies(self)
    }
}

/// Returns whether a text may meet the demands that look at it as an instant or an address. No text is both.
fn is_special(path: &AttributePath, scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let demands = demands.iter().filter(|demand| is_parsed_by(&demand.test.predicate));
    let demands: Vec<Demand<'_>> = demands.copied().collect();
    // `request.time` is always an instant.
    let is_time = matches!(path, AttributePath::Request(RequestField::Time));
    instants::exist(scope, &demands)
        || (!is_time
            && (agree(&demands, |_| TruthSet::UNDETERMINED) || address_exists(scope, &demands)))
}

/// Returns whether an address may meet all demands.
fn address_exists(scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let networks = demands.iter().filter_map(|demand| match &demand.test.predicate {
        Predicate::IpIn(networks) => Some(networks),
        _ => None,
    });
    addresses(networks).iter().any(|address| {
        let text = address.to_string();
        agree(demands, |test| for_value(test, AttributeValue::Text(&text), scope))
    })
}

/// Returns whether a test looks at a text as an instant or an address.
fn is_parsed_by(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::IpIn(_) | Predicate::During(_) => true,
        Predicate::Exists
        | Predicate::Matches(_)
        | Predicate::Items(_)
        | Predicate::Length(..)
        | Predicate::Unordered(..) => false,
        Predicate::Compare(_, operand) => match operand {
            Operand::Instant(_) | Operand::Duration { .. } => true,
            Operand::Attribute(_)
            | Operand::Text(_)
            | Operand::Number(_)
            | Operand::Bool(_)
            | Operand::List(_) => false,
        },
    }
}
