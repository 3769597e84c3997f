//! The RBAC rules of one plan as a hash table. The cost of a decision grows with the subject's roles, never with the
//! number of rules.
//!
//! The key of a rule is its subject, domain and action. Each of the three may be the wildcard, which makes eight
//! shapes of keys. A check looks up only the shapes that some rule has.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashSet, HashTable};
use uuid::Uuid;

use crate::rbac::{Effect, KeyTexts, MatchedRule, ObjectKind, Rule, WILDCARD};
use crate::request::{Action, Check};
use crate::resource::ResourcePattern;

/// Finds the deciding rule for a check.
#[derive(Clone, Debug)]
pub(crate) struct RbacIndex {
    long_keys: LongKeys,
    hasher: DefaultHashBuilder,
    rules: HashTable<RuleEntry>,
    /// The shapes that some rule has.
    shapes: Shapes,
    /// The rules that never decide, because a rule with the same key and effect has a smaller id. Explanations list
    /// them.
    shadowed: Vec<(Key, Effect, FoundRule)>,
}

/// The rules of one `(sub, dom, act)`. Several rules may differ only in their resource pattern.
#[derive(Clone, Debug)]
pub(super) struct RuleEntry {
    pub(super) key: Key,
    pub(super) deny: Option<FoundRule>,
    pub(super) allow: Option<FoundRule>,
}

/// A rule's subject, domain and action, one after the other. Short ones are in place, so that an entry is compared with a
/// check where it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    lengths: [u16; 3],
    /// The texts, or their place in [`LongKeys`] if they do not fit.
    bytes: [u8; MAX_SHORT],
}

/// The most bytes of texts that are in place.
const MAX_SHORT: usize = 26;

/// The texts of the keys that are not in place.
#[derive(Clone, Debug, Default)]
struct LongKeys(Vec<u8>);

impl LongKeys {
    fn insert(&mut self, texts: [&str; 3]) -> Key {
        // The cast cannot saturate: a field of a rule has at most 256 characters.
        let lengths = texts.map(|text| u16::try_from(text.len()).unwrap_or(u16::MAX));
        let mut key = Key { lengths, bytes: [0; MAX_SHORT] };
        if let Some(mut rest) = key.bytes.get_mut(..texts.iter().map(|text| text.len()).sum()) {
            for text in texts {
                let (own, after) = rest.split_at_mut(text.len());
                own.copy_from_slice(text.as_bytes());
                rest = after;
            }
        } else {
            // The lengths say that this is a place: together they are more than fits.
            key.bytes[..size_of::<usize>()].copy_from_slice(&self.0.len().to_ne_bytes());
            texts.into_iter().for_each(|text| self.0.extend_from_slice(text.as_bytes()));
        }
        key
    }

    /// Returns whether these are the texts of `key`.
    fn are(&self, key: &Key, texts: [&str; 3]) -> bool {
        if texts.map(str::len) != key.lengths.map(usize::from) {
            return false;
        }
        let mut rest = self.bytes(key);
        texts.into_iter().all(|text| {
            // Within the bytes, because the lengths are equal.
            let (own, after) = rest.split_at(text.len());
            rest = after;
            own == text.as_bytes()
        })
    }

    fn texts<'k>(&'k self, key: &'k Key) -> KeyTexts<'k> {
        KeyTexts { lengths: key.lengths, together: self.bytes(key) }
    }

    /// Returns the texts of `key`, one after the other.
    fn bytes<'k>(&'k self, key: &'k Key) -> &'k [u8] {
        let length = key.lengths.iter().map(|length| usize::from(*length)).sum();
        if let Some(short) = key.bytes.get(..length) {
            return short;
        }
        let place = key.bytes.first_chunk().map_or(0, |place| usize::from_ne_bytes(*place));
        self.0.get(place..place + length).unwrap_or_default()
    }
}

/// The set of fields that are the wildcard, among subject, domain and action.
#[derive(Clone, Copy)]
struct Shape(u8);

impl Shape {
    const ANY_SUB: u8 = 1;
    const ANY_DOM: u8 = 2;
    const ANY_ACT: u8 = 4;

