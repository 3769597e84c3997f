//! Finds the candidates that an open policy can allow, by indexes of the properties of entities, and by lists of those to
//! which relations are true.
//!
//! An allow applies only where its condition is true. So it is enough to look, in a conjunction, at the entities that each
//! of its parts can be true for, and in a disjunction at the entities of any part.

use hashbrown::HashMap;

use super::values::{Known, SearchedPart, SlotState, Way};
use crate::condition::{AttributePath, Operand, Predicate, Test};
use crate::entities::{EntityTable, NarrowingWork, Property, RowSet, Sought};
use crate::operator::{Lookup, Quantifier};
use crate::plan::Plan;
use crate::plan::index::Rank;
use crate::plan::program::{NodeId, Operation, Run, as_written};
use crate::plan::slots::{Slot, SlotValue, Symbol, Values};
use crate::rbac::Effect;
use crate::value::{AttributeValue, List};

/// Parts of a conjunction that leave at most this many entities are good enough: the other parts are not tried.
const FEW: u64 = 256;
/// Most entities between a candidate and what is behind its references: looking at each candidate is as fast beyond.
const MAX_BETWEEN: usize = 10_000;

/// The candidates among which a narrowing looks.
pub(super) enum Universe<'n> {
    /// The rows of the base of a table.
    Entities(&'n EntityTable, NarrowingWork),
    /// Ids that no entity has, by their places in an ascending list.
    Others(&'n [&'n str]),
}

impl<'n> Universe<'n> {
    /// Returns the entities of a type.
    pub(super) fn for_entities(table: &'n EntityTable, entity_type: &str) -> Self {
        Self::Entities(table, table.narrowing_work(entity_type))
    }
}

/// The ids to which each relation can be true, by its slot.
type Related<'n> = Vec<(Slot, &'n Option<Vec<&'n str>>)>;

/// Narrows the candidates of a type down to those that a search can allow.
pub(super) struct Narrowing<'n> {
    plan: &'n Plan,
    known: &'n Known<'n, 'n>,
    /// The known values; the values of the searched part are marked.
    values: &'n [SlotValue<'n>],
    run: Run<'n>,
    entity_type: &'n str,
    universe: Universe<'n>,
    related: Related<'n>,
    /// The sets of tests, which policies share, by their nodes and whether they are negated.
    of_tests: HashMap<(NodeId, bool), Narrowed>,
}

