//! Access paths: derived from a policy's condition, they tell for which values of an attribute the policy can apply.
//!
//! An access path reads one attribute. It rejects the policy for every value with which the policy certainly does
//! not apply, and admits it for all other values. An undetermined condition makes a deny apply. So the access path
//! of a deny admits the values that leave the test undetermined, and that of an allow rejects them.

use std::ops::Bound;

use hashbrown::Equivalent;
use smallvec::{SmallVec, smallvec};

use crate::condition::{Operand, Predicate, Test};
use crate::number::Number;
use crate::operator::Operator;
use crate::plan::program::{Child, NodeId, Operation, Program};
use crate::plan::slots::{Slot, Slots, Symbol};
use crate::rbac::Effect;
use crate::value::AttributeValue;

/// The maximum number of alternatives that are compared for one policy.
const MAX_ALTERNATIVES: usize = 12;
/// The maximum number of access paths in one alternative.
const MAX_PATHS: usize = 16;

/// Access paths of which at least one admits every check that the policy can apply to.
pub(super) type Alternative<'c> = SmallVec<[AccessPath<'c>; 1]>;

/// Admits or rejects a policy by the value of one attribute.
#[derive(Clone, Debug)]
pub(super) struct AccessPath<'c> {
    /// The test that the path is derived from; of a merged path, the last one.
    pub(super) test: NodeId,
    pub(super) slot: Slot,
    /// The kinds of which every value is admitted.
    pub(super) unfiltered: ValueKinds,
    /// The admitted values of the other kinds.
    pub(super) keys: AccessKeys<'c>,
}

/// The values that an access path admits.
#[derive(Clone, Debug)]
pub(super) enum AccessKeys<'c> {
    /// Scalars equal to one of these.
    Values(Vec<Scalar<'c>>),
    /// Lists that contain this scalar.
    Member(Scalar<'c>),
    /// Texts that start with this prefix.
    Prefix(&'c str),
    /// Numbers in an interval.
    Range(Interval),
}

/// A set of numbers between two bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) low: Bound<Number>,
    pub(super) high: Bound<Number>,
}

/// A text, number or boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar<'v> {
    Text(&'v str),
    /// An interned text.
    Symbol(Symbol),
    Number(Number),
    Bool(bool),
}

/// An owned [`Scalar`].
#[derive(Debug)]
pub(super) enum Key {
    Text(Box<str>),
    Symbol(Symbol),
    Number(Number),
    Bool(bool),
}

/// The kind of a value. The discriminant is a bit of [`ValueKinds`] and an array index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Absent,
    Text,
    Number,
    Bool,
    List,
    Opaque,
}

/// The number of kinds.
pub(super) const KINDS: usize = 6;

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueKinds(u8);

impl ValueKinds {
    const NONE: Self = Self(0);
    const PRESENT: Self = Self(0b11_1110);

    fn with(self, kind: ValueKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    fn without(self, kinds: &[ValueKind]) -> Self {
        Self(kinds.iter().fold(self.0, |bits, kind| bits & !(1 << *kind as u8)))
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the discriminant of each kind in the set.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..KINDS).filter(move |kind| self.0 & 1 << kind != 0)
    }
}

impl<'v> Scalar<'v> {
    pub(super) fn of(value: AttributeValue<'v>) -> Option<Self> {
        match value {
            AttributeValue::Text(text) => Some(Self::Text(text)),
            AttributeValue::Number(number) => Some(Self::Number(number)),
            AttributeValue::Bool(value) => Some(Self::Bool(value)),
            _ => None,
        }
    }

    fn kind(self) -> ValueKind {
        match self {
            Self::Text(_) | Self::Symbol(_) => ValueKind::Text,
            Self::Number(_) => ValueKind::Number,
            Self::Bool(_) => ValueKind::Bool,
        }
    }
}

impl Key {
    fn scalar(&self) -> Scalar<'_> {
        match self {
            Self::Text(text) => Scalar::Text(text),
            Self::Symbol(symbol) => Scalar::Symbol(*symbol),
            Self::Number(number) => Scalar::Number(*number),
            Self::Bool(value) => Scalar::Bool(*value),
        }
    }
}

impl From<Scalar<'_>> for Key {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Text(text) => Self::Text(text.into()),
            Scalar::Symbol(symbol) => Self::Symbol(symbol),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Bool(value) => Self::Bool(value),
        }
    }
}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.scalar().hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.scalar() == other.scalar()
    }
}

