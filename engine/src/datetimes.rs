//! Orders of date-times: `<`, `<=`, `>` and `>=` do not compare instants (`docs/semantics.md`, section 12.9).

use std::sync::Arc;

use hashbrown::HashMap;

use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField, Test};
use crate::expression;
use crate::invalid::Place;
use crate::operator::Operator;
use crate::resource::ResourcePattern;
use crate::types::{Property, PropertyType, Types};
use crate::value::parse_instant;

/// The date-time that stands for one in an example.
const EXAMPLE: &str = "2026-11-20T09:00:00Z";

/// The properties that types declare as date-times, with the references that lead to them. Empty if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datetimes(Types);

impl From<&Types> for Datetimes {
    fn from(types: &Types) -> Self {
        if !types.iter().any(|(_, properties)| properties.values().any(is_datetime)) {
            return Self::default();
        }
        let types = types.iter().map(|(name, properties)| {
            let kept = properties.iter();
            let kept = kept.filter(|(_, property)| is_datetime(property) || property.to.is_some());
            (name.to_owned(), kept.map(|(name, property)| (name.clone(), property.clone())))
        });
        Self(types.collect())
    }
}

impl Datetimes {
    /// Returns whether no property is declared as a date-time.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first declared date-time that a condition on these resources compares by `<`, `<=`, `>` or `>=`.
    pub fn ordered_in<'c>(
        &self,
        resource: &ResourcePattern,
        condition: &'c Condition,
    ) -> Option<&'c AttributePath> {
        condition.tests().into_iter().find_map(|test| self.0.ordered_datetime(resource, test))
    }

    /// Returns the heap bytes, for the weight of the facts.
    pub(crate) fn weight(&self) -> usize {
        let types = self.0.iter().map(|(name, properties)| {
            let names = properties.keys().map(|name| name.len() + size_of::<(String, Property)>());
            name.len() + size_of::<String>() + names.sum::<usize>()
        });
        types.sum()
    }
}

/// The address of a named condition, and the resources of a policy that uses it.
type Use = (*const Condition, ResourcePattern);

/// Leaves the orders of declared date-times in the policies of a plan undetermined.
#[derive(Debug)]
pub(crate) struct Unordering<'d> {
    datetimes: &'d Datetimes,
    /// Named conditions as they were and as they are now: who shares one shares it still.
    known: HashMap<Use, [Arc<Condition>; 2]>,
}

impl<'d> Unordering<'d> {
    pub(crate) fn new(datetimes: &'d Datetimes) -> Self {
        Self { datetimes, known: HashMap::new() }
    }

    /// Returns the condition of a policy on these resources.
    pub(crate) fn of(&mut self, resource: &ResourcePattern, condition: Condition) -> Condition {
        if self.datetimes.is_empty() {
            return condition;
        }
        let types = &self.datetimes.0;
        let condition = condition.map_predicates(&|test| {
            types.ordered_datetime(resource, test)?;
            let (operator, operand) = order(&test.predicate)?;
            Some(Predicate::Unordered(operator, operand.clone()))
        });
        condition.replace_names(&mut |named| {
            let meaning = named.meaning().map(|meaning| self.meaning(resource, meaning));
            Condition::Named(named.with_meaning(meaning))
        })
    }

    fn meaning(&mut self, resource: &ResourcePattern, meaning: &Arc<Condition>) -> Arc<Condition> {
        let key = (Arc::as_ptr(meaning), resource.clone());
        if let Some([_, known]) = self.known.get(&key) {
            return known.clone();
        }
        let unordered = Arc::new(self.of(resource, meaning.as_ref().clone()));
        // The old condition is kept as well: its address is the key, and must not be taken by another one.
        self.known.insert(key, [meaning.clone(), unordered.clone()]);
        unordered
    }
}