/// The place where entities have an attribute of a candidate.
enum Place<'n> {
    /// The entity of the candidate itself.
    Own(Property<'n>),
    /// Another entity.
    Behind(Way<'n>),
}

/// A set of candidates that has all for which a part of a condition can be true. `None` is all candidates.
type Narrowed = Option<RowSet>;

impl<'n> Narrowing<'n> {
    pub(super) fn new(
        plan: &'n Plan,
        known: &'n Known<'n, 'n>,
        values: &'n [SlotValue<'n>],
        entity_type: &'n str,
        (universe, related): (Universe<'n>, Related<'n>),
    ) -> Self {
        let run = Run::new(&plan.whole().program, values);
        Self { plan, known, values, run, entity_type, universe, related, of_tests: HashMap::new() }
    }

    /// Returns rows that include each candidate that an open policy before the rank `certain` can allow. `None` if that may
    /// be all.
    pub(super) fn rows(mut self, certain: Rank) -> Narrowed {
        let conditions = self.plan.whole().conditions.iter().take(certain as usize);
        let mut all = RowSet::new();
        for policy in conditions.filter(|policy| policy.effect == Effect::Allow) {
            if let Some(root) = policy.condition
                && self.run.applies(*policy) != Some(false)
            {
                all |= self.part(root, false)?;
                // A set that is not selective costs more than a look at each candidate.
                if let Universe::Entities(table, _) = &self.universe
                    && !table.is_selective(self.entity_type, count(&all))
                {
                    return None;
                }
            }
        }
        Some(all)
    }

    /// Returns the rows for which a node can be true, or false if it is negated.
    fn part(&mut self, node: NodeId, negated: bool) -> Narrowed {
        // The searched values are marked as unknown: a truth that comes out nevertheless holds for every candidate.
        if let Some(truth) = self.run.truth(node) {
            return (truth == negated).then(RowSet::new);
        }
        match (self.run.operation(node), negated) {
            (Operation::Not(child), _) => self.part(*child, !negated),
            (Operation::All(children), false) | (Operation::Any(children), true) => {
                let mut best: Narrowed = None;
                for child in children.iter().map(|child| child.node) {
                    best = intersection(best, self.part(child, negated));
                    // Few candidates are decided faster than narrowed further.
                    if best.as_ref().is_some_and(|rows| rows.len() <= FEW) {
                        break;
                    }
                }
                best
            }
            (Operation::Any(children), false) | (Operation::All(children), true) => {
                let mut all = RowSet::new();
                for child in as_written(children) {
                    all |= self.part(child, negated)?;
                }
                Some(all)
            }
            (Operation::Test(test), _) => {
                if let Some(known) = self.of_tests.get(&(node, negated)) {
                    return known.clone();
                }
                let rows = self.test(node, test, negated);
                self.of_tests.insert((node, negated), rows.clone());
                rows
            }
        }
    }

    fn test(&self, node: NodeId, test: &Test<Slot>, negated: bool) -> Narrowed {
        let right = match (&test.predicate, test.predicate.other_attributes()) {
            // Whatever the items are compared with, they are not narrowed by it.
            (Predicate::Items(_), [_, ..]) => return None,
            (_, others) => others.first().copied(),
        };
        let left_state = self.known.state(test.attribute);
        match (left_state, right.map(|slot| self.known.state(slot))) {
            (SlotState::Searched(part), None | Some(SlotState::Known)) => {
                self.for_left(node, test, part, negated)
            }
            (SlotState::Known, Some(SlotState::Searched(part))) => {
                self.for_right(node, test, part, negated, right?)
            }
            (SlotState::Open, None | Some(SlotState::Known)) => {
                self.for_relation(node, test.attribute, negated)
            }
            _ => None,
        }
    }

    /// Narrows by a test whose left side is searched.
    fn for_left(
        &self,
        node: NodeId,
        test: &Test<Slot>,
        part: SearchedPart,
        negated: bool,
    ) -> Narrowed {
        let slot = test.attribute;
        // The indexes have only candidates with the property, and here those without it count.
        if self.holds(node, slot, self.known.without_property(slot), negated) {
            return None;
        }
        let property = self.place(slot, part)?;
        let mut holds = |value: AttributeValue<'_>| self.holds(node, slot, Some(value), negated);
        let sought = match lookup(&test.predicate, negated) {
            Some((Lookup::Equal, operand)) => {
                let value = self.operand(operand)?;
                return self.narrowed(&property, Sought::Equal(&[value]));
            }
            Some((Lookup::EqualItem, operand)) => {
                // With another right side the test is undetermined for each candidate.
                let AttributeValue::List(list) = self.operand(operand)? else {
                    return Some(RowSet::new());
                };
                return self.narrowed(&property, Sought::Equal(&items(list)));
            }
            Some((Lookup::WithItem, operand)) => {
                Sought::Containing(self.operand(operand)?, &mut holds)
            }
            Some((Lookup::WithItems(quantifier), operand)) => {
                let AttributeValue::List(list) = self.operand(operand)? else {
                    return Some(RowSet::new());
                };
                return self.with_items(&property, &items(list), quantifier);
            }
            Some((Lookup::Prefix | Lookup::Below { .. } | Lookup::Near(_) | Lookup::Scan, _))
            | None => Sought::Where(&mut holds),
        };
        self.narrowed(&property, sought)
    }

    /// Narrows by a test of a relation.
    fn for_relation(&self, node: NodeId, slot: Slot, negated: bool) -> Narrowed {
        let (_, ids) = self.related.iter().find(|(own, _)| *own == slot)?;
        let ids = ids.as_deref()?;
        // Candidates to which the relation is false are in no list.
        if self.holds(node, slot, Some(AttributeValue::Bool(false)), negated) {
            return None;
        }
        if !self.holds(node, slot, Some(AttributeValue::Bool(true)), negated) {
            return Some(RowSet::new());
        }
        match &self.universe {
            Universe::Entities(table, work) => table.rows_of_ids(self.entity_type, ids, work),
            Universe::Others(all) => Some(places(all, ids)),
        }
    }

    /// Returns the candidates whose property, which nobody lacks, has a sought value.
    fn narrowed(&self, place: &Place<'_>, sought: Sought<'_, '_>) -> Narrowed {
        match (&self.universe, place) {
            (Universe::Entities(table, work), Place::Own(property)) => {
                table.narrowed(*property, sought, work)
            }
            (Universe::Entities(table, work), Place::Behind(way)) => {
                self.behind(way, sought, (table, work))
            }
            // Without an entity there is no property, but an id.
            (Universe::Others(_), Place::Own(property)) => {
                property.name.is_some().then(RowSet::new)
            }
            (Universe::Others(_), Place::Behind(_)) => Some(RowSet::new()),
        }
    }

    /// Returns the candidates whose references lead to an entity with a sought value.
    fn behind(
        &self,
        way: &Way<'_>,
        sought: Sought<'_, '_>,
        (table, work): (&EntityTable, &NarrowingWork),
    ) -> Narrowed {
        // From the entities that have the value, back along the references.
        let mut names = way.steps.iter();
        let (to, property) = *names.next()?;
        let mut ids = table.ids_with((to, property), sought, MAX_BETWEEN, work)?;
        for (to, property) in names {
            let texts: Vec<_> = ids.iter().map(|id| AttributeValue::Text(id)).collect();
            ids = table.ids_with((to, property), Sought::Equal(&texts), MAX_BETWEEN, work)?;
        }
        let texts: Vec<_> = ids.iter().map(|id| AttributeValue::Text(id)).collect();
        let own = Property { entity_type: self.entity_type, name: Some(way.property) };
        table.narrowed(own, Sought::Equal(&texts), work)
    }

    /// Narrows down to lists that have one of these items, or each of them.
    fn with_items(
        &self,
        property: &Place<'_>,
        items: &[AttributeValue<'_>],
        quantifier: Quantifier,
    ) -> Narrowed {
        match quantifier {
            Quantifier::Any => self.narrowed(property, Sought::WithItem(items)),
            Quantifier::All => {
                let mut best: Narrowed = None;
                for item in items {
                    let sought = Sought::WithItem(std::slice::from_ref(item));
                    best = intersection(best, self.narrowed(property, sought));
                    if best.as_ref().is_some_and(|rows| rows.len() <= FEW) {
                        break;
                    }
                }
                best
            }
        }
    }

    /// Narrows by a test whose right side is searched.
    fn for_right(
        &self,
        node: NodeId,
        test: &Test<Slot>,
        part: SearchedPart,
        negated: bool,
        slot: Slot,
    ) -> Narrowed {
        if self.holds(node, slot, self.known.without_property(slot), negated) {
            return None;
        }
        let property = self.place(slot, part)?;
        let left = self.values[test.attribute as usize].value?;
        let mut holds = |value: AttributeValue<'_>| self.holds(node, slot, Some(value), negated);
        let sought = match lookup(&test.predicate, negated) {
            Some((Lookup::Equal, _)) => {
                return self.narrowed(&property, Sought::Equal(&[left]));
            }
            Some((Lookup::EqualItem, _)) => Sought::Containing(left, &mut holds),
            Some((Lookup::WithItems(Quantifier::Any), _)) => {
                let AttributeValue::List(list) = left else { return Some(RowSet::new()) };
                return self.with_items(&property, &items(list), Quantifier::Any);
            }
            Some((
                Lookup::WithItem
                | Lookup::WithItems(Quantifier::All)
                | Lookup::Prefix
                | Lookup::Below { .. }
                | Lookup::Near(_)
                | Lookup::Scan,
                _,
            ))
            | None => Sought::Where(&mut holds),
        };
        self.narrowed(&property, sought)
    }

    /// Returns the place where entities have a searched slot. The roles of a subject are not a property.
    fn place(&self, slot: Slot, part: SearchedPart) -> Option<Place<'_>> {
        if part == SearchedPart::Related {
            return self.known.way_to(slot).map(Place::Behind);
        }
        let name = match (self.plan.whole().slots.path(slot), part) {
            (_, SearchedPart::Roles) => return None,
            (_, SearchedPart::Id) if !self.known.names_ids_of(self.entity_type) => return None,
            (_, SearchedPart::Id) => None,
            (AttributePath::User(name) | AttributePath::Resource(name), SearchedPart::Property) => {
                Some(&**name)
            }
            _ => return None,
        };
        Some(Place::Own(Property { entity_type: self.entity_type, name }))
    }

    /// Returns the value of a known operand.
    fn operand<'o>(&self, operand: &'o Operand<Slot>) -> Option<AttributeValue<'o>>
    where
        'n: 'o,
    {
        operand.value(|slot| self.values[*slot as usize].value)
    }

    /// Returns whether a test is true, or false if it is negated, for one value of a searched slot.
    fn holds(
        &self,
        node: NodeId,
        slot: Slot,
        value: Option<AttributeValue<'_>>,
        negated: bool,
    ) -> bool {
        let mut values: Values<'_> = Values::from_slice(self.values);
        values[slot as usize] = SlotValue { value, symbol: Symbol::NO_TEXT };
        self.plan.whole().slots.look_up_symbols(&mut values);
        Run::new(&self.plan.whole().program, &values).truth(node) == Some(!negated)
    }
}

