//! Access paths: derived from a policy's condition, they tell for which values of an attribute the policy can apply.
//!
//! An access path reads one attribute. It rejects the policy for every value with which the policy certainly does
//! not apply, and admits it for all other values. An undetermined condition makes a deny apply. So the access path
//! of a deny admits the values that leave the test undetermined, and the access path of an allow rejects them.

use hashbrown::HashMap;
use smallvec::{SmallVec, smallvec};

use super::interval::Interval;
use super::keys::{KeyId, Scalar, Sought, SoughtKeys, ValueKind, ValueKinds};
use crate::condition::{AttributePath, Condition, Operand, Predicate, Test};
use crate::operator::{Lookup, Quantifier};
use crate::plan::program::{Child, NodeId, Operation, Program};
use crate::plan::slots::{Slot, Slots};
use crate::rbac::Effect;

/// The maximum number of alternatives that are compared for one policy.
const MAX_ALTERNATIVES: usize = 12;
/// The maximum number of access paths in one alternative.
const MAX_PATHS: usize = 16;

/// The number of an access path.
pub(super) type PathId = u32;

/// Access paths of which at least one admits every check that the policy can apply to.
pub(super) type Alternative = SmallVec<[PathId; 4]>;

/// The alternatives of one policy. Each alone finds every check that the policy can apply to, so the index may choose any
/// of them. Empty when the condition has no access path.
pub(super) type Alternatives = SmallVec<[Alternative; 4]>;

/// Admits or rejects a policy by the value of one attribute.
#[derive(Debug)]
pub(super) struct AccessPath {
    /// The test that the path is derived from; of a merged path, the first one.
    pub(super) test: NodeId,
    pub(super) slot: Slot,
    /// The kinds of which every value is admitted.
    pub(super) unfiltered: ValueKinds,
    /// The admitted values of the other kinds.
    pub(super) keys: AccessKeys,
}

/// The values that an access path admits.
#[derive(Debug)]
pub(super) enum AccessKeys {
    /// Scalars equal to one of these.
    Values(Box<[KeyId]>),
    /// Lists that contain one of these scalars.
    Members(Box<[KeyId]>),
    /// Texts that start with this prefix.
    Prefix(KeyId),
    /// Numbers in an interval.
    Range(Interval),
    /// Instants whose age in seconds lies in an interval, and every other text if `or_other`. `now` is `request.time`.
    Age { interval: Interval, now: Slot, or_other: bool },
}

impl AccessPath {
    /// Returns the values that lead to a policy by this path. An interval has none.
    pub(super) fn sought(&self) -> &[KeyId] {
        match &self.keys {
            AccessKeys::Values(values) | AccessKeys::Members(values) => values,
            AccessKeys::Prefix(key) => std::slice::from_ref(key),
            AccessKeys::Range(_) | AccessKeys::Age { .. } => &[],
        }
    }

    /// Estimates how many policies a value passes to evaluation: fewer is better. The numbers only rank the parts
    /// of a condition; the index counts policies later.
    fn selectivity(&self) -> usize {
        match &self.keys {
            AccessKeys::Values(keys) => keys.len(),
            AccessKeys::Members(keys) => 4 * keys.len(),
            AccessKeys::Prefix(_) => 16,
            AccessKeys::Range(range) if range.is_two_sided() => 256,
            AccessKeys::Age { .. } => 256,
            AccessKeys::Range(_) => 1_024,
        }
    }
}

/// Finds the access paths of policies. Policies that share a test share its path.
pub(super) struct PathFinder<'c> {
    program: &'c Program,
    slots: &'c Slots,
    /// The paths by number.
    pub(super) paths: Vec<AccessPath>,
    /// The values that lead to policies by these paths.
    pub(super) keys: SoughtKeys<'c>,
    /// The alternatives of each test, by the effect of the policy and whether the test is negated.
    known: HashMap<(NodeId, Effect, bool), Alternatives>,
}

