//! The attributes that a plan reads: each gets a slot, and each is read at most once per check.

use std::fmt::Write;

use arrayvec::ArrayString;
use chrono::{DateTime, Datelike, SecondsFormat, Timelike, Utc};
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;
use smallvec::SmallVec;

use crate::condition::{AttributePath, RequestField};
use crate::request::{AttributeMap, Check};
use crate::value::{List, Value};

/// Names an attribute inside a plan.
pub(crate) type Slot = u32;

/// The values of one check, by slot. The plans that read more attributes than this are rare, and pay with one
/// allocation.
pub(crate) type Values<'v> = SmallVec<[SlotValue<'v>; 64]>;

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotValue<'v> {
    /// `None` is absent.
    pub(crate) value: Option<Value<'v>>,
    /// What the value is among the texts that the attribute is compared with.
    pub(crate) symbol: Symbol,
}

/// A text that an attribute is compared with, by number: compared and looked up in place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The value is no text, or no texts are numbered.
    pub(crate) const NO_TEXT: Self = Self(u32::MAX);
    /// The value is a text that is none of them.
    pub(crate) const OTHER: Self = Self(u32::MAX - 1);

    /// The symbol's bit, if it is one of the first 64.
    #[inline]
    pub(crate) fn bit(self) -> Option<u64> {
        (self.0 < 64).then(|| 1 << self.0)
    }
}

/// `request.time` as text: the longest that chrono can write has 27 characters.
pub(crate) type TimeText = ArrayString<32>;

/// Numbers the attributes of a plan.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    paths: Vec<AttributePath>,
    user: Names,
    resource: Names,
    token: Names,
    request: Vec<(RequestField, Slot)>,
    /// Of the attributes that are compared with many texts: each text and its number.
    symbols: Vec<(Slot, HashMap<Box<str>, Symbol>)>,
}

/// An attribute that is compared with so many different texts has them numbered: it costs a check as much to look
/// one text up as to compare so many.
const MANY_TEXTS: usize = 4;

/// Slots by name.
#[derive(Debug, Default)]
struct Names {
    list: Vec<(Box<str>, Slot)>,
    /// Filled when the list is longer than [`FEW`].
    map: HashMap<Box<str>, Slot>,
}

/// A list of so few names is searched faster than a hash is computed.
const FEW: usize = 8;

impl Names {
    fn find(&self, name: &str) -> Option<Slot> {
        if self.list.len() > FEW {
            return self.map.get(name).copied();
        }
        self.list.iter().find(|(known, _)| **known == *name).map(|(_, slot)| *slot)
    }

    fn insert(&mut self, name: &str, slot: Slot) {
        self.list.push((name.into(), slot));
        if self.list.len() > FEW {
            let missing = self.list.iter().skip(self.map.len()).cloned();
            self.map.extend(missing);
        }
    }

    /// Walks the request's attributes, not the plan's slots: the work is bounded by the request's size.
    fn read<'v>(&self, attributes: AttributeMap<'v>, values: &mut [SlotValue<'v>]) {
        if self.list.is_empty() {
            return;
        }
        for (name, value) in attributes.iter() {
            if let Some(slot) = self.find(name) {
                values[slot as usize].value = Some(value);
            }
        }
    }
}

impl Slots {
    /// The slot of `path`, a new one if the plan has not read it so far.
    pub(crate) fn slot(&mut self, path: AttributePath) -> Slot {
        // A plan's nodes are numbered by 32 bits too, and a test names two attributes at most.
        let next = Slot::try_from(self.paths.len()).unwrap_or(Slot::MAX);
        let slot = match &path {
            AttributePath::User(name) => find_or_insert(&mut self.user, name, next),
            AttributePath::Resource(name) => find_or_insert(&mut self.resource, name, next),
            AttributePath::Token(name) => find_or_insert(&mut self.token, name, next),
            AttributePath::Request(field) => {
                let known = self.request.iter().find(|(known, _)| known == field);
                known.map(|(_, slot)| *slot).unwrap_or_else(|| {
                    self.request.push((*field, next));
                    next
                })
            }
        };
        if slot == next {
            self.paths.push(path);
        }
        slot
    }

    /// The attribute that has the slot.
    pub(crate) fn path(&self, slot: Slot) -> &AttributePath {
        &self.paths[slot as usize]
    }

