//! What tells policies apart: from a policy's condition, the values with which it can apply at all.
//!
//! A *gate* looks at one attribute. It holds the policy back for every value with which the policy certainly
//! does not apply, and lets it pass for all others, undetermined ones included: an undetermined condition
//! makes a deny apply, so that a deny passes where an allow does not.

use std::ops::Bound;

use hashbrown::Equivalent;

use crate::condition::{Operand, Predicate, Test};
use crate::number::Number;
use crate::operator::Operator;
use crate::plan::program::{Child, NodeId, Operation, Program};
use crate::plan::slots::{Slot, Slots, Symbol};
use crate::rbac::Effect;
use crate::value::Value;

/// Alternatives that are weighed for one policy, at most.
const MAX_ACCESSES: usize = 12;
/// Gates of one alternative, at most.
const MAX_GATES: usize = 16;

/// The policy can only apply if one of these gates lets it pass.
pub(super) type Access<'c> = Vec<Gate<'c>>;

/// Lets a policy pass by the value of one attribute.
#[derive(Clone, Debug)]
pub(super) struct Gate<'c> {
    /// The test that it was made from; the last one, of several.
    pub(super) test: NodeId,
    pub(super) slot: Slot,
    /// The kinds of values that always let it pass.
    pub(super) open: Kinds,
    /// The values of other kinds that do.
    pub(super) keys: Keys<'c>,
}

/// The values that a gate lets pass.
#[derive(Clone, Debug)]
pub(super) enum Keys<'c> {
    /// Scalars equal to one of these.
    Values(Vec<Scalar<'c>>),
    /// Lists that have this one.
    Member(Scalar<'c>),
    /// Texts that start so.
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
    /// A text that has a number.
    Symbol(Symbol),
    Number(Number),
    Bool(bool),
}

/// The same, kept.
#[derive(Debug)]
pub(super) enum Key {
    Text(Box<str>),
    Symbol(Symbol),
    Number(Number),
    Bool(bool),
}

/// A kind of value; its number is a bit of [`Kinds`] and an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Absent,
    Text,
    Number,
    Bool,
    List,
    Opaque,
}

/// How many kinds there are.
pub(super) const KINDS: usize = 6;

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    const NONE: Self = Self(0);
    const PRESENT: Self = Self(0b11_1110);

    fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    fn without(self, kinds: &[Kind]) -> Self {
        Self(kinds.iter().fold(self.0, |bits, kind| bits & !(1 << *kind as u8)))
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The index of each kind of the set.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..KINDS).filter(move |kind| self.0 & 1 << kind != 0)
    }
}

impl<'v> Scalar<'v> {
    pub(super) fn of(value: Value<'v>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(Self::Text(text)),
            Value::Number(number) => Some(Self::Number(number)),
            Value::Bool(value) => Some(Self::Bool(value)),
            _ => None,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Text(_) | Self::Symbol(_) => Kind::Text,
            Self::Number(_) => Kind::Number,
            Self::Bool(_) => Kind::Bool,
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

impl Gate<'_> {
    /// A guess at how many policies this gate lets pass, for the choice between the parts of an OR.
    fn weakness(&self) -> usize {
        match &self.keys {
            Keys::Values(keys) => keys.len(),
            Keys::Member(_) => 4,
            Keys::Prefix(_) => 16,
            Keys::Range(range) if range.is_two_sided() => 256,
            Keys::Range(_) => 1_024,
        }
    }
}

impl Interval {
    pub(super) fn is_two_sided(&self) -> bool {
        !matches!((self.low, self.high), (Bound::Unbounded, _) | (_, Bound::Unbounded))
    }

    fn and(self, other: Self) -> Self {
        let tighter =
            |a: Bound<Number>, b: Bound<Number>, keep_a: fn(Number, Number) -> bool| match (a, b) {
                (Bound::Unbounded, bound) | (bound, Bound::Unbounded) => bound,
                (
                    Bound::Included(x) | Bound::Excluded(x),
                    Bound::Included(y) | Bound::Excluded(y),
                ) => match x == y {
                    true if matches!(a, Bound::Excluded(_)) => a,
                    true => b,
                    false if keep_a(x, y) => a,
                    false => b,
                },
            };
        Self {
            low: tighter(self.low, other.low, |x, y| x > y),
            high: tighter(self.high, other.high, |x, y| x < y),
        }
    }
}

/// The alternatives for a policy: it can only apply if each of them lets it pass, so that any one may be
/// chosen. Empty when there is none.
pub(super) fn accesses<'c>(
    program: &'c Program,
    slots: &'c Slots,
    root: NodeId,
    effect: Effect,
) -> Vec<Access<'c>> {
    Finder { program, slots, effect }.accesses(root, false)
}

struct Finder<'c> {
    program: &'c Program,
    slots: &'c Slots,
    effect: Effect,
}

