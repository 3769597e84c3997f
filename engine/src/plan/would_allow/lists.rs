//! The lists that conditions on items, and on their number, tell apart: with one item more, and without those that fail.

use super::values::Values;
use super::world::json;
use crate::condition::{AttributePath, Items, Operand, Predicate};
use crate::json::Json;
use crate::number::Number;
use crate::operator::{Operator, Quantifier};
use crate::plan::program::{NodeId, Run};
use crate::plan::slots::Slot;
use crate::value::AttributeValue;

/// The most items of each truth that are tried as the one more: each makes a copy of the list.
const MAX_MORE: usize = 4;

/// A list of a request, with the truth of a condition for each item.
struct Judged {
    items: Vec<Json<'static>>,
    truths: Vec<Option<bool>>,
}

impl Judged {
    /// Judges the items of a value, which has none if it is not a list, by the condition of the test `node`.
    fn new(value: Option<AttributeValue<'_>>, node: NodeId, run: &mut Run<'_>) -> Self {
        let items = items_of(value);
        let truths =
            items.iter().map(|item| run.truth_of_item(node, AttributeValue::from(item))).collect();
        Self { items, truths }
    }

    /// Returns the items with this truth.
    fn with(&self, truth: bool) -> Vec<Json<'static>> {
        let both = self.items.iter().zip(&self.truths);
        both.filter(|(_, own)| **own == Some(truth)).map(|(item, _)| item.clone()).collect()
    }
}

impl Values<'_> {
    /// Adds the lists that a condition on items tells apart. They are not exact if none makes it true, or none false.
    pub(super) fn add_lists_for(&mut self, node: NodeId, items: &Items<Slot>, run: &mut Run<'_>) {
        let present = Judged::new(self.present(), node, run);
        let (held, failed) = (present.with(true), present.with(false));
        let candidates = self.candidates(items, run);
        let judged = candidates.into_iter().map(|item| {
            let truth = run.truth_of_item(node, AttributeValue::from(&item));
            (item, truth)
        });
        let judged: Vec<_> = judged.collect();
        let more = |wanted: bool| {
            let fitting = judged.iter().filter(move |(_, truth)| *truth == Some(wanted));
            fitting.map(|(item, _)| item).take(MAX_MORE)
        };
        // An empty list has the other truth.
        let deciding = items.quantifier() == Quantifier::Any;
        let has_deciding = if deciding { !held.is_empty() } else { !failed.is_empty() };
        let is_exact = has_deciding || more(deciding).next().is_some();
        for item in more(true).chain(more(false)) {
            let with = present.items.iter().chain([item]).cloned().collect();
            self.add_list(with, Some(vec![item.clone()]));
        }
        // The list without the items that fail is tried first.
        let (first, second) = if deciding { (failed, held) } else { (held, failed) };
        self.add_list(first, None);
        self.add_list(second, Some(Vec::new()));
        self.note_list(is_exact);
    }

    /// Adds lists with one item more and one less. They are not exact if the number of items decides as before.
    pub(super) fn add_lengths(
        &mut self,
        operator: Operator,
        operand: &Operand<Slot>,
        run: &Run<'_>,
    ) {
        let present = items_of(self.present());
        let mut more = present.clone();
        more.push(other_item(&present));
        let mut fewer = present.clone();
        fewer.pop();
        let right = operand.value(|slot| run.value(*slot));
        let truth = |list: &[Json<'_>]| {
            let length = Number::from(u64::try_from(list.len()).unwrap_or(u64::MAX));
            operator.holds(AttributeValue::Number(length), right?)
        };
        let is_exact = [&more, &fewer].iter().any(|list| truth(list) != truth(&present));
        self.add_list(more, None);
        self.add_list(fewer, None);
        self.note_list(is_exact);
    }

    /// Returns values that the tests of an item tell apart.
    fn candidates(&self, items: &Items<Slot>, run: &Run<'_>) -> Vec<Json<'static>> {
        let (child, outer) = (items.child(), items.reads());
        let paths = child.reads();
        let value = |path: &AttributePath| {
            let place = paths.iter().position(|own| *own == path)?;
            outer.get(place).and_then(|slot| run.value(*slot))
        };
        let mut values = Values::new(None, self.now());
        for test in child.tests() {
            match &test.predicate {
                Predicate::Compare(operator, operand) if test.attribute == AttributePath::Item => {
                    if let Some(right) = operand.value(value) {
                        values.add_left(operator.row().form, right);
                    }
                }
                Predicate::Compare(operator, Operand::Attribute(AttributePath::Item)) => {
                    if let Some(left) = value(&test.attribute) {
                        values.add_right(operator.row().form, left);
                    }
                }
                predicate => values.add_alone(predicate),
            }
        }
        // Each value is judged as an item, so it does not matter whether they stand for all others.
        let (values, _) = values.finish();
        let present = values.into_iter().flatten();
        present.filter(|value| matches!(value, Json::String(_) | Json::Number(_))).collect()
    }
}

/// Returns the items of a list of a request; none of another value.
fn items_of(value: Option<AttributeValue<'_>>) -> Vec<Json<'static>> {
    match value.and_then(json) {
        Some(Json::Array(items)) => items,
        _ => Vec::new(),
    }
}

/// Returns an item that the list does not have, of the type of its first.
fn other_item(list: &[Json<'_>]) -> Json<'static> {
    match list.first() {
        Some(Json::Number(_)) => {
            let mut numbers = (0_u64..).map(|number| Json::Number(Number::from(number)));
            numbers.find(|number| !list.contains(number))
        }
        _ => {
            let texts = (0..).map(|count| format!("other{}", "-".repeat(count)));
            texts.map(|text| Json::String(text.into())).find(|text| !list.contains(text))
        }
    }
    // Never: the list is finite, and the search has infinitely many.
    .unwrap_or(Json::Null)
}