impl<'c> PathFinder<'c> {
    pub(super) fn new(program: &'c Program, slots: &'c Slots) -> Self {
        let (paths, known) = (Vec::new(), HashMap::with_capacity(program.nodes().len()));
        Self { program, slots, paths, keys: SoughtKeys::default(), known }
    }

    /// Returns the alternatives for the policy with this condition and effect.
    pub(super) fn for_policy(&mut self, root: NodeId, effect: Effect) -> Alternatives {
        self.alternatives(root, effect, false)
    }

    /// Returns the alternatives for `node`, or for its negation.
    fn alternatives(&mut self, node: NodeId, effect: Effect, negated: bool) -> Alternatives {
        let program = self.program;
        match (program.node(node), negated) {
            (Operation::Not(child), _) => self.alternatives(*child, effect, !negated),
            // De Morgan: a negated AND is an OR of negations, and the reverse.
            (Operation::All(children), false) | (Operation::Any(children), true) => {
                self.for_conjunction(children, effect, negated)
            }
            (Operation::Any(children), false) | (Operation::All(children), true) => {
                self.for_disjunction(children, effect, negated).into_iter().collect()
            }
            (Operation::Test(test), _) => self.alternatives_of_test(node, test, effect, negated),
        }
    }

    fn for_conjunction(
        &mut self,
        children: &[Child],
        effect: Effect,
        negated: bool,
    ) -> Alternatives {
        let mut alternatives = Alternatives::new();
        for child in children {
            for alternative in self.alternatives(child.node, effect, negated) {
                // `x > 1 AND x < 5` is one interval, which is far more selective than its two halves.
                if !self.merge_range(&mut alternatives, &alternative) {
                    alternatives.push(alternative);
                }
            }
        }
        alternatives.sort_by_key(|alternative| self.selectivity(alternative));
        alternatives.truncate(MAX_ALTERNATIVES);
        alternatives
    }

    /// Any child may hold, so the result needs an access path of every child. `None` when a child has none.
    fn for_disjunction(
        &mut self,
        children: &[Child],
        effect: Effect,
        negated: bool,
    ) -> Option<Alternative> {
        let mut all = Alternative::new();
        for child in children {
            let alternatives = self.alternatives(child.node, effect, negated);
            let best =
                alternatives.into_iter().min_by_key(|alternative| self.selectivity(alternative));
            all.extend(best?);
            // A policy is listed under each path: many paths cost memory and find duplicates.
            if all.len() > MAX_PATHS {
                return None;
            }
        }
        Some(all)
    }

    /// Estimates how many policies an alternative passes to evaluation: fewer is better.
    fn selectivity(&self, alternative: &Alternative) -> usize {
        alternative.iter().map(|path| self.paths[*path as usize].selectivity()).sum()
    }

    /// Intersects `new` with an interval of the same attribute among `alternatives`. Returns false if there is none.
    fn merge_range(&mut self, alternatives: &mut Alternatives, new: &Alternative) -> bool {
        let Some(new) = self.only_range(new) else { return false };
        for alternative in alternatives {
            let Some(known) = self.only_range(alternative).filter(|known| known.slot == new.slot)
            else {
                continue;
            };
            let (both, range) = (known.unfiltered.and(new.unfiltered), known.range.and(new.range));
            let keys = AccessKeys::Range(range);
            let path = AccessPath { test: known.test, slot: new.slot, unfiltered: both, keys };
            *alternative = smallvec![self.add(path)];
            return true;
        }
        false
    }

    /// Returns the path of an alternative that is one interval.
    fn only_range(&self, alternative: &Alternative) -> Option<RangePath> {
        let [path] = alternative.as_slice() else { return None };
        let AccessPath { test, slot, unfiltered, keys } = &self.paths[*path as usize];
        let AccessKeys::Range(range) = keys else { return None };
        Some(RangePath { test: *test, slot: *slot, unfiltered: *unfiltered, range: *range })
    }