impl Eq for Key {}

impl Equivalent<Key> for Scalar<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.scalar()
    }
}

impl AccessPath<'_> {
    /// Estimates how many policies a value passes to evaluation: fewer is better. The numbers only rank the parts
    /// of a condition; the index counts policies later.
    fn selectivity(&self) -> usize {
        match &self.keys {
            AccessKeys::Values(keys) => keys.len(),
            AccessKeys::Member(_) => 4,
            AccessKeys::Prefix(_) => 16,
            AccessKeys::Range(range) if range.is_two_sided() => 256,
            AccessKeys::Range(_) => 1_024,
        }
    }
}

impl Interval {
    pub(super) fn is_two_sided(&self) -> bool {
        !matches!((self.low, self.high), (Bound::Unbounded, _) | (_, Bound::Unbounded))
    }

    /// Returns the intersection of two intervals, which may be empty.
    fn and(self, other: Self) -> Self {
        Self {
            low: tighter(self.low, other.low, |x, y| x > y),
            high: tighter(self.high, other.high, |x, y| x < y),
        }
    }
}

/// Returns the bound that admits fewer numbers. `keep_a` compares the numbers of `a` and `b`.
fn tighter(
    a: Bound<Number>,
    b: Bound<Number>,
    keep_a: fn(Number, Number) -> bool,
) -> Bound<Number> {
    match (a, b) {
        (Bound::Unbounded, bound) | (bound, Bound::Unbounded) => bound,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            match x == y {
                true if matches!(a, Bound::Excluded(_)) => a,
                true => b,
                false if keep_a(x, y) => a,
                false => b,
            }
        }
    }
}

/// Returns the alternatives for the policy with this condition and effect. Each alternative alone finds every check
/// that the policy can apply to, so the index may choose any of them. Empty when the condition has no access path.
pub(super) fn alternatives<'c>(
    program: &'c Program,
    slots: &'c Slots,
    root: NodeId,
    effect: Effect,
) -> Vec<Alternative<'c>> {
    Finder { program, slots, effect }.alternatives(root, false)
}

struct Finder<'c> {
    program: &'c Program,
    slots: &'c Slots,
    effect: Effect,
}

