//! Slots: each attribute that a plan reads has one, and is read at most once per check.

use std::fmt::Write;

use arrayvec::ArrayString;
use chrono::{DateTime, Datelike, SecondsFormat, Timelike, Utc};
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;
use smallvec::SmallVec;

use super::numbered_texts::NumberedTexts;
use crate::condition::{AttributePath, RequestField, ResolverAttribute};
use crate::request::{AttributeMap, Check};
use crate::resolution::{AttributeAnswer, AttributeAnswers, ResolverRef};
use crate::resource::object_of;
use crate::supply::DirectoryNeeds;
use crate::value::{AttributeValue, List};

/// The number of an attribute inside a plan.
pub(crate) type Slot = u32;

/// The values of one check, by slot. A plan that reads more attributes than fit inline costs one allocation per check.
pub(crate) type Values<'v> = SmallVec<[SlotValue<'v>; 64]>;

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotValue<'v> {
    /// `None` is absent.
    pub(crate) value: Option<AttributeValue<'v>>,
    /// The symbol of the value, if it is a text and the texts of the attribute are interned.
    pub(crate) symbol: Symbol,
}

/// The number of an interned text: compared and looked up in place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The value is no text, or the texts of the attribute are not interned.
    pub(crate) const NO_TEXT: Self = Self(u32::MAX);
    /// The value is a text that is not interned.
    pub(crate) const OTHER: Self = Self(u32::MAX - 1);

    /// Returns the symbol's bit in a mask, if it is one of the first 64.
    #[inline]
    pub(crate) fn bit(self) -> Option<u64> {
        (self.0 < 64).then(|| 1 << self.0)
    }
}

/// The text of `request.time`. The longest that chrono can write has 27 characters.
pub(crate) type TimeText = ArrayString<32>;

/// The slots of a plan.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    paths: Vec<AttributePath>,
    user: NumberedTexts,
    resource: NumberedTexts,
    action: NumberedTexts,
    context: NumberedTexts,
    token: NumberedTexts,
    request: Vec<(RequestField, Slot)>,
    resolved: Vec<Namespace>,
    /// The interned texts of each attribute that is compared with many texts, by ascending slot.
    symbols: Box<[(Slot, NumberedTexts)]>,
}

/// The attributes of one resolver.
#[derive(Debug)]
pub(crate) struct Namespace {
    pub(crate) name: Box<str>,
    /// The tenant's resolver for the namespace; `None` if it has none.
    pub(crate) resolver: Option<ResolverRef>,
    attributes: NumberedTexts,
}

/// The number of different texts from which on they are interned: looking one text up costs as much as comparing
/// this many.
const MANY_TEXTS: usize = 4;

