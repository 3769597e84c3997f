//! The values of a world: of its conditions, of its requests, and near misses of both.

use serde_json::{Value, json};

use super::choices::Choices;
use crate::support::instant;
use crate::support::pools::{
    ADDRESSES, DATES, Group, NETWORKS, NO_ADDRESSES, NO_DATES, ROLES, TEXTS,
};

/// The parts of texts: prefixes of each other, characters of several bytes, and letters that differ in case.
const SYLLABLES: [&str; 12] = ["a", "b", "ab", "/", "/", "-", "ä", "～", "𝄞", "eng", "1", "Z"];
/// Years, months and days inside and outside the valid ranges.
const DAYS: [&str; 7] = [
    "2026-03-01",
    "2026-02-28",
    "2024-02-29",
    "2025-02-29",
    "0000-01-01",
    "9999-12-31",
    "2026-00-10",
];
const OFFSETS: [&str; 6] = ["Z", "z", "+00:00", "-00:30", "+05:45", "-23:59"];

/// Pools of values, one for each kind. Every condition and request of a world draws from them, so that values match.
pub(crate) struct Values {
    pools: Vec<(Group, Vec<Value>)>,
    /// True if a few values of a pool are much more frequent than the others.
    skewed: bool,
}

impl Values {
    /// Generates pools of up to about `size` values.
    pub(crate) fn new(choices: &mut impl Choices, size: usize) -> Self {
        let size = choices.below(size) + 1;
        let texts = texts(choices, size);
        let numbers: Vec<Value> = (0..size).map(|_| number(choices)).collect();
        let dates: Vec<Value> = (0..size).map(|_| date(choices).into()).collect();
        let addresses: Vec<Value> = (0..size).map(|_| address(choices).into()).collect();
        let lists = (0..size).map(|_| list(choices, &texts, &numbers)).collect();
        let texts = texts.into_iter().map(Value::from).collect();
        Self {
            pools: vec![
                (Group::Text, texts),
                (Group::Number, numbers),
                (Group::Bool, vec![json!(true), json!(false)]),
                (Group::List, lists),
                (Group::Date, dates),
                (Group::Ip, addresses),
            ],
            skewed: choices.chance(50),
        }
    }

    /// Returns a value of the group.
    pub(crate) fn of(&self, choices: &mut impl Choices, group: Group) -> Value {
        let pool = self.pools.iter().find(|(of, _)| *of == group);
        let (_, pool) = pool.expect("every group has its pool");
        pool[choices.ranked(pool.len(), self.skewed)].clone()
    }

    /// Returns a value of any group.
    pub(crate) fn any(&self, choices: &mut impl Choices) -> Value {
        let group = choices.pick(&Group::ALL);
        self.of(choices, group)
    }

    /// Returns a text of any group of texts.
    pub(crate) fn text(&self, choices: &mut impl Choices) -> String {
        self.of(choices, Group::Text).as_str().unwrap_or_default().to_owned()
    }

    /// Returns a valid date-time.
    pub(crate) fn instant(&self, choices: &mut impl Choices) -> Value {
        let date = self.of(choices, Group::Date);
        let exists = date.as_str().is_some_and(|text| instant::parse(text).is_some());
        if exists { date } else { json!(choices.pick(&DATES)) }
    }
}

/// Generates texts. Every other text begins with an earlier one.
fn texts(choices: &mut impl Choices, size: usize) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..size {
        let mut text = match choices.below(8) {
            0 => choices.pick(&TEXTS).to_string(),
            1 => choices.pick(&ROLES).to_string(),
            2..=4 if !texts.is_empty() => choices.pick(&texts),
            _ => String::new(),
        };
        for _ in 0..choices.below(4) {
            text.push_str(choices.pick(&SYLLABLES));
        }
        // Subjects use these texts as well.
        texts.push(if text.chars().count() > 100 { String::new() } else { text });
    }
    texts
}