impl Types {
    /// Returns the first side of a test of a policy on these resources that is declared as a date-time, if the test compares by
    /// `<`, `<=`, `>` or `>=`. With `*`, the type of any resource counts.
    pub(crate) fn ordered_datetime<'c>(
        &self,
        resource: &ResourcePattern,
        test: &'c Test,
    ) -> Option<&'c AttributePath> {
        order(&test.predicate)?;
        let mut sides = [Some(&test.attribute), test.predicate.right_attribute()].into_iter();
        sides.find_map(|path| path.filter(|path| self.is_datetime(resource, path)))
    }

    fn is_datetime(&self, resource: &ResourcePattern, path: &AttributePath) -> bool {
        let Some((namespace, name)) = path.sent() else { return false };
        let declared = self.declared_in(namespace, resource);
        declared.is_some_and(|names| names.kinds(name).contains(&PropertyType::Datetime))
    }

    /// Returns the tests of a policy on these resources that compare by `<`, `<=`, `>` or `>=` an attribute without a declared
    /// type with `request.time`, with the text of a date-time, or with another such attribute, if `has_datetimes` holds for
    /// both. Each has its JSON pointer in the tree.
    pub fn orders_as_texts<'c>(
        &self,
        resource: &ResourcePattern,
        condition: &'c Condition,
        has_datetimes: impl Fn(&AttributePath) -> bool,
    ) -> Vec<(String, &'c Test)> {
        let mut found = Vec::new();
        // The list of the items that the next tests are about: those of an item come after the test of its list.
        let mut list = None;
        condition.visit_tests(&Place::root(), &mut |test, at| {
            if let Predicate::Items(_) = &test.predicate {
                list = Some(&test.attribute);
            }
            let is_undeclared = |path: &AttributePath| match path {
                AttributePath::Item => list.is_some_and(|list| self.is_undeclared(resource, list)),
                path => self.is_undeclared(resource, path),
            };
            if is_order_as_texts(test, is_undeclared, &has_datetimes) {
                found.push((at.to_string(), test));
            }
        });
        found
    }

    /// Returns whether an attribute may have any value, as far as the types say.
    fn is_undeclared(&self, resource: &ResourcePattern, path: &AttributePath) -> bool {
        match path {
            AttributePath::Request(_) | AttributePath::Item => false,
            AttributePath::Token(_) | AttributePath::Resolver(_) => true,
            sent => sent.sent().is_none_or(|(namespace, name)| {
                let declared = self.declared_in(namespace, resource);
                declared.is_none_or(|names| names.is_open(name))
            }),
        }
    }
}

fn is_order_as_texts(
    test: &Test,
    is_undeclared: impl Fn(&AttributePath) -> bool,
    has_datetimes: &impl Fn(&AttributePath) -> bool,
) -> bool {
    let Some((_, operand)) = order(&test.predicate) else { return false };
    let left = &test.attribute;
    match operand {
        Operand::Attribute(right) if is_time(right) => is_undeclared(left),
        Operand::Attribute(right) if is_time(left) => is_undeclared(right),
        Operand::Attribute(right) => {
            [left, right].into_iter().all(|path| is_undeclared(path) && has_datetimes(path))
        }
        Operand::Text(text) => parse_instant(text).is_some() && is_undeclared(left),
        _ => false,
    }
}

fn is_datetime(property: &Property) -> bool {
    property.kind == PropertyType::Datetime
}

fn is_time(path: &AttributePath) -> bool {
    *path == AttributePath::Request(RequestField::Time)
}

impl Condition {
    /// Returns whether a test compares by `<`, `<=`, `>` or `>=` what may be texts.
    pub fn orders_texts(&self) -> bool {
        self.tests().into_iter().any(|test| order(&test.predicate).is_some())
    }
}

/// Returns the operator and the right side of a test that orders its sides, if they may be texts.
fn order(predicate: &Predicate) -> Option<(Operator, &Operand)> {
    match predicate {
        Predicate::Compare(
            operator @ (Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte),
            operand @ (Operand::Text(_) | Operand::Attribute(_)),
        ) => Some((*operator, operand)),
        _ => None,
    }
}

/// Returns the expression that compares the instants which a test orders as texts: `!(x after y)` for `x <= y`.
pub(crate) fn instead_of(test: &Test) -> Option<String> {
    let (operator, operand) = order(&test.predicate)?;
    let (instants, is_negated) = match operator {
        Operator::Lt => (Operator::Before, false),
        Operator::Gt => (Operator::After, false),
        Operator::Lte => (Operator::After, true),
        // Only `>=` is left.
        _ => (Operator::Before, true),
    };
    let operand = match operand {
        Operand::Text(text) => {
            // The text may be a day, or no instant at all: an example shows the form then.
            let instant = parse_instant(text)
                .or_else(|| parse_instant(&format!("{text}T00:00:00Z")))
                .or_else(|| parse_instant(EXAMPLE));
            Operand::Instant(instant?)
        }
        other => other.clone(),
    };
    let test = Condition::Test(Test {
        attribute: test.attribute.clone(),
        predicate: Predicate::Compare(instants, operand),
        // What an absent attribute gives stands behind the negation.
        if_missing: test.if_missing.map(|truth| truth != is_negated),
    });
    let condition = if is_negated { Condition::Not(Box::new(test)) } else { test };
    Some(expression::print(&condition))
}