    fn add(&mut self, path: AccessPath) -> PathId {
        self.paths.push(path);
        // A condition has at most a thousand nodes, and no resource has four million policies.
        PathId::try_from(self.paths.len() - 1).unwrap_or(PathId::MAX)
    }

    /// Returns the alternatives for a test, or for its negation.
    fn alternatives_of_test(
        &mut self,
        node: NodeId,
        test: &'c Test<Slot>,
        effect: Effect,
        negated: bool,
    ) -> Alternatives {
        if let Some(known) = self.known.get(&(node, effect, negated)) {
            return known.clone();
        }
        let mut alternatives = Alternatives::new();
        if let Some((unfiltered, keys)) = self.access(test, effect, negated) {
            let slot = test.attribute;
            let paths =
                keys.into_iter().map(|keys| AccessPath { test: node, slot, unfiltered, keys });
            alternatives.extend(paths.map(|path| -> Alternative { smallvec![self.add(path)] }));
        }
        self.known.insert((node, effect, negated), alternatives.clone());
        alternatives
    }

    /// Returns the number of a literal as a sought value. A text that is interned is sought by its symbol.
    fn value(&mut self, slot: Slot, literal: Scalar<&'c str>) -> KeyId {
        let literal = match literal {
            Scalar::Text(text) => self.slots.symbol(slot, text).map_or(literal, Scalar::Symbol),
            other => other,
        };
        self.keys.number(slot, Sought::Value(literal))
    }

