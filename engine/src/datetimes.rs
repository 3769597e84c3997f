//! Properties that are declared as date-times: `<`, `<=`, `>` and `>=` do not order them (`docs/semantics.md`, section 12.9).

use hashbrown::{HashMap, HashSet};

use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField, Test};
use crate::expression;
use crate::operator::Operator;
use crate::resource::{ResourcePattern, object_of};
use crate::types::{ACTION, CONTEXT, PropertyType, Types, USER};
use crate::value::parse_instant;

/// The date-time that stands for one in an example.
const EXAMPLE: &str = "2026-11-20T09:00:00Z";

/// The properties that are declared as date-times, by type. Types without such a property are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datetimes(HashMap<Box<str>, HashSet<Box<str>>>);

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
        condition.tests().into_iter().find_map(|test| self.ordered_by(resource, test))
    }

    /// Returns the condition with every such comparison undetermined, as it is in a policy that was stored so.
    #[must_use]
    pub fn unordered(&self, resource: &ResourcePattern, condition: Condition) -> Condition {
        if self.ordered_in(resource, &condition).is_none() {
            return condition;
        }
        condition.map_predicates(&|test| {
            self.ordered_by(resource, test)?;
            let (operator, operand) = order(&test.predicate)?;
            Some(Predicate::Unordered(operator, operand.clone()))
        })
    }

    /// Returns the first side of a test on these resources that is a declared date-time and that the test orders.
    pub(crate) fn ordered_by<'c>(
        &self,
        resource: &ResourcePattern,
        test: &'c Test,
    ) -> Option<&'c AttributePath> {
        if self.is_empty() {
            return None;
        }
        order(&test.predicate)?;
        let mut sides = [Some(&test.attribute), test.predicate.right_attribute()].into_iter();
        sides.find_map(|path| path.filter(|path| self.has(resource, path)))
    }

    /// Returns whether an attribute of a policy on these resources is a declared date-time: with `*`, of any resource. `user`
    /// alone says nothing about resources.
    fn has(&self, resource: &ResourcePattern, path: &AttributePath) -> bool {
        let Some((namespace, name)) = path.sent() else { return false };
        let of = |declared: &str| self.0.get(declared).is_some_and(|names| names.contains(name));
        let object = match (namespace, resource) {
            ("resource", ResourcePattern::Any) => {
                let others =
                    self.0.iter().filter(|(of, _)| ![USER, CONTEXT, ACTION].contains(&&***of));
                return others.into_iter().any(|(_, names)| names.contains(name));
            }
            ("resource", ResourcePattern::Name(object)) => object,
            ("resource", ResourcePattern::Exact(resource)) => object_of(resource),
            (namespace, _) => return of(namespace),
        };
        ![CONTEXT, ACTION].contains(&object) && of(object)
    }

    /// Returns the heap bytes.
    pub(crate) fn weight(&self) -> usize {
        let text = |text: &str| text.len() + size_of::<Box<str>>();
        let types = self.0.iter().map(|(name, names)| {
            let names_of = names.iter().map(|name| text(name)).sum::<usize>();
            text(name) + names.allocation_size() + names_of
        });
        self.0.allocation_size() + types.sum::<usize>()
    }
}

impl<N: IntoIterator<Item = String>> FromIterator<(String, N)> for Datetimes {
    fn from_iter<I: IntoIterator<Item = (String, N)>>(types: I) -> Self {
        let types = types.into_iter().map(|(name, names)| {
            (name.into_boxed_str(), names.into_iter().map(String::into_boxed_str).collect())
        });
        Self(types.filter(|(_, names): &(_, HashSet<Box<str>>)| !names.is_empty()).collect())
    }
}

impl From<&Types> for Datetimes {
    fn from(types: &Types) -> Self {
        let types = types.iter().map(|(name, properties)| {
            let declared = properties.iter();
            let declared = declared.filter(|(_, declared)| declared.kind == PropertyType::Datetime);
            (name.to_owned(), declared.map(|(name, _)| name.clone()))
        });
        types.collect()
    }
}

impl Types {
    /// Returns the first attribute without a declared type that a condition on these resources compares by `<`, `<=`, `>` or
    /// `>=` with `request.time` or with the text of a date-time.
    pub fn datetime_as_text<'c>(
        &self,
        resource: &ResourcePattern,
        condition: &'c Condition,
    ) -> Option<&'c AttributePath> {
        condition.tests().into_iter().find_map(|test| {
            let (_, operand) = order(&test.predicate)?;
            let path = match operand {
                Operand::Attribute(right) if is_time(right) => &test.attribute,
                Operand::Attribute(right) if is_time(&test.attribute) => right,
                Operand::Text(text) if parse_instant(text).is_some() => &test.attribute,
                _ => return None,
            };
            let is_declared = |(namespace, _)| self.declared_in(namespace, resource).is_some();
            let is_of_request = matches!(path, AttributePath::Request(_) | AttributePath::Item);
            (!is_of_request && !path.sent().is_some_and(is_declared)).then_some(path)
        })
    }
}

fn is_time(path: &AttributePath) -> bool {
    *path == AttributePath::Request(RequestField::Time)
}

impl Condition {
    /// Returns whether a test compares an attribute that requests send by `<`, `<=`, `>` or `>=`.
    pub fn orders_properties(&self) -> bool {
        self.tests().into_iter().any(|test| {
            let sides = [Some(&test.attribute), test.predicate.right_attribute()];
            order(&test.predicate).is_some()
                && sides.into_iter().flatten().any(AttributePath::is_sent)
        })
    }
}

/// Returns the operator and the right side of a test that orders its sides.
pub(crate) fn order(predicate: &Predicate) -> Option<(Operator, &Operand)> {
    match predicate {
        Predicate::Compare(
            operator @ (Operator::Lt | Operator::Lte | Operator::Gt | Operator::Gte),
            operand,
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
        _ => (Operator::Before, true),
    };
    let operand = match operand {
        Operand::Text(text) => {
            let of_day = || parse_instant(&format!("{text}T00:00:00Z"));
            let instant = parse_instant(text).or_else(of_day).or_else(|| parse_instant(EXAMPLE));
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