impl Slots {
    /// Returns the slot of `path`, a new one if the plan does not read it yet.
    pub(crate) fn slot(&mut self, path: AttributePath) -> Slot {
        // The nodes of a plan are numbered by 32 bits, and a test names at most two attributes.
        let next = Slot::try_from(self.paths.len()).unwrap_or(Slot::MAX);
        let slot = match &path {
            AttributePath::User(name) => self.user.find_or_insert(name, next),
            AttributePath::Resource(name) => self.resource.find_or_insert(name, next),
            AttributePath::Action(name) => self.action.find_or_insert(name, next),
            AttributePath::Context(name) => self.context.find_or_insert(name, next),
            AttributePath::Token(name) => self.token.find_or_insert(name, next),
            AttributePath::Resolver(ResolverAttribute { namespace, name }) => {
                self.namespace(namespace).find_or_insert(name, next)
            }
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

    /// Returns the names of a namespace. A linear search suffices: a plan reads few namespaces.
    fn namespace(&mut self, name: &str) -> &mut NumberedTexts {
        let known = self.resolved.iter().position(|known| *known.name == *name);
        let index = known.unwrap_or_else(|| {
            let namespace = Namespace {
                name: name.into(),
                resolver: None,
                attributes: NumberedTexts::default(),
            };
            self.resolved.push(namespace);
            self.resolved.len() - 1
        });
        &mut self.resolved[index].attributes
    }

    /// Returns the resolver namespaces that the plan reads.
    pub(crate) fn namespaces(&self) -> &[Namespace] {
        &self.resolved
    }

    /// Binds each namespace to its resolver.
    pub(crate) fn bind(&mut self, resolver: impl Fn(&str) -> Option<ResolverRef>) {
        for namespace in &mut self.resolved {
            namespace.resolver = resolver(&namespace.name);
        }
    }

    /// Returns whether a resolver provides the attribute.
    pub(crate) fn is_resolved(&self, slot: Slot) -> bool {
        matches!(self.path(slot), AttributePath::Resolver(_))
    }

    /// Returns the parts of the directory that the conditions can need. The inputs of resolvers may be any.
    pub(crate) fn directory_needs(&self) -> DirectoryNeeds {
        let has_resolvers = !self.resolved.is_empty();
        let is_key = |name: &str| matches!(name, "id" | "type");
        DirectoryNeeds {
            roles: has_resolvers
                || self.request.iter().any(|(field, _)| *field == RequestField::Roles),
            user: has_resolvers || !self.user.is_empty(),
            resource: has_resolvers || self.resource.iter().any(|(name, _)| !is_key(name)),
        }
    }

    /// Returns the attribute of a slot.
    pub(crate) fn path(&self, slot: Slot) -> &AttributePath {
        &self.paths[slot as usize]
    }

    /// Returns every attribute, by slot.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &AttributePath> {
        self.paths.iter()
    }

    /// Reads every attribute of the plan from `check` and `answers` into `values`. `now` is `request.time`, see
    /// [`Slots::time_text`]. Fills `values` in place, because moving a buffer of that size takes long.
    pub(crate) fn read<'v>(
        &self,
        check: &'v Check<'v>,
        answers: &'v AttributeAnswers,
        now: &'v str,
        values: &mut Values<'v>,
    ) {
        let absent = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        values.resize(self.paths.len(), absent);
        read(&self.user, check.attributes.user, values);
        read(&self.resource, check.attributes.resource, values);
        read(&self.action, check.attributes.action, values);
        read(&self.context, check.attributes.context, values);
        for &(field, slot) in &self.request {
            values[slot as usize].value = Some(match field {
                RequestField::Subject => AttributeValue::Text(check.subject),
                RequestField::Resource => AttributeValue::Text(check.resource),
                RequestField::Object => AttributeValue::Text(object_of(check.resource)),
                RequestField::Action => AttributeValue::Text(check.action),
                RequestField::Domain => AttributeValue::Text(check.domain),
                RequestField::Time => AttributeValue::Text(now),
                RequestField::Roles => AttributeValue::List(List::Roles(&check.roles)),
            });
        }
        if let Some(claims) = check.claims {
            for (path, slot) in self.token.iter() {
                values[slot as usize].value = claims.claim(path).map(AttributeValue::from);
            }
        }
        for namespace in &self.resolved {
            for (name, slot) in namespace.attributes.iter() {
                values[slot as usize].value = match answers.get(&namespace.name, name) {
                    Some(AttributeAnswer::Value(value)) => Some(AttributeValue::from(value)),
                    Some(AttributeAnswer::Absent) => None,
                    Some(AttributeAnswer::Failed(_)) => Some(AttributeValue::Failed),
                    None => Some(AttributeValue::NotRequested),
                };
            }
        }
        self.look_up_symbols(values);
    }

