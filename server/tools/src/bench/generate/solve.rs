//! Changes a draft so that a condition is true or false. The operators themselves say which values fit. Two tests of one
//! attribute can contradict each other, so the caller checks the result and repeats the call.

use chrono::{DateTime, TimeDelta, Utc};
use fastrand::Rng;
use portcullis_engine::condition::{AttributePath, Items, Operand, Predicate, Test};
use portcullis_engine::during::TimeWindow;
use portcullis_engine::operator::{ComparedKind, Operator, Quantifier, Takes};
use portcullis_engine::value::AttributeValue;
use portcullis_engine::witnesses::Points;
use portcullis_engine::{Condition, Json};

use super::draft::{Draft, date_time, string};
use super::text;
use super::vocabulary::Vocabulary;

/// The difference between an instant and one before or after it.
const APART: TimeDelta = TimeDelta::hours(1);
/// The difference between the instants that are tried for a time window.
const STEP: TimeDelta = TimeDelta::minutes(15);
/// The largest number of items of a list that are tried.
const MAX_ITEMS: usize = 16;

/// Changes a draft with the words of a tenant.
pub(super) struct Solver<'a> {
    pub(super) draft: &'a mut Draft,
    pub(super) words: &'a Vocabulary,
    pub(super) rng: &'a mut Rng,
}

impl Solver<'_> {
    /// Makes the condition true, or false.
    pub(super) fn satisfy(&mut self, condition: &Condition, wanted: bool) {
        match (condition, wanted) {
            (Condition::And(children), true) | (Condition::Or(children), false) => {
                children.iter().for_each(|child| self.satisfy(child, wanted));
            }
            (Condition::And(children), false) | (Condition::Or(children), true) => {
                if let Some(child) = self.rng.choice(children) {
                    self.satisfy(child, wanted);
                }
            }
            (Condition::Not(child), _) => self.satisfy(child, !wanted),
            (Condition::Named(named), _) => {
                let meaning = named.meaning().into_iter();
                meaning.for_each(|meaning| self.satisfy(meaning, wanted));
            }
            (Condition::Test(test), _) => self.test(test, wanted),
        }
    }

    fn test(&mut self, test: &Test, wanted: bool) {
        let path = &test.attribute;
        // An absent attribute is one of the ways, and is taken now and then.
        if test.if_missing == Some(wanted) && self.rng.u8(..4) == 0 {
            return self.draft.set(path, None);
        }
        let value = match &test.predicate {
            Predicate::Exists if wanted => match self.draft.get(path) {
                Some(_) => return,
                None => Some(self.any_value(path)),
            },
            Predicate::Exists => return self.draft.set(path, None),
            Predicate::Matches(pattern) => text::matching(pattern, wanted, self.rng).map(string),
            Predicate::IpIn(networks) => text::address(networks, wanted, self.rng).map(string),
            Predicate::During(window) => self.instant(window, wanted).map(date_time),
            Predicate::Compare(operator, operand) => {
                return self.compare(path, *operator, operand, wanted);
            }
            Predicate::Items(items) => return self.items(path, items, wanted),
            // Nothing makes such a test true or false.
            Predicate::Unordered(..) => return,
            Predicate::Length(operator, operand) => {
                let length = self.length(*operator, operand, wanted);
                length.map(|length| Json::Array(vec![self.any_value(path); length]))
            }
        };
        if value.is_some() {
            self.draft.set(path, value);
        }
    }

    /// Makes a condition on items true, or false, by a list of one item or of none.
    fn items(&mut self, path: &AttributePath, items: &Items, wanted: bool) {
        let is_wanted_of_item = (items.quantifier() == Quantifier::Any) == wanted;
        // An item that an earlier test has set must not count here.
        self.draft.set(&AttributePath::Item, None);
        self.satisfy(items.child(), wanted);
        // A condition on all items is true of the empty list.
        let item = self.draft.get(&AttributePath::Item).filter(|_| is_wanted_of_item || !wanted);
        self.draft.set(path, Some(Json::Array(item.into_iter().collect())));
    }

    /// Returns a length with which the comparison is true, or false; `None` if there is none among the first.
    fn length(&mut self, operator: Operator, operand: &Operand, wanted: bool) -> Option<usize> {
        let right = operand.value(|_| None)?;
        (0..=MAX_ITEMS).find(|length| {
            let left = AttributeValue::Number((*length as u64).into());
            operator.holds(left, right) == Some(wanted)
        })
    }

    fn compare(
        &mut self,
        path: &AttributePath,
        operator: Operator,
        operand: &Operand,
        wanted: bool,
    ) {
        let Operand::Attribute(other) = operand else {
            let now = date_time(self.draft.now);
            return self.choose(path, &candidates(operator, &literal(operand, &now)), |value| {
                let right = operand.value(|_| Some((&now).into()));
                right.and_then(|right| operator.holds(value.into(), right)) == Some(wanted)
            });
        };
        // Either side can change, but not the fields of the request.
        let fixed = matches!(path, AttributePath::Request(_));
        if fixed || (self.draft.get(path).is_some() && self.rng.bool()) {
            let left = self.draft.get(path).unwrap_or(Json::Null);
            self.choose(other, &counterparts(operator, &left), |value| {
                operator.holds((&left).into(), value.into()) == Some(wanted)
            });
            return;
        }
        let right = self.draft.get(other).unwrap_or_else(|| {
            let value = match operator.row().takes {
                Takes::Instant | Takes::Duration => date_time(self.draft.now),
                Takes::List => Json::Array(vec![self.any_value(path)]),
                Takes::Scalar | Takes::Ordered | Takes::Text => self.any_value(other),
            };
            self.draft.set(other, Some(value.clone()));
            value
        });
        self.choose(path, &candidates(operator, &right), |value| {
            operator.holds(value.into(), (&right).into()) == Some(wanted)
        });
    }

    /// Sets the attribute to a fitting value of `candidates`, or of the values that other conditions compare it with. Of
    /// an existing list only one item changes.
    fn choose(
        &mut self,
        path: &AttributePath,
        candidates: &[Json<'static>],
        fits: impl Fn(&Json<'static>) -> bool,
    ) {
        let current = self.draft.get(path);
        // A value that fits already may be needed by another test.
        if current.as_ref().is_some_and(&fits) {
            return;
        }
        // A list is changed as little as possible, since other tests may need its other items.
        let changed = current.as_ref().and_then(Json::as_array).map(|items| {
            let more = candidates.iter().filter_map(Json::as_array).flatten();
            let more = more.map(|item| Json::Array([items, std::slice::from_ref(item)].concat()));
            let less = (0..items.len()).map(|left_out| {
                let kept = items.iter().enumerate().filter(|(index, _)| *index != left_out);
                Json::Array(kept.map(|(_, item)| item.clone()).collect())
            });
            more.chain(less).filter(&fits).collect::<Vec<_>>()
        });
        let elsewhere = self.words.values(path);
        let value = self.rng.choice(changed.unwrap_or_default()).or_else(|| {
            let fitting = candidates.iter().chain(elsewhere).filter(|value| fits(value));
            self.rng.choice(fitting.collect::<Vec<_>>()).cloned()
        });
        if value.is_some() {
            self.draft.set(path, value);
        }
    }

    /// Returns an instant of the week before the check that lies in the window, or outside of it.
    fn instant(&mut self, window: &TimeWindow, wanted: bool) -> Option<DateTime<Utc>> {
        let steps = i32::try_from(TimeDelta::weeks(1).num_minutes() / STEP.num_minutes()).ok()?;
        // A window repeats each week, so one week has every case.
        let week = (0..steps).map(|step| self.draft.now - STEP * step);
        self.rng
            .choice(week.filter(|instant| window.covers(*instant) == wanted).collect::<Vec<_>>())
    }

    fn any_value(&mut self, path: &AttributePath) -> Json<'static> {
        let known = self.rng.choice(self.words.values(path));
        known.cloned().unwrap_or_else(|| string(format!("value-{}", self.rng.u8(..8))))
    }
}

