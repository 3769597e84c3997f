//! The values of an attribute that conditions tell apart, as [`crate::witnesses`] has them.

use std::cmp::Reverse;

use chrono::{DateTime, TimeDelta, Utc};

use super::world::json;
use crate::condition::{Operand, Predicate, Test};
use crate::json::Json;
use crate::number::Number;
use crate::operator::{Form, Part};
use crate::plan::program::{NodeId, Run};
use crate::plan::slots::Slot;
use crate::value::{AttributeValue, date_time};
use crate::witnesses::{Points, addresses};

/// The time for which changes with an instant allow: the next request takes a while to come.
pub(super) const STANDS: TimeDelta = TimeDelta::minutes(1);

/// The most values of one attribute that are tried. More make the search incomplete.
const MAX_VALUES: usize = 256;
/// The most values that are collected, many of them twice.
const MAX_NAMED: usize = 4 * MAX_VALUES;
/// The most items of which each set is tried as a list.
const MAX_ITEMS: usize = 3;
/// A text that no test names, unless it is one of the tests.
const OTHER: &str = "other";
/// The hours in which a time window is looked for: a week and a day.
const HOURS: i64 = 8 * 24;

/// The values of one attribute, of which the first are those that tests name.
#[derive(Default)]
pub(super) struct Values<'v> {
    /// The present value.
    present: Option<AttributeValue<'v>>,
    now: DateTime<Utc>,
    named: Vec<Json<'static>>,
    /// Values beside those that tests name.
    others: Vec<Json<'static>>,
    numbers: Vec<Number>,
    instants: Vec<DateTime<Utc>>,
    /// Texts that tests order.
    texts: Vec<String>,
    /// The parts that tests look for in texts, each once.
    parts: Vec<(Part, String)>,
    /// The items that tests look for in lists, each once: at most one more than [`MAX_ITEMS`].
    items: Vec<Json<'static>>,
    /// The number of these tests.
    item_tests: usize,
    /// The number of tests of the attribute but for those of its presence, and whether one of them is about the items of a list.
    tests: usize,
    has_lists: bool,
    /// Whether the values stand for all others.
    pub(super) are_exact: bool,
}

impl<'v> Values<'v> {
    pub(super) fn new(present: Option<AttributeValue<'v>>, now: DateTime<Utc>) -> Self {
        Self { present, now, are_exact: true, ..Self::default() }
    }