    /// Looks the texts up that have no symbol yet, where the texts of an attribute are interned.
    pub(crate) fn look_up_symbols(&self, values: &mut [SlotValue<'_>]) {
        for (slot, symbols) in &self.symbols {
            let value = &mut values[*slot as usize];
            if let Some(AttributeValue::Text(text)) = value.value
                && value.symbol == Symbol::NO_TEXT
            {
                value.symbol = symbols.find(text).map_or(Symbol::OTHER, Symbol);
            }
        }
    }

    /// Reads the attributes of a subject, or of a resource, into the values of a check. Replaces values only if
    /// `replaces` is true. The id and the type of a resource are no attributes of its entity.
    pub(crate) fn read_entity<'v>(
        &self,
        subject: bool,
        attributes: AttributeMap<'v>,
        values: &mut [SlotValue<'v>],
        replaces: bool,
    ) {
        let names = if subject { &self.user } else { &self.resource };
        if names.is_empty() {
            return;
        }
        attributes.for_each(|name, value| {
            if let Some(slot) = names.find(name)
                && (replaces || values[slot as usize].value.is_none())
                && (subject || !matches!(name, "id" | "type"))
            {
                values[slot as usize] = SlotValue { value: Some(value), symbol: Symbol::NO_TEXT };
            }
        });
    }

    /// Interns the texts that each attribute is compared with, if they are many.
    pub(crate) fn intern(&mut self, literals: Vec<(Slot, Vec<&str>)>) {
        let mut by_slot: HashMap<Slot, IndexSet<&str, DefaultHashBuilder>> = HashMap::new();
        for (slot, texts) in literals {
            by_slot.entry(slot).or_default().extend(texts);
        }
        by_slot.retain(|_, texts| texts.len() >= MANY_TEXTS);
        self.symbols = by_slot
            .into_iter()
            .map(|(slot, texts)| (slot, texts.into_iter().zip(0..).collect()))
            .collect();
        self.symbols.sort_unstable_by_key(|(slot, _)| *slot);
    }

    /// Gives back the room for further attributes: most plans have few, and are many.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.paths.shrink_to_fit();
        let known = [
            &mut self.user,
            &mut self.resource,
            &mut self.action,
            &mut self.context,
            &mut self.token,
        ];
        let resolved = self.resolved.iter_mut().map(|namespace| &mut namespace.attributes);
        known.into_iter().chain(resolved).for_each(NumberedTexts::shrink_to_fit);
    }

    /// Returns the symbol of `text`, if the texts of the attribute are interned.
    pub(crate) fn symbol(&self, slot: Slot, text: &str) -> Option<Symbol> {
        let place = self.symbols.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
        self.symbols[place].1.find(text).map(Symbol)
    }

    /// Returns `request.time` as text, or an empty text if the plan does not read it.
    pub(crate) fn time_text(&self, now: DateTime<Utc>) -> TimeText {
        if self.request.iter().all(|(field, _)| *field != RequestField::Time) {
            return TimeText::new();
        }
        let mut text = TimeText::new();
        // The buffer is longer than any text that chrono writes, so writing cannot fail.
        let _ = write_time(&mut text, now);
        text
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let names =
            [&self.user, &self.resource, &self.action, &self.context, &self.token].into_iter();
        let resolved = self
            .resolved
            .iter()
            .map(|namespace| namespace.name.len() + namespace.attributes.weight());
        let symbols = self.symbols.iter().map(|(_, symbols)| symbols.weight());
        self.paths.capacity() * size_of::<AttributePath>()
            + self.paths.iter().map(AttributePath::weight).sum::<usize>()
            + names.map(NumberedTexts::weight).sum::<usize>()
            + self.request.capacity() * size_of::<(RequestField, Slot)>()
            + self.resolved.capacity() * size_of::<Namespace>()
            + resolved.sum::<usize>()
            + size_of_val::<[(Slot, NumberedTexts)]>(&self.symbols)
            + symbols.sum::<usize>()
    }
}

/// Reads the values of the attributes that `names` has. Walks the request's attributes instead of the plan's slots, so
/// the request's size bounds the work.
#[inline]
fn read<'v>(names: &NumberedTexts, attributes: AttributeMap<'v>, values: &mut [SlotValue<'v>]) {
    if names.is_empty() {
        return;
    }
    attributes.for_each(|name, value| {
        if let Some(slot) = names.find(name) {
            values[slot as usize].value = Some(value);
        }
    });
}

/// Writes RFC 3339 with milliseconds. Uses chrono's formatting, which allocates, only for years that need a sign.
fn write_time(text: &mut TimeText, now: DateTime<Utc>) -> std::fmt::Result {
    if !(0..=9_999).contains(&now.year()) {
        return text.write_str(&now.to_rfc3339_opts(SecondsFormat::Millis, true));
    }
    // chrono represents a leap second as a second of up to 2,000 milliseconds.
    let millis = now.nanosecond() / 1_000_000;
    write!(text, "{:04}-{:02}-{:02}", now.year(), now.month(), now.day())?;
    write!(text, "T{:02}:{:02}:", now.hour(), now.minute())?;
    write!(text, "{:02}.{:03}Z", now.second() + millis / 1_000, millis % 1_000)
}