impl<'c> Finder<'c> {
    /// The gates that stand before `node`, or before its negation.
    fn accesses(&self, node: NodeId, negated: bool) -> Vec<Access<'c>> {
        match (self.program.node(node), negated) {
            (Operation::Not(child), _) => self.accesses(*child, !negated),
            (Operation::All(children), false) | (Operation::Any(children), true) => {
                self.of_conjunction(children, negated)
            }
            (Operation::Any(children), false) | (Operation::All(children), true) => {
                self.of_disjunction(children, negated).into_iter().collect()
            }
            (Operation::Test(test), _) => {
                self.gate(node, test, negated).into_iter().map(|gate| vec![gate]).collect()
            }
        }
    }

    fn of_conjunction(&self, children: &[Child], negated: bool) -> Vec<Access<'c>> {
        let mut accesses: Vec<Access<'c>> = Vec::new();
        for child in children {
            for access in self.accesses(child.node, negated) {
                if !join_ranges(&mut accesses, &access) {
                    accesses.push(access);
                }
            }
        }
        accesses.sort_by_key(weakness);
        accesses.truncate(MAX_ACCESSES);
        accesses
    }

    /// One of them must hold, so that a child without a gate leaves the whole without one.
    fn of_disjunction(&self, children: &[Child], negated: bool) -> Option<Access<'c>> {
        let mut all = Access::new();
        for child in children {
            let accesses = self.accesses(child.node, negated);
            all.extend(accesses.into_iter().min_by_key(weakness)?);
            if all.len() > MAX_GATES {
                return None;
            }
        }
        Some(all)
    }

    /// A text by its number, if it has one.
    fn numbered(&self, slot: Slot, literal: Scalar<'c>) -> Scalar<'c> {
        let Scalar::Text(text) = literal else { return literal };
        self.slots.symbol(slot, text).map_or(literal, Scalar::Symbol)
    }

    fn gate(&self, node: NodeId, test: &'c Test<Slot>, negated: bool) -> Option<Gate<'c>> {
        use Kind::{Bool, List, Number, Text};
        let Predicate::Compare(operator, operand) = &test.predicate else { return None };
        if self.slots.is_resolved(test.attribute) {
            // Policies are found before resolvers are asked.
            return None;
        }
        let undetermined_passes = self.effect == Effect::Deny;
        // The kinds that leave the operator undetermined are open to a deny, the others are decided by value.
        let undetermined = if undetermined_passes { Kinds::PRESENT } else { Kinds::NONE };
        let (open, keys) = match (*operator, negated) {
            (Operator::Eq, false) | (Operator::Ne, true) => {
                let literal = Scalar::of(operand.literal())?;
                let key = self.numbered(test.attribute, literal);
                (undetermined.without(&[literal.kind()]), Keys::Values(vec![key]))
            }
            (Operator::In, false) | (Operator::NotIn, true) => {
                let Operand::List(list) = operand else { return None };
                let texts =
                    list.texts().map(|text| self.numbered(test.attribute, Scalar::Text(text)));
                let keys = texts.chain(list.numbers().map(Scalar::Number));
                (undetermined.without(&[Text, Number, Bool]), Keys::Values(keys.collect()))
            }
            (Operator::Contains, false) => {
                let literal = Scalar::of(operand.literal())?;
                let open = undetermined.without(&[List]);
                // A text is searched for a text: no hash can tell.
                let open = if literal.kind() == Text { open.with(Text) } else { open };
                (open, Keys::Member(literal))
            }
            (Operator::StartsWith, false) => {
                let Operand::Text(prefix) = operand else { return None };
                (undetermined.without(&[Text]), Keys::Prefix(prefix))
            }
            (operator, negated) => {
                let Operand::Number(bound) = operand else { return None };
                let range = Keys::Range(interval(operator, negated, *bound)?);
                (undetermined.without(&[Number]), range)
            }
        };
        let absent_passes = test.if_missing.map_or(undetermined_passes, |truth| truth != negated);
        let open = if absent_passes { open.with(Kind::Absent) } else { open };
        Some(Gate { test: node, slot: test.attribute, open, keys })
    }
}

fn weakness(access: &Access<'_>) -> usize {
    access.iter().map(Gate::weakness).sum()
}

/// Makes one interval of two that stand on the same attribute; says whether there was one.
fn join_ranges(accesses: &mut [Access<'_>], new: &Access<'_>) -> bool {
    let [Gate { slot, open, keys: Keys::Range(new), .. }] = new.as_slice() else { return false };
    for access in accesses {
        if let [Gate { slot: same, open: both, keys: Keys::Range(range), .. }] =
            access.as_mut_slice()
            && same == slot
        {
            *range = range.and(*new);
            *both = both.and(*open);
            return true;
        }
    }
    false
}

/// The numbers for which the comparison, or its negation, holds.
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