/// Returns the right side of a comparison as a request writes it, and `now` in place of a duration.
fn literal(operand: &Operand, now: &Json<'static>) -> Json<'static> {
    match operand {
        // An attribute has no own value.
        Operand::Attribute(_) => Json::Null,
        Operand::Text(text) => string(&**text),
        Operand::Number(number) => Json::Number(*number),
        Operand::Bool(value) => Json::Bool(*value),
        Operand::Instant(instant) => date_time(*instant),
        Operand::Duration { .. } => now.clone(),
        Operand::List(list) => {
            let texts = list.texts().map(string);
            Json::Array(texts.chain(list.numbers().map(Json::Number)).collect())
        }
    }
}

/// Returns values for the left side of the operator: some satisfy it with `right`, and some do not.
fn candidates(operator: Operator, right: &Json<'static>) -> Vec<Json<'static>> {
    let mut values = match right {
        Json::Array(items) => {
            // Items from the whole list are tried, and not only the first ones.
            let step = items.len().div_ceil(MAX_ITEMS).max(1);
            items.iter().step_by(step).cloned().chain([string("none of them")]).collect()
        }
        scalar => near(scalar),
    };
    let mut compared = operator.row().compares.iter();
    if compared.any(|(left, _)| *left == ComparedKind::List) {
        values.extend(near(right).into_iter().map(|item| Json::Array(vec![item])));
        values.extend(right.as_array().map(lists).into_iter().flatten());
    }
    values
}

/// Returns the whole list, a list of each item, and one of none of them.
fn lists(items: &[Json<'static>]) -> Vec<Json<'static>> {
    let single = items.iter().take(MAX_ITEMS).cloned().chain([string("none of them")]);
    let whole = Json::Array(items.to_vec());
    single.map(|item| Json::Array(vec![item])).chain([whole]).collect()
}

/// Returns values for the right side of the operator: some satisfy it with `left`, and some do not.
fn counterparts(operator: Operator, left: &Json<'static>) -> Vec<Json<'static>> {
    match (operator.row().takes.accepts_list(), left) {
        (true, Json::Array(items)) => lists(items),
        (true, item) => near(item).into_iter().map(|item| Json::Array(vec![item])).collect(),
        (false, Json::Array(items)) => {
            items.iter().take(MAX_ITEMS).cloned().chain([string("none of them")]).collect()
        }
        (false, scalar) => near(scalar),
    }
}

/// Returns the value itself, and values near it.
fn near(value: &Json<'static>) -> Vec<Json<'static>> {
    match value {
        Json::Number(number) => {
            let beside = Points::new([*number]);
            let beside = beside.gaps().filter_map(|gap| gap.number());
            beside.chain([*number]).map(Json::Number).collect()
        }
        Json::Bool(_) => vec![Json::Bool(true), Json::Bool(false)],
        Json::String(text) => match text.parse::<DateTime<Utc>>() {
            Ok(instant) => {
                let beside = Points::new([instant]);
                let beside = beside.gaps().filter_map(|gap| gap.instant(APART));
                std::iter::once(value.clone()).chain(beside.map(date_time)).collect()
            }
            Err(_) => vec![
                value.clone(),
                string(format!("{text}~")),
                string(format!("{text} ")),
                string(format!("!{text}")),
                string("!"),
            ],
        },
        _ => Vec::new(),
    }
}
