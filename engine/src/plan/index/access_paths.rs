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
    /// The kinds of items that a list is admitted with.
    pub(super) unfiltered_items: ValueKinds,
    /// The admitted values of the other kinds.
    pub(super) keys: AccessKeys,
}

/// The values that an access path admits.
#[derive(Debug)]
pub(super) enum AccessKeys {
    /// Scalars equal to one of these.
    Values(Box<[KeyId]>),
    /// Lists that contain one of these scalars, or a text that starts with one of these prefixes.
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
    /// The alternatives of each test and each named condition, by the effect of the policy and whether the part is negated.
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
        if !self.program.is_named(node) {
            return self.alternatives_of(node, effect, negated);
        }
        if let Some(known) = self.known.get(&(node, effect, negated)) {
            return known.clone();
        }
        let alternatives = self.alternatives_of(node, effect, negated);
        self.known.insert((node, effect, negated), alternatives.clone());
        alternatives
    }

    /// Finds the alternatives for `node`, or for its negation.
    fn alternatives_of(&mut self, node: NodeId, effect: Effect, negated: bool) -> Alternatives {
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
            // A path of its own, because other policies share the two that it is made of.
            let path = AccessPath {
                test: known.test,
                slot: new.slot,
                unfiltered: both,
                unfiltered_items: ValueKinds::NONE,
                keys,
            };
            *alternative = smallvec![self.add(path)];
            return true;
        }
        false
    }

    /// Returns the path of an alternative that is one interval.
    fn only_range(&self, alternative: &Alternative) -> Option<RangePath> {
        let [path] = alternative.as_slice() else { return None };
        let AccessPath { test, slot, unfiltered, keys, .. } = &self.paths[*path as usize];
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
        let slot = test.attribute;
        if let Some((unfiltered, keys)) = self.access(test, effect, negated) {
            let unfiltered_items = ValueKinds::NONE;
            for keys in keys {
                let path = AccessPath { test: node, slot, unfiltered, unfiltered_items, keys };
                alternatives.push(smallvec![self.add(path)]);
            }
        } else if let Some(path) = self.access_by_items(node, test, effect, negated) {
            alternatives.push(smallvec![self.add(path)]);
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
        let Predicate::Compare(operator, operand) = &test.predicate else { return None };
        let undetermined_applies = effect == Effect::Deny;
        // A value of a kind that the operator does not compare leaves the test undetermined: a deny applies. Each
        // arm below removes the kinds that the operator compares, since their values decide.
        let undetermined =
            if undetermined_applies { ValueKinds::PRESENT } else { ValueKinds::NONE };
        // The lookup is about the positive operator. A negating operator below a negation is that again.
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
            // The negation of an interval is an interval, so both forms have keys.
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
        let unfiltered = with_absent(unfiltered, test, effect, negated);
        Some((unfiltered, keys))
    }

    /// Derives the access path of a condition on items that holds for one of a list.
    fn access_by_items(
        &mut self,
        node: NodeId,
        test: &'c Test<Slot>,
        effect: Effect,
        negated: bool,
    ) -> Option<AccessPath> {
        let slot = test.attribute;
        let Predicate::Items(items) = &test.predicate else { return None };
        if self.slots.is_resolved(slot) || negated || items.quantifier() != Quantifier::Any {
            return None;
        }
        let sought = SoughtItems::of(items.child())?;
        let keys: Box<[KeyId]> =
            sought.values.into_iter().map(|item| self.keys.number(slot, item)).collect();
        if keys.is_empty() {
            return None;
        }
        // A value that is not a list, and an item that is not compared, leave a deny undetermined: it applies.
        let (unfiltered, unfiltered_items) = match effect {
            Effect::Allow => (ValueKinds::NONE, ValueKinds::NONE),
            Effect::Deny => (ValueKinds::PRESENT.without(&[ValueKind::List]), sought.not_compared),
        };
        let unfiltered = with_absent(unfiltered, test, effect, negated);
        let keys = AccessKeys::Members(keys);
        Some(AccessPath { test: node, slot, unfiltered, unfiltered_items, keys })
    }
}

/// Adds the absent value, if a policy with the test, or with its negation, can apply to it.
fn with_absent(
    unfiltered: ValueKinds,
    test: &Test<Slot>,
    effect: Effect,
    negated: bool,
) -> ValueKinds {
    // Without `if_missing` an absent attribute leaves the test undetermined, with which only a deny applies.
    let absent_applies = test.if_missing.map_or(effect == Effect::Deny, |truth| truth != negated);
    if absent_applies { unfiltered.with(ValueKind::Absent) } else { unfiltered }
}

/// The items of which a list has one if a condition on its items is not false.
struct SoughtItems<'c> {
    /// Those for which it may be true.
    values: Vec<Sought<'c>>,
    /// The kinds for which it may be undetermined.
    not_compared: ValueKinds,
}

impl<'c> SoughtItems<'c> {
    /// Returns the items for a condition on one; `None` if no key finds them all.
    fn of(condition: &'c Condition) -> Option<Self> {
        match condition {
            // A conjunction is false where one part is.
            Condition::And(children) => {
                let each = children.iter().filter_map(Self::of);
                each.min_by_key(|sought| sought.values.len())
            }
            Condition::Or(children) => {
                let mut all = Self { values: Vec::new(), not_compared: ValueKinds::NONE };
                for child in children {
                    let Self { values, not_compared } = Self::of(child)?;
                    all.values.extend(values);
                    all.not_compared = all.not_compared.or(not_compared);
                }
                Some(all)
            }
            Condition::Not(_) => None,
            Condition::Named(named) => Self::of(named.meaning()?),
            Condition::Test(test) => {
                let Predicate::Compare(operator, operand) = &test.predicate else { return None };
                if test.attribute != AttributePath::Item || operator.positive().1 {
                    return None;
                }
                Self::of_comparison(operator.row().lookup, operand)
            }
        }
    }

    fn of_comparison(lookup: Lookup, operand: &'c Operand) -> Option<Self> {
        use ValueKind::{Bool, Number, Text};
        let (values, compared) = match (lookup, operand) {
            (Lookup::EqualItem, Operand::List(list)) => {
                let texts = list.texts().map(Scalar::Text);
                let all = texts.chain(list.numbers().map(Scalar::Number));
                (all.map(Sought::Member).collect(), &[Text, Number, Bool][..])
            }
            (Lookup::Equal, literal) => {
                let literal = Scalar::from_value(literal.literal()?)?;
                let kind = match literal.kind() {
                    Number => &[Number][..],
                    Bool => &[Bool],
                    _ => &[Text],
                };
                (vec![Sought::Member(literal)], kind)
            }
            (Lookup::Prefix, Operand::Text(prefix)) => {
                (vec![Sought::MemberPrefix(prefix)], &[Text][..])
            }
            _ => return None,
        };
        Some(Self { values, not_compared: ValueKinds::PRESENT.without(compared) })
    }
}

/// A path of one interval.
struct RangePath {
    test: NodeId,
    slot: Slot,
    unfiltered: ValueKinds,
    range: Interval,
}