    /// Derives the access paths of a test, or of its negation, of which each alone suffices: the kinds of which every value
    /// is admitted, and the admitted values of the other kinds. `None` when no index serves the test.
    fn access(
        &mut self,
        test: &'c Test<Slot>,
        effect: Effect,
        negated: bool,
    ) -> Option<(ValueKinds, SmallVec<[AccessKeys; 1]>)> {
        use ValueKind::{Bool, List, Number, Text};
        let slot = test.attribute;
        if self.slots.is_resolved(slot) {
            // The index finds policies before any resolver answers.
            return None;
        }
        // An item that is not compared leaves a deny undetermined, which no key finds.
        if let Predicate::Items(items) = &test.predicate
            && (items.quantifier(), effect, negated) == (Quantifier::Any, Effect::Allow, false)
        {
            let unfiltered = match test.if_missing {
                Some(true) => ValueKinds::NONE.with(ValueKind::Absent),
                _ => ValueKinds::NONE,
            };
            let sought = sought_items(items.child())?.into_iter();
            let keys = sought.map(|item| self.keys.number(slot, Sought::Member(item))).collect();
            return Some((unfiltered, smallvec![AccessKeys::Members(keys)]));
        }
        let Predicate::Compare(operator, operand) = &test.predicate else { return None };
        let undetermined_applies = effect == Effect::Deny;
        // A value of a kind that the operator does not compare leaves the test undetermined: a deny applies. Each
        // arm below removes the kinds that the operator compares, since their values decide.
        let undetermined =
            if undetermined_applies { ValueKinds::PRESENT } else { ValueKinds::NONE };
        let (operator, negates) = operator.positive();
        let is_true = negated == negates;
        let (unfiltered, keys) = match operator.row().lookup {
            Lookup::Equal if is_true => {
                let literal = Scalar::from_value(operand.literal()?)?;
                let key = self.value(slot, literal);
                let keys = smallvec![AccessKeys::Values([key].into())];
                (undetermined.without(&[literal.kind()]), keys)
            }
            Lookup::EqualItem if is_true => {
                let Operand::List(list) = operand else { return None };
                let values = list.texts().map(Scalar::Text);
                let values = values.chain(list.numbers().map(Scalar::Number));
                let keys = values.map(|value| self.value(slot, value)).collect();
                let keys = smallvec![AccessKeys::Values(keys)];
                (undetermined.without(&[Text, Number, Bool]), keys)
            }
            Lookup::WithItem if is_true => {
                let literal = Scalar::from_value(operand.literal()?)?;
                let unfiltered = undetermined.without(&[List]);
                // `contains` searches a text for a part of it, which no hash finds: every text is a candidate.
                let is_text = literal.kind() == Text;
                let unfiltered = if is_text { unfiltered.with(Text) } else { unfiltered };
                let key = self.keys.number(slot, Sought::Member(literal));
                (unfiltered, smallvec![AccessKeys::Members([key].into())])
            }
            Lookup::WithItems(quantifier) if is_true => {
                let Operand::List(list) = operand else { return None };
                let items = list.texts().map(Scalar::Text);
                let items = items.chain(list.numbers().map(Scalar::Number));
                let keys = items.map(|item| self.keys.number(slot, Sought::Member(item)));
                let keys = match quantifier {
                    Quantifier::Any => smallvec![AccessKeys::Members(keys.collect())],
                    // Each item alone finds every list that has them all.
                    Quantifier::All => keys
                        .take(MAX_ALTERNATIVES)
                        .map(|key| AccessKeys::Members([key].into()))
                        .collect(),
                };
                (undetermined.without(&[List]), keys)
            }
            Lookup::Prefix if is_true => {
                let Operand::Text(prefix) = operand else { return None };
                let key = self.keys.number(slot, Sought::Prefix(prefix));
                (undetermined.without(&[Text]), smallvec![AccessKeys::Prefix(key)])
            }
            Lookup::Below { inclusive } => {
                let Operand::Number(bound) = operand else { return None };
                let interval = match is_true {
                    true => Interval::below(*bound, inclusive),
                    false => Interval::above(*bound, !inclusive),
                };
                (undetermined.without(&[Number]), smallvec![AccessKeys::Range(interval)])
            }
            Lookup::Near(direction) if is_true => {
                let Operand::Duration { length, now } = operand else { return None };
                let interval = Interval::from_ages(*length, direction);
                let keys = AccessKeys::Age { interval, now: *now, or_other: undetermined_applies };
                (undetermined.without(&[Text]), smallvec![keys])
            }
            Lookup::Equal
            | Lookup::EqualItem
            | Lookup::WithItem
            | Lookup::WithItems(_)
            | Lookup::Prefix
            | Lookup::Near(_)
            | Lookup::Scan => {
                return None;
            }
        };
        let absent_applies = test.if_missing.map_or(undetermined_applies, |truth| truth != negated);
        let unfiltered =
            if absent_applies { unfiltered.with(ValueKind::Absent) } else { unfiltered };
        Some((unfiltered, keys))
    }
}

/// Returns values of which an item has one if the condition on it is true; `None` if others may be.
fn sought_items(condition: &Condition) -> Option<Vec<Scalar<&str>>> {
    match condition {
        Condition::And(children) => children.iter().find_map(sought_items),
        Condition::Or(children) => {
            let each = children.iter().map(sought_items).collect::<Option<Vec<_>>>()?;
            Some(each.into_iter().flatten().collect())
        }
        Condition::Not(_) => None,
        Condition::Test(test) => {
            let Predicate::Compare(operator, operand) = &test.predicate else { return None };
            match (operator.row().lookup, operand) {
                _ if test.attribute != AttributePath::Item || operator.positive().1 => None,
                (Lookup::EqualItem, Operand::List(list)) => {
                    let texts = list.texts().map(Scalar::Text);
                    Some(texts.chain(list.numbers().map(Scalar::Number)).collect())
                }
                (Lookup::Equal, literal) => Some(vec![Scalar::from_value(literal.literal()?)?]),
                _ => None,
            }
        }
    }
}

/// A path of one interval.
struct RangePath {
    test: NodeId,
    slot: Slot,
    unfiltered: ValueKinds,
    range: Interval,
}