    /// Returns the present value.
    pub(super) fn present(&self) -> Option<AttributeValue<'v>> {
        self.present
    }

    /// Returns the instant of the check.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Adds a list, and another one that is tried after all that tests name.
    pub(super) fn add_list(
        &mut self,
        named: Vec<Json<'static>>,
        other: Option<Vec<Json<'static>>>,
    ) {
        self.named.push(Json::Array(named));
        self.others.extend(other.map(Json::Array));
    }

    /// Notes that the lists of a test are added, and whether they stand for all others of the test.
    pub(super) fn note_list(&mut self, are_exact: bool) {
        self.has_lists = true;
        self.are_exact &= are_exact;
    }

    /// Adds the values that the test `node` of the attribute at `slot` tells apart.
    pub(super) fn add(&mut self, node: NodeId, test: &Test<Slot>, slot: Slot, run: &mut Run<'_>) {
        // The others would be left out below.
        if self.named.len() + self.others.len() > MAX_NAMED {
            self.are_exact = false;
            return;
        }
        // A test of presence needs no value of its own: that the attribute is left out is always tried.
        self.tests += usize::from(test.predicate != Predicate::Exists);
        match &test.predicate {
            Predicate::Exists => {}
            Predicate::Items(items) if test.attribute == slot => {
                self.add_lists_for(node, items, run);
            }
            // An attribute that items are compared with.
            Predicate::Items(_) => {
                self.are_exact = false;
                if let Some(list) = run.value(test.attribute) {
                    self.add_items(list);
                }
            }
            Predicate::Length(operator, operand) if test.attribute == slot => {
                self.add_lengths(*operator, operand, run);
            }
            Predicate::Length(..) => {
                if let Some(AttributeValue::List(list)) = run.value(test.attribute) {
                    let length = Number::from(u64::try_from(list.len()).unwrap_or(u64::MAX));
                    self.add_scalar(AttributeValue::Number(length), true);
                }
            }
            Predicate::Compare(operator, operand) => {
                let form = operator.row().form;
                let (left, right) =
                    (run.value(test.attribute), operand.value(|other| run.value(*other)));
                if test.attribute == slot {
                    self.add_first(form, right);
                    right.into_iter().for_each(|right| self.add_left(form, right));
                }
                if matches!(operand, Operand::Attribute(other) if *other == slot) {
                    self.add_first(form, left);
                    left.into_iter().for_each(|left| self.add_right(form, left));
                }
            }
            alone => self.add_alone(alone),
        }
    }

    /// Adds the values that a test without a right side of its own tells apart.
    pub(super) fn add_alone<A>(&mut self, predicate: &Predicate<A>) {
        match predicate {
            Predicate::Matches(pattern) => {
                self.are_exact = false;
                self.named.push(text(pattern.source()));
            }
            Predicate::IpIn(networks) => {
                self.named.extend(networks.iter().map(|network| text(&network.addr().to_string())));
                let others = addresses([networks]);
                self.others.extend(others.iter().map(|address| text(&address.to_string())));
            }
            Predicate::During(window) => {
                let hours = (0..HOURS).map(|hour| self.now + TimeDelta::hours(hour));
                let hours: Vec<_> = hours.collect();
                for inside in [true, false] {
                    let found = hours.iter().find(|hour| window.covers(**hour) == inside);
                    self.instants.extend(found);
                }
            }
            Predicate::Exists
            | Predicate::Compare(..)
            | Predicate::Items(_)
            | Predicate::Length(..)
            | Predicate::Unordered(..) => {}
        }
    }

    /// Adds a value to begin with, if the other side of a test has none that the test compares: then both must change.
    fn add_first(&mut self, form: Form, other: Option<AttributeValue<'_>>) {
        match form {
            Form::Instants(_) if other.and_then(|other| other.instant()).is_none() => {
                self.instants.push(self.now);
            }
            Form::Items(_) if !matches!(other, Some(AttributeValue::List(_))) => {
                self.note_items(&[text(OTHER)]);
            }
            _ => {}
        }
    }

    /// Adds values of the left side.
    pub(super) fn add_left(&mut self, form: Form, right: AttributeValue<'_>) {
        match form {
            Form::Order(order) => self.add_scalar(right, !order.is_equality()),
            Form::Instants(_) => self.instants.extend(right.instant()),
            Form::Near(_) => {
                if let AttributeValue::Period(period) = right {
                    let length = TimeDelta::seconds(period.seconds().into());
                    self.instants.extend([self.now, self.now - length, self.now + length]);
                }
            }
            Form::Member => self.add_items(right),
            Form::Part(part) => {
                if let AttributeValue::Text(text) = right
                    && !self.parts.iter().any(|(own, known)| *own == part && known == text)
                {
                    self.parts.push((part, text.to_owned()));
                }
                self.add_scalar(right, false);
                if part == Part::Anywhere {
                    self.add_lists(right);
                }
            }
            Form::Items(_) => self.add_lists(right),
        }
    }

    /// Adds values of the right side.
    pub(super) fn add_right(&mut self, form: Form, left: AttributeValue<'_>) {
        match form {
            Form::Order(order) => self.add_scalar(left, !order.is_equality()),
            Form::Instants(_) => self.instants.extend(left.instant()),
            Form::Member | Form::Items(_) => self.add_lists(left),
            Form::Part(_) => match left {
                AttributeValue::List(_) => self.add_items(left),
                _ => self.add_scalar(left, false),
            },
            Form::Near(_) => {}
        }
    }

    fn add_scalar(&mut self, value: AttributeValue<'_>, is_ordered: bool) {
        match value {
            AttributeValue::Number(number) => {
                self.numbers.push(number);
                self.named.push(Json::Number(number));
            }
            AttributeValue::Bool(value) => {
                self.named.extend([Json::Bool(value), Json::Bool(!value)]);
            }
            AttributeValue::Text(own) => {
                self.named.push(text(own));
                if is_ordered {
                    self.texts.push(own.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Adds the items of a list as values.
    fn add_items(&mut self, list: AttributeValue<'_>) {
        if let AttributeValue::List(list) = list {
            list.for_each(|item| self.add_scalar(item, false));
        }
    }

    /// Adds lists that have an item, or all items of a list, and lists that have none of them.
    fn add_lists(&mut self, wanted: AttributeValue<'_>) {
        let (mut wanted, mut present) = (items(json(wanted)), items(self.present.and_then(json)));
        for list in [&mut wanted, &mut present] {
            // A list of a request has no booleans.
            list.retain(|item| matches!(item, Json::String(_) | Json::Number(_)));
        }
        self.note_items(&wanted);
        let without = present.iter().filter(|item| !wanted.contains(item)).cloned();
        let without: Vec<_> = without.collect();
        let with = without.iter().chain(&wanted).cloned().collect();
        self.named.push(Json::Array(with));
        self.named.push(Json::Array(wanted.clone()));
        self.others.extend(wanted.into_iter().map(|item| Json::Array(vec![item])));
        self.others.extend([Json::Array(without), Json::Array(Vec::new())]);
    }

    /// Notes items that a test looks for in a list.
    fn note_items(&mut self, wanted: &[Json<'static>]) {
        self.item_tests += 1;
        for item in wanted {
            if self.items.len() <= MAX_ITEMS && !self.items.contains(item) {
                self.items.push(item.clone());
            }
        }
    }

    /// Adds a list with all items that tests look for and one that none does; for several tests each list with some of the
    /// items, because they may want several at once.
    fn add_mixed_lists(&mut self) {
        if self.item_tests == 0 {
            return;
        }
        let fresh = fresh(&self.items);
        self.others.push(Json::Array(self.items.iter().cloned().chain([fresh.clone()]).collect()));
        if self.item_tests < 2 {
            return;
        }
        if self.items.len() > MAX_ITEMS {
            self.are_exact = false;
            return;
        }
        // The largest come first: an item more seldom harms.
        for set in (0..1_usize << self.items.len()).rev() {
            let some = self.items.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            let some = some.map(|(_, item)| item.clone());
            self.others.push(Json::Array(some.clone().collect()));
            self.others.push(Json::Array(some.chain([fresh.clone()]).collect()));
        }
    }

    /// Adds texts that have a part that a test looks for, or several, or none, and equal no text that a test names.
    fn add_parted_texts(&mut self) {
        if self.parts.is_empty() {
            return;
        }
        let named = self.named.iter().filter_map(Json::as_str);
        let known: String = named.chain(self.parts.iter().map(|(_, part)| &**part)).collect();
        let Some(gap) =
            ('a'..='z').chain('\u{4e00}'..='\u{9fff}').find(|one| !known.contains(*one))
        else {
            self.are_exact = false;
            return;
        };
        let starts = self.parts.iter().filter(|(part, _)| *part == Part::Start);
        let ends = self.parts.iter().filter(|(part, _)| *part == Part::End);
        let inner = self.parts.iter().filter(|(part, _)| *part == Part::Anywhere);
        let inner = inner.map(|(_, text)| format!("{text}{gap}")).collect::<String>();
        let starts: Vec<_> = starts.map(|(_, text)| &**text).chain([""]).collect();
        let ends: Vec<_> = ends.map(|(_, text)| &**text).chain([""]).collect();
        let mut all = Vec::new();
        for start in starts {
            for end in &ends {
                all.push(text(&format!("{start}{end}")));
                all.push(text(&format!("{start}{gap}{end}")));
                all.push(text(&format!("{start}{gap}{inner}{end}")));
            }
        }
        self.others.extend(all);
        // Parts of different places can overlap, and so can two within a text, in more ways than these.
        let first = self.parts.first().map(|(part, _)| *part);
        let are_alike = self.parts.iter().all(|(part, _)| Some(*part) == first);
        let is_exact = self.parts.len() < 2 || are_alike && first != Some(Part::Anywhere);
        self.are_exact &= is_exact;
    }

    /// Returns the values, each once; `None`, which is last, leaves the attribute out.
    pub(super) fn finish(mut self) -> (Vec<Option<Json<'static>>>, bool) {
        // A list that another test wants may be none of these.
        self.are_exact &= !self.has_lists || self.tests < 2;
        self.add_between_numbers();
        self.add_between_instants();
        self.add_between_texts();
        self.others.push(fresh(&self.named));
        self.add_mixed_lists();
        self.add_parted_texts();
        let mut values: Vec<Option<Json<'static>>> = Vec::new();
        for value in self.named.into_iter().chain(self.others) {
            if values.len() == MAX_VALUES {
                self.are_exact = false;
                break;
            }
            if !values.iter().flatten().any(|known| *known == value) {
                values.push(Some(value));
            }
        }
        values.push(None);
        (values, self.are_exact)
    }

    /// Adds a number between any two neighbours, and one on each side of all.
    fn add_between_numbers(&mut self) {
        let numbers = Points::new(self.numbers.drain(..));
        self.others.extend(numbers.gaps().filter_map(|gap| gap.number()).map(Json::Number));
    }

    /// Adds a text between any two neighbours, and one on each side of all.
    fn add_between_texts(&mut self) {
        let texts = Points::new(self.texts.drain(..));
        let Some(last) = texts.iter().next_back() else { return };
        let end = last.char_indices().next_back();
        let above = end.map_or("0".to_owned(), |(at, end)| {
            // The last code point before the surrogates has no direct successor.
            let next = char::from_u32(end as u32 + 1).unwrap_or(char::MAX);
            format!("{}{next}", &last[..at])
        });
        let mut all = Vec::new();
        for gap in texts.gaps() {
            let after = gap.low.map(|low| format!("{low}0")).unwrap_or_default();
            self.are_exact &= gap.low.is_none() || gap.high.is_none_or(|high| after < *high);
            all.push(after);
        }
        // One text has two gaps already, so the place exists.
        all.insert(2, above);
        // A text at its place in the order can have or lack a part in more ways than these.
        self.are_exact &= self.parts.is_empty();
        self.others.extend(all.iter().map(|between| text(between)));
    }

    /// Adds instants on each side of all, one between any two neighbours, first of those that are far from each other, and
    /// the neighbours. What a test compares with may move with the present, so it counts as it will be after [`STANDS`], too.
    fn add_between_instants(&mut self) {
        let instants: Vec<_> = self.instants.drain(..).collect();
        let later = instants.iter().map(|instant| *instant + STANDS);
        let instants = Points::new(instants.iter().copied().chain(later));
        let mut gaps: Vec<_> = instants.gaps().collect();
        gaps.sort_by_key(|gap| Reverse(gap.length()));
        let between = gaps.iter().filter_map(|gap| gap.instant(STANDS * 2));
        let all = between.chain(instants.iter().copied());
        self.others.extend(all.map(|instant| Json::String(date_time(instant).into())));
    }
}

/// Returns a text that is none of `known`.
fn fresh(known: &[Json<'_>]) -> Json<'static> {
    let mut fresh = OTHER.to_owned();
    // Ends, because `known` is finite.
    while known.iter().any(|known| known.as_str() == Some(&fresh)) {
        fresh.push('-');
    }
    text(&fresh)
}

fn text(text: &str) -> Json<'static> {
    Json::String(text.to_owned().into())
}

/// Returns the items of a list; a scalar is one item.
fn items(value: Option<Json<'static>>) -> Vec<Json<'static>> {
    match value {
        Some(Json::Array(items)) => items,
        Some(scalar) => vec![scalar],
        None => Vec::new(),
    }
}