    fn new([sub, dom, act]: [&str; 3]) -> Self {
        let fields = [(sub, Self::ANY_SUB), (dom, Self::ANY_DOM), (act, Self::ANY_ACT)];
        let wildcards = fields.into_iter().filter(|(text, _)| *text == WILDCARD);
        Self(wildcards.fold(0, |bits, (_, bit)| bits | bit))
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// A set of shapes, one bit for each. Iterates over its shapes.
#[derive(Clone, Copy, Debug, Default)]
struct Shapes(u8);

impl Shapes {
    /// The shapes with [`Shape::ANY_SUB`].
    const WITH_ANY_SUB: u8 = 0b1010_1010;

    fn insert(&mut self, shape: Shape) {
        self.0 |= 1 << shape.0;
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether a shape has a wildcard.
    fn have_wildcards(self) -> bool {
        // Bit 0 is the shape without a wildcard.
        self.0 > 1
    }

    /// Returns the shapes whose subject is not a wildcard.
    fn with_named_subjects(self) -> Self {
        Self(self.0 & !Self::WITH_ANY_SUB)
    }

    /// Returns the shapes whose subject is the wildcard.
    fn with_any_subject(self) -> Self {
        Self(self.0 & Self::WITH_ANY_SUB)
    }
}

impl Iterator for Shapes {
    type Item = Shape;

    #[inline]
    fn next(&mut self) -> Option<Shape> {
        let shape = self.0.trailing_zeros();
        // Clears the lowest bit. An empty set ends here.
        self.0 &= self.0.checked_sub(1)?;
        u8::try_from(shape).ok().map(Shape)
    }
}

/// A rule in an entry. Sorts by id: among rules of one effect, the smallest id decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoundRule {
    pub(super) id: Uuid,
    obj: ObjectKind,
}

impl RbacIndex {
    /// Indexes `rules`, all of which match the plan's resource.
    pub(crate) fn new<'r>(rules: impl Iterator<Item = &'r Rule>) -> Self {
        let mut index = Self::with_capacity(0);
        rules.for_each(|rule| index.insert(rule));
        index.long_keys.0.shrink_to_fit();
        let (keys, hasher) = (&index.long_keys, &index.hasher);
        index.rules.shrink_to_fit(|entry| hash_texts(hasher, keys.texts(&entry.key).bytes()));
        index
    }

    fn with_capacity(entries: usize) -> Self {
        Self {
            long_keys: LongKeys::default(),
            hasher: DefaultHashBuilder::default(),
            rules: HashTable::with_capacity(entries),
            shapes: Shapes::default(),
            shadowed: Vec::new(),
        }
    }

    /// Returns the index of the rules whose ids are not in `gone`.
    pub(crate) fn without(&self, gone: &HashSet<Uuid>) -> Self {
        let mut index = Self::with_capacity(self.rules.len());
        index.long_keys.0.reserve(self.long_keys.0.len());
        let mut keep = |key: &Key, effect, found: FoundRule| {
            if !gone.contains(&found.id) {
                index.add(self.long_keys.texts(key).all(), effect, found);
            }
        };
        for entry in &self.rules {
            entry.deny.into_iter().for_each(|found| keep(&entry.key, Effect::Deny, found));
            entry.allow.into_iter().for_each(|found| keep(&entry.key, Effect::Allow, found));
        }
        self.shadowed.iter().for_each(|(key, effect, found)| keep(key, *effect, *found));
        index
    }

    /// Adds a rule to the entry of its key.
    pub(crate) fn insert(&mut self, rule: &Rule) {
        let obj = match rule.tuple.obj {
            ResourcePattern::Any => ObjectKind::Any,
            ResourcePattern::Name(_) => ObjectKind::Name,
            ResourcePattern::Exact(_) => ObjectKind::Exact,
        };
        let texts = [&*rule.tuple.sub, &*rule.tuple.dom, &*rule.tuple.act];
        self.add(texts, rule.effect, FoundRule { id: rule.id, obj });
    }

    fn add(&mut self, texts: [&str; 3], effect: Effect, found: FoundRule) {
        let (keys, hasher) = (&mut self.long_keys, &self.hasher);
        let hash = hash_texts(hasher, texts.map(str::as_bytes));
        let entry = match self.rules.find_entry(hash, |entry| keys.are(&entry.key, texts)) {
            Ok(known) => known.into_mut(),
            Err(_) => {
                let key = keys.insert(texts);
                let entry = RuleEntry { key, deny: None, allow: None };
                let rules = &mut self.rules;
                let added = rules.insert_unique(hash, entry, |entry| {
                    hash_texts(hasher, keys.texts(&entry.key).bytes())
                });
                added.into_mut()
            }
        };
        let place = match effect {
            Effect::Deny => &mut entry.deny,
            Effect::Allow => &mut entry.allow,
        };
        // The smallest id decides. The others are kept for explanations, and for the time when that rule is gone.
        if let Some(other) = place.replace(found) {
            *place = Some(other.min(found));
            self.shadowed.push((entry.key, effect, other.max(found)));
        }
        self.shapes.insert(Shape::new(texts));
    }

    /// Returns whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Returns every rule that matches, in no order. `resource` is the plan's.
    pub(super) fn matching<'p>(
        &'p self,
        check: &Check<'_>,
        resource: &'p str,
    ) -> Vec<MatchedRule<'p>> {
        let mut rules = Vec::new();
        let mut keys = HashSet::new();
        self.find_all(check, |entry| {
            // A principal that the check names twice finds its entry twice.
            if keys.insert(&entry.key) {
                rules.extend(entry.deny.iter().map(|deny| (&entry.key, Effect::Deny, deny)));
                rules.extend(entry.allow.iter().map(|allow| (&entry.key, Effect::Allow, allow)));
            }
        });
        let shadowed = self.shadowed.iter().filter(|(key, ..)| keys.contains(key));
        rules.extend(shadowed.map(|(key, effect, found)| (key, *effect, found)));
        let rules = rules.into_iter();
        rules.map(|(key, effect, found)| self.matched(found, key, effect, resource)).collect()
    }

    pub(super) fn matched<'p>(
        &'p self,
        found: &FoundRule,
        key: &'p Key,
        effect: Effect,
        resource: &'p str,
    ) -> MatchedRule<'p> {
        let key = self.long_keys.texts(key);
        MatchedRule { id: found.id, effect, key, resource, obj: found.obj }
    }

    /// Visits the entries that match `check`, some of them twice.
    #[inline]
    pub(super) fn find_all<'p>(&'p self, check: &Check<'_>, mut visit: impl FnMut(&'p RuleEntry)) {
        match check.action {
            Action::Plain(action) => self.find_by_action(check, action, &mut visit),
            Action::Encoded(verb) => self.find_in_both_forms(check, verb, &mut visit),
        }
    }

    /// Visits the entries that match a check about an encoded verb: a rule names such an action in either form.
    #[cold]
    fn find_in_both_forms<'p>(
        &'p self,
        check: &Check<'_>,
        verb: &str,
        visit: &mut impl FnMut(&'p RuleEntry),
    ) {
        for action in [&*check.action.text(), verb] {
            self.find_by_action(check, action, visit);
        }
    }

    fn find_by_action<'p>(
        &'p self,
        check: &Check<'_>,
        action: &str,
        visit: &mut impl FnMut(&'p RuleEntry),
    ) {
        // Each text is hashed once; the hash of a key combines the hashes of its texts.
        let (domain, action) = (self.named(check.domain), self.named(action));
        // Without a wildcard, no shape reads it.
        let any = if self.shapes.have_wildcards() { self.named(WILDCARD) } else { domain };
        let mut look_up = |subject: Named<'_>, shapes: Shapes| {
            for shape in shapes {
                let domain = if shape.has(Shape::ANY_DOM) { any } else { domain };
                let action = if shape.has(Shape::ANY_ACT) { any } else { action };
                if let Some(entry) = self.find([subject, domain, action]) {
                    visit(entry);
                }
            }
        };
        let of_named = self.shapes.with_named_subjects();
        for principal in std::iter::once(check.subject).chain(check.roles.iter()) {
            look_up(self.named(principal), of_named);
        }
        look_up(any, self.shapes.with_any_subject());
    }

    /// Returns whether some rule names a subject or a role.
    pub(crate) fn names_subjects(&self) -> bool {
        !self.shapes.with_named_subjects().is_empty()
    }

    fn named<'t>(&self, text: &'t str) -> Named<'t> {
        Named { text, hash: hash_bytes(&self.hasher, text.as_bytes()) }
    }

    fn find(&self, named: [Named<'_>; 3]) -> Option<&RuleEntry> {
        let hash = hash_of(named.map(|named| named.hash));
        let texts = named.map(|named| named.text);
        self.rules.find(hash, |entry| self.long_keys.are(&entry.key, texts))
    }

    /// Returns the bytes of the index with all that it owns, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let shadowed = self.shadowed.capacity() * size_of::<(Key, Effect, FoundRule)>();
        size_of::<Self>() + self.long_keys.0.capacity() + self.rules.allocation_size() + shadowed
    }
}

/// A text of the check and its hash.
#[derive(Clone, Copy)]
struct Named<'t> {
    text: &'t str,
    hash: u64,
}

/// Combines the hashes of a key's texts. The rotations make their order count.
fn hash_of([sub, dom, act]: [u64; 3]) -> u64 {
    sub ^ dom.rotate_left(21) ^ act.rotate_left(42)
}

/// Hashes the texts of a key.
fn hash_texts(hasher: &DefaultHashBuilder, texts: [&[u8]; 3]) -> u64 {
    hash_of(texts.map(|text| hash_bytes(hasher, text)))
}

/// Hashes a text of a key. A hash of bytes needs no check that the bytes of an entry are a text.
fn hash_bytes(hasher: &DefaultHashBuilder, text: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(text);
    state.finish()
}

#[cfg(test)]
mod tests;