    /// Every attribute.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &AttributePath> {
        self.paths.iter()
    }

    /// Reads every attribute of the plan from `check` into `values`; `now` is `request.time`, see
    /// [`Slots::time_text`]. Filled in place, since a buffer of that size takes long to move.
    pub(crate) fn read<'v>(&self, check: &'v Check<'v>, now: &'v str, values: &mut Values<'v>) {
        let absent = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        values.resize(self.paths.len(), absent);
        self.user.read(check.attributes.user, values);
        self.resource.read(check.attributes.resource, values);
        for &(field, slot) in &self.request {
            values[slot as usize].value = Some(match field {
                RequestField::Subject => Value::Text(check.subject),
                RequestField::Resource => Value::Text(check.resource),
                RequestField::Action => Value::Text(check.action),
                RequestField::Domain => Value::Text(check.domain),
                RequestField::Time => Value::Text(now),
                RequestField::Roles => Value::List(List::Roles(&check.roles)),
            });
        }
        if let Some(claims) = check.claims {
            for (path, slot) in &self.token.list {
                values[*slot as usize].value = claims.claim(path).map(Value::from);
            }
        }
        for (slot, symbols) in &self.symbols {
            let value = &mut values[*slot as usize];
            if let Some(Value::Text(text)) = value.value {
                value.symbol = symbols.get(text).copied().unwrap_or(Symbol::OTHER);
            }
        }
    }

    /// Numbers the texts that each attribute is compared with, where that pays.
    pub(crate) fn intern(&mut self, literals: Vec<(Slot, Vec<&str>)>) {
        let mut by_slot: HashMap<Slot, IndexSet<&str, DefaultHashBuilder>> = HashMap::new();
        for (slot, texts) in literals {
            by_slot.entry(slot).or_default().extend(texts);
        }
        by_slot.retain(|_, texts| texts.len() >= MANY_TEXTS);
        let numbered = |texts: IndexSet<&str, DefaultHashBuilder>| {
            (0..).zip(texts).map(|(number, text)| (text.into(), Symbol(number))).collect()
        };
        self.symbols = by_slot.into_iter().map(|(slot, texts)| (slot, numbered(texts))).collect();
        self.symbols.sort_unstable_by_key(|(slot, _)| *slot);
    }

    /// The number of `text` among those that the attribute is compared with, if they are numbered.
    pub(crate) fn symbol(&self, slot: Slot, text: &str) -> Option<Symbol> {
        let place = self.symbols.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
        self.symbols[place].1.get(text).copied()
    }

    /// `request.time` as text; empty, since nothing reads it, when the plan does not.
    pub(crate) fn time_text(&self, now: DateTime<Utc>) -> TimeText {
        let mut text = TimeText::new();
        if !self.request.is_empty()
            && self.request.iter().any(|(field, _)| *field == RequestField::Time)
        {
            // Nothing that is written here is longer than the buffer.
            let _ = write_time(&mut text, now);
        }
        text
    }

    /// Heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let paths: usize = self.paths.iter().map(|path| 2 * path.name_len() + 96).sum();
        let symbols = self.symbols.iter().map(|(_, symbols)| {
            symbols.allocation_size() + symbols.keys().map(|text| text.len()).sum::<usize>()
        });
        paths + symbols.sum::<usize>()
    }
}

fn find_or_insert(names: &mut Names, name: &str, next: Slot) -> Slot {
    names.find(name).unwrap_or_else(|| {
        names.insert(name, next);
        next
    })
}

/// RFC 3339 with milliseconds. chrono's own formatting allocates: it serves the years that need a sign.
fn write_time(text: &mut TimeText, now: DateTime<Utc>) -> std::fmt::Result {
    if !(0..=9_999).contains(&now.year()) {
        return text.write_str(&now.to_rfc3339_opts(SecondsFormat::Millis, true));
    }
    // chrono writes a leap second as a second that lasts two.
    let millis = now.nanosecond() / 1_000_000;
    write!(text, "{:04}-{:02}-{:02}", now.year(), now.month(), now.day())?;
    write!(text, "T{:02}:{:02}:", now.hour(), now.minute())?;
    write!(text, "{:02}.{:03}Z", now.second() + millis / 1_000, millis % 1_000)
}