/// Returns the values that make a comparison, or its negation, true, and its right side. `None` if no index finds them.
fn lookup(predicate: &Predicate<Slot>, negated: bool) -> Option<(Lookup, &Operand<Slot>)> {
    let Predicate::Compare(operator, operand) = predicate else { return None };
    let (_, negates) = operator.positive();
    // Indexes find the values for which an operator is true, and not the others.
    (negates == negated).then(|| (operator.row().lookup, operand))
}

fn items(list: List<'_>) -> Vec<AttributeValue<'_>> {
    let mut items = Vec::new();
    list.for_each(|item| items.push(item));
    items
}

/// Returns the places in `all` of the ids that are also in `ids`. Both ascend.
fn places(all: &[&str], ids: &[&str]) -> RowSet {
    let mut ids = ids.iter().peekable();
    let common = (0..).zip(all).filter(|(_, id)| {
        while ids.next_if(|other| other < id).is_some() {}
        ids.peek().is_some_and(|other| other == id)
    });
    common.map(|(place, _)| place).collect()
}

/// Returns the candidates of both sets.
fn intersection(a: Narrowed, b: Narrowed) -> Narrowed {
    match (a, b) {
        (Some(a), Some(b)) => Some(a & b),
        (a, b) => a.or(b),
    }
}

fn count(rows: &RowSet) -> usize {
    usize::try_from(rows.len()).unwrap_or(usize::MAX)
}