/// Generates mostly small integers, so that intervals touch; else any double or 64-bit integer.
fn number(choices: &mut impl Choices) -> Value {
    match choices.below(8) {
        0..=3 => json!(choices.below(30)),
        4 => json!(choices.below(60) as f64 / 2.0 - 7.5),
        5 => choices.pick(&Group::Number.values()),
        6 => {
            let number = choices.pick(&Group::Number.values());
            near(choices, &number)
        }
        _ => match f64::from_bits(choices.bits()) {
            finite if finite.is_finite() => json!(finite),
            _ => json!(choices.bits()),
        },
    }
}

fn date(choices: &mut impl Choices) -> String {
    match choices.below(20) {
        0..=7 => return choices.pick(&DATES).to_owned(),
        8 => return choices.pick(&NO_DATES).to_owned(),
        _ => {}
    }
    let day = choices.pick(&DAYS);
    let (hour, minute, second) = (choices.below(25), choices.below(61), choices.below(60));
    let fraction = choices.pick(&["", ".0", ".25", ".250000000", ".999999999", "."]);
    let offset = choices.pick(&OFFSETS);
    format!("{day}T{hour:02}:{minute:02}:{second:02}{fraction}{offset}")
}

fn address(choices: &mut impl Choices) -> String {
    let (a, b, c) = (choices.below(4), choices.below(4), choices.below(3));
    match choices.below(10) {
        0 => choices.pick(&ADDRESSES).to_string(),
        1 => choices.pick(&NO_ADDRESSES).to_string(),
        2 => format!("::ffff:10.{a}.{b}.{c}"),
        3 => format!("2001:db8:{a}:{b}::{c}"),
        _ => format!("10.{a}.{b}.{c}"),
    }
}

/// Generates a network or a bare address that contains some of the addresses.
pub(crate) fn network(choices: &mut impl Choices) -> String {
    let (a, b, c) = (choices.below(4), choices.below(4), choices.below(3));
    match choices.below(7) {
        0 => choices.pick(&NETWORKS).to_string(),
        1 => format!("2001:db8:{a}::/48"),
        2 => format!("2001:db8:{a}:{b}::/64"),
        3 => format!("10.{a}.{b}.{c}"),
        4 => format!("10.{a}.{b}.0/24"),
        5 => format!("10.{a}.{b}.{}/31", c & 2),
        _ => format!("10.{a}.0.0/16"),
    }
}

/// Generates a list of texts and numbers, some of them twice.
fn list(choices: &mut impl Choices, texts: &[String], numbers: &[Value]) -> Value {
    if choices.below(8) == 1 {
        return choices.pick(&Group::List.values());
    }
    let mut items: Vec<Value> = Vec::new();
    for _ in 0..choices.below(7) {
        items.push(match choices.below(8) {
            0 if !items.is_empty() => choices.pick(&items),
            0..=1 => choices.pick(numbers),
            2 => json!(choices.pick(&ROLES)),
            _ => json!(choices.pick(texts)),
        });
    }
    items.into()
}

/// Returns a near miss of `value`, of the same type.
pub(crate) fn near(choices: &mut impl Choices, value: &Value) -> Value {
    match value {
        Value::Number(_) => near_number(value, choices.below(2) == 0),
        Value::String(text) => near_text(choices, text).into(),
        Value::Bool(flag) => json!(!flag),
        other => other.clone(),
    }
}

fn near_number(number: &Value, up: bool) -> Value {
    let step = if up { 1 } else { -1 };
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(whole), ..) => json!(whole.saturating_add(step)),
        (None, Some(whole), _) => json!(whole.saturating_add_signed(step)),
        (.., Some(double)) if double.abs() < f64::MAX => {
            json!(if up { double.next_up() } else { double.next_down() })
        }
        _ => number.clone(),
    }
}

fn near_text(choices: &mut impl Choices, text: &str) -> String {
    let mut near = text.to_owned();
    match choices.below(3) {
        0 => near.push_str(choices.pick(&SYLLABLES)),
        1 => _ = near.pop(),
        _ => near.insert_str(0, choices.pick(&SYLLABLES)),
    }
    near
}