impl<'c> Finder<'c> {
    /// Returns the alternatives for `node`, or for its negation.
    fn alternatives(&self, node: NodeId, negated: bool) -> Vec<Alternative<'c>> {
        match (self.program.node(node), negated) {
            (Operation::Not(child), _) => self.alternatives(*child, !negated),
            // De Morgan: a negated AND is an OR of negations, and the reverse.
            (Operation::All(children), false) | (Operation::Any(children), true) => {
                self.of_conjunction(children, negated)
            }
            (Operation::Any(children), false) | (Operation::All(children), true) => {
                self.of_disjunction(children, negated).into_iter().collect()
            }
            (Operation::Test(test), _) => self
                .access_path(node, test, negated)
                .into_iter()
                .map(|path| smallvec![path])
                .collect(),
        }
    }

    fn of_conjunction(&self, children: &[Child], negated: bool) -> Vec<Alternative<'c>> {
        let mut alternatives: Vec<Alternative<'c>> = Vec::new();
        for child in children {
            for alternative in self.alternatives(child.node, negated) {
                // `x > 1 AND x < 5` is one interval, which is far more selective than its two halves.
                if !merge_range(&mut alternatives, &alternative) {
                    alternatives.push(alternative);
                }
            }
        }
        alternatives.sort_by_key(selectivity);
        alternatives.truncate(MAX_ALTERNATIVES);
        alternatives
    }

    /// Any child may hold, so the result needs an access path of every child. `None` when a child has none.
    fn of_disjunction(&self, children: &[Child], negated: bool) -> Option<Alternative<'c>> {
        let mut all = Alternative::new();
        for child in children {
            let alternatives = self.alternatives(child.node, negated);
            all.extend(alternatives.into_iter().min_by_key(selectivity)?);
            // A policy is listed under each path: many paths cost memory and find duplicates.
            if all.len() > MAX_PATHS {
                return None;
            }
        }
        Some(all)
    }

    /// Replaces a text by its symbol, if the text is interned.
    fn interned(&self, slot: Slot, literal: Scalar<'c>) -> Scalar<'c> {
        let Scalar::Text(text) = literal else { return literal };
        self.slots.symbol(slot, text).map_or(literal, Scalar::Symbol)
    }

    /// Derives the access path of a test, or of its negation. `None` when no index serves the test.
    fn access_path(
        &self,
        node: NodeId,
        test: &'c Test<Slot>,
        negated: bool,
    ) -> Option<AccessPath<'c>> {
        use ValueKind::{Bool, List, Number, Text};
        let Predicate::Compare(operator, operand) = &test.predicate else { return None };
        if self.slots.is_resolved(test.attribute) {
            // The index finds policies before any resolver answers.
            return None;
        }
        let undetermined_applies = self.effect == Effect::Deny;
        // A value of a kind that the operator does not compare leaves the test undetermined: a deny applies. Each
        // arm below removes the kinds that the operator compares, since their values decide.
        let undetermined =
            if undetermined_applies { ValueKinds::PRESENT } else { ValueKinds::NONE };
        let (unfiltered, keys) = match (*operator, negated) {
            (Operator::Eq, false) | (Operator::Ne, true) => {
                let literal = Scalar::of(operand.literal())?;
                let key = self.interned(test.attribute, literal);
                (undetermined.without(&[literal.kind()]), AccessKeys::Values(vec![key]))
            }
            (Operator::In, false) | (Operator::NotIn, true) => {
                let Operand::List(list) = operand else { return None };
                let texts =
                    list.texts().map(|text| self.interned(test.attribute, Scalar::Text(text)));
                let keys = texts.chain(list.numbers().map(Scalar::Number));
                (undetermined.without(&[Text, Number, Bool]), AccessKeys::Values(keys.collect()))
            }
            (Operator::Contains, false) => {
                let literal = Scalar::of(operand.literal())?;
                let unfiltered = undetermined.without(&[List]);
                // `contains` searches a text for a part of it, which no hash finds: every text is a candidate.
                let is_text = literal.kind() == Text;
                let unfiltered = if is_text { unfiltered.with(Text) } else { unfiltered };
                (unfiltered, AccessKeys::Member(literal))
            }
            (Operator::StartsWith, false) => {
                let Operand::Text(prefix) = operand else { return None };
                (undetermined.without(&[Text]), AccessKeys::Prefix(prefix))
            }
            (operator, negated) => {
                let Operand::Number(bound) = operand else { return None };
                let range = AccessKeys::Range(interval(operator, negated, *bound)?);
                (undetermined.without(&[Number]), range)
            }
        };
        let absent_applies = test.if_missing.map_or(undetermined_applies, |truth| truth != negated);
        let unfiltered =
            if absent_applies { unfiltered.with(ValueKind::Absent) } else { unfiltered };
        Some(AccessPath { test: node, slot: test.attribute, unfiltered, keys })
    }
}

/// Estimates how many policies an alternative passes to evaluation: fewer is better.
fn selectivity(alternative: &Alternative<'_>) -> usize {
    alternative.iter().map(AccessPath::selectivity).sum()
}

/// Intersects `new` with an interval of the same attribute among `alternatives`. Returns false if there is none.
fn merge_range(alternatives: &mut [Alternative<'_>], new: &Alternative<'_>) -> bool {
    let [AccessPath { slot, unfiltered, keys: AccessKeys::Range(new), .. }] = new.as_slice() else {
        return false;
    };
    for alternative in alternatives {
        if let [AccessPath { slot: known, unfiltered: both, keys: AccessKeys::Range(range), .. }] =
            alternative.as_mut_slice()
            && known == slot
        {
            *range = range.and(*new);
            *both = both.and(*unfiltered);
            return true;
        }
    }
    false
}

/// Returns the numbers for which the comparison, or its negation, holds. `None` for operators that do not order.
fn interval(operator: Operator, negated: bool, bound: Number) -> Option<Interval> {
    use Bound::{Excluded, Included, Unbounded};
    let (low, high) = match (operator, negated) {
        (Operator::Lt, false) | (Operator::Gte, true) => (Unbounded, Excluded(bound)),
        (Operator::Lte, false) | (Operator::Gt, true) => (Unbounded, Included(bound)),
        (Operator::Gt, false) | (Operator::Lte, true) => (Excluded(bound), Unbounded),
        (Operator::Gte, false) | (Operator::Lt, true) => (Included(bound), Unbounded),
        _ => return None,
    };
    Some(Interval { low, high })
}
