//! Translates conditions into clauses.

use super::clause::Clause;
use super::columns::{Column, Columns};
use super::comparison::{Side, UNQUALIFIED, compare, contained};
use super::dialect::Dialect;
use super::rows::{RelationClause, RelationClauses};
use crate::condition::{AttributePath, Condition, Items, Operand, Predicate, Test};
use crate::operator::{Operator, Quantifier};
use crate::plan::filter::Filter;
use crate::rbac::Effect;
use crate::relation::RELATION;
use crate::value::AttributeValue;

/// The sources of the values of attributes.
#[derive(Clone, Copy)]
pub(super) struct Sources<'c> {
    pub(super) columns: &'c Columns,
    pub(super) relations: &'c RelationClauses<'c>,
    pub(super) filter: &'c Filter<'c>,
}

/// Translates the condition of one policy.
pub(super) struct Translator<'c> {
    sources: Sources<'c>,
    dialect: Dialect,
    effect: Effect,
    reasons: Vec<String>,
    /// The item, inside of a condition on items.
    item: Option<Side<'c>>,
}

impl<'c> Translator<'c> {
    pub(super) fn new(sources: Sources<'c>, dialect: Dialect, effect: Effect) -> Self {
        Self { sources, dialect, effect, reasons: Vec::new(), item: None }
    }

    /// Returns the reasons why the translation is not exact; none if it is.
    pub(super) fn into_reasons(mut self) -> Vec<String> {
        self.reasons.sort_unstable();
        self.reasons.dedup();
        self.reasons
    }

    /// Translates a part of the condition, which stands below an even number of negations if it is `positive`.
    ///
    /// A test without an exact translation becomes the constant that allows more rows: true where it helps an allow to
    /// apply or keeps a deny from applying. A conjunction and a disjunction never fall when a part rises from false over
    /// undetermined to true, and a negation never rises. So the rows are a superset of those that are allowed.
    pub(super) fn condition(&mut self, condition: &'c Condition, positive: bool) -> Clause<'c> {
        match condition {
            Condition::And(children) => {
                Clause::all(children.iter().map(|child| self.condition(child, positive)))
            }
            Condition::Or(children) => {
                Clause::any(children.iter().map(|child| self.condition(child, positive)))
            }
            Condition::Not(child) => self.condition(child, !positive).negated(),
            Condition::Named(named) => match named.meaning() {
                Some(meaning) => self.condition(meaning, positive),
                // A name that stands for nothing is undetermined.
                None => Clause::Constant(None),
            },
            Condition::Test(test) => {
                let helps = (self.effect == Effect::Allow) == positive;
                let translated = match &test.predicate {
                    Predicate::Items(items) => self.test_of_items(test, items, positive),
                    _ => self.test(test, helps),
                };
                translated.unwrap_or_else(|reason| {
                    self.reasons.push(reason);
                    Clause::Constant(Some(helps))
                })
            }
        }
    }

    /// Translates a test. Its truth `helps` to allow a row, or its falsehood does.
    fn test(&self, test: &'c Test, helps: bool) -> Result<Clause<'c>, String> {
        // A relation to rows is not a side: it has a clause for each of its two values.
        if let Some(relation) = self.relation(&test.attribute)? {
            return self.test_of_relation(relation, test, helps);
        }
        let left = self.side(&test.attribute)?;
        let Side::Column(column) = left else {
            return match (&left, &test.predicate) {
                (Side::Absent, Predicate::Exists) => Ok(Clause::Constant(Some(false))),
                (Side::Absent, _) => Ok(Clause::Constant(test.if_missing)),
                (_, predicate) => self.predicate(&test.attribute, left, predicate),
            };
        };
        if matches!(test.predicate, Predicate::Exists) {
            return Ok(Clause::is_null(column).negated());
        }
        let held = self.predicate(&test.attribute, left, &test.predicate)?;
        Ok(or_missing(held, column, test.if_missing))
    }

    /// Translates a test of the items of a list.
    fn test_of_items(
        &mut self,
        test: &'c Test,
        items: &'c Items,
        positive: bool,
    ) -> Result<Clause<'c>, String> {
        match self.side(&test.attribute)? {
            Side::Absent => Ok(Clause::Constant(test.if_missing)),
            Side::Value(AttributeValue::List(list)) => {
                // The list is known: its items become literals, one after the other.
                let mut terms = Vec::new();
                list.for_each(|item| {
                    terms.push(self.condition_on(Side::Value(item), items.child(), positive));
                });
                Ok(match items.quantifier() {
                    Quantifier::Any => Clause::any(terms),
                    Quantifier::All => Clause::all(terms),
                })
            }
            Side::Value(_) => Ok(Clause::Constant(None)),
            Side::Column(column) => {
                let held = self.test_of_rows(column, items, positive);
                held.map(|held| or_missing(held, column, test.if_missing))
            }
        }
    }

    /// Translates a test of the items of a list that a column has.
    fn test_of_rows(
        &mut self,
        column: &'c Column,
        items: &'c Items,
        positive: bool,
    ) -> Result<Clause<'c>, String> {
        let Some(each) = &column.each else { return Ok(Clause::Constant(None)) };
        if let Some(contained) = self.contained(column, items) {
            return Ok(contained);
        }
        for path in items.reads() {
            if self.relation(path)?.is_some() {
                return Err(format!("`{path}` beside `item` has no exact form in SQL"));
            }
            // The subquery would find a bare name in its own table first.
            if let Ok(Side::Column(other)) = self.side(path)
                && other.parts.len() == 1
            {
                return Err(format!("`{path}` beside `item`: {UNQUALIFIED}"));
            }
        }
        let item = Side::Column(&each.items.column);
        let child = self.condition_on(item, items.child(), positive);
        let held = Clause::Items(items.quantifier(), column, Box::new(child));
        Ok(held.unless(Clause::no_list(column)))
    }

    /// Returns the clause of an array that an index serves, if the condition on its items has one.
    fn contained(&self, column: &'c Column, items: &Items) -> Option<Clause<'c>> {
        let Condition::Test(Test { attribute, predicate, .. }) = items.child() else { return None };
        let Predicate::Compare(operator, operand) = predicate else { return None };
        let value = match (attribute, operand) {
            (AttributePath::Item, operand) => operand.value(|path| self.known(path))?,
            (known_side, Operand::Attribute(AttributePath::Item)) if *operator == Operator::Eq => {
                self.known(known_side)?
            }
            _ => return None,
        };
        contained(column, items.quantifier(), *operator, value)
    }

    /// Translates a condition on an item.
    fn condition_on(&mut self, item: Side<'c>, child: &'c Condition, positive: bool) -> Clause<'c> {
        let around = self.item.replace(item);
        let clause = self.condition(child, positive);
        self.item = around;
        clause
    }

    fn test_of_relation(
        &self,
        relation: RelationClause<'c>,
        test: &'c Test,
        helps: bool,
    ) -> Result<Clause<'c>, String> {
        let absent = relation.absent.clone();
        let tested = |held| match &test.predicate {
            Predicate::Exists => Ok(Clause::Constant(Some(true))),
            predicate => self.predicate(&test.attribute, from_bool(held), predicate),
        };
        relation.must_not_doubt(helps, tested)?;
        let held = relation.test(tested)?;
        let truth = match test.predicate {
            Predicate::Exists => Some(false),
            _ => test.if_missing,
        };
        Ok(match truth {
            None => held.unless(absent),
            Some(true) => Clause::any([absent, held]),
            Some(false) => Clause::all([absent.negated(), held]),
        })
    }

    /// Translates a predicate on a present left side.
    fn predicate(
        &self,
        path: &AttributePath,
        left: Side<'c>,
        predicate: &'c Predicate,
    ) -> Result<Clause<'c>, String> {
        if let Predicate::Unordered(..) = predicate {
            return Ok(Clause::Constant(None));
        }
        if let Predicate::Length(operator, operand) = predicate {
            return self.length(path, left, *operator, operand);
        }
        let Predicate::Compare(operator, operand) = predicate else {
            // The others compare texts alone.
            if let Side::Column(column) = left {
                let may_hold = match predicate {
                    Predicate::Matches(_) => column.may_match(),
                    _ => column.is_free_text(),
                };
                if !may_hold {
                    return Ok(Clause::Constant(None));
                }
            }
            let operator = predicate.operator_name();
            return Err(format!("`{operator}` of `{path}` has no exact form in SQL"));
        };
        self.comparison(path, left, *operator, operand)
    }

    /// Translates a comparison of the number of items of a present left side.
    fn length(
        &self,
        path: &AttributePath,
        left: Side<'c>,
        operator: Operator,
        operand: &'c Operand,
    ) -> Result<Clause<'c>, String> {
        match left {
            Side::Value(AttributeValue::List(list)) => {
                let length = AttributeValue::Number((list.len() as u64).into());
                self.comparison(path, Side::Value(length), operator, operand)
            }
            Side::Column(Column { each: Some(each), .. }) => {
                // The whole column: the pattern above has its items alone.
                let Side::Column(column) = left else { return Ok(Clause::Constant(None)) };
                let held = self.comparison(path, Side::Column(&each.length), operator, operand)?;
                Ok(held.unless(Clause::no_list(column)))
            }
            Side::Value(_) | Side::Column(_) | Side::Absent => Ok(Clause::Constant(None)),
        }
    }

    /// Translates a comparison with a present left side.
    fn comparison(
        &self,
        path: &AttributePath,
        left: Side<'c>,
        operator: Operator,
        operand: &'c Operand,
    ) -> Result<Clause<'c>, String> {
        let compare = |right| {
            compare(self.dialect, left, operator, right)
                .map_err(|why| format!("`{}` of `{path}`: {why}", operator.into_str()))
        };
        match operand {
            Operand::Attribute(path) => match self.relation(path)? {
                Some(RelationClause { doubt: Some(doubt), .. }) => Err(doubt.to_owned()),
                Some(relation) => {
                    let absent = relation.absent.clone();
                    Ok(relation.test(|held| compare(from_bool(held)))?.unless(absent))
                }
                None => compare(self.side(path)?),
            },
            literal => {
                let value = literal.value(|path| self.known(path));
                // No operator compares such a value, so the test is undetermined.
                compare(Side::Value(value.unwrap_or(AttributeValue::Opaque)))
            }
        }
    }

    /// Returns the value of a known attribute; `None` if it is absent or not known.
    fn known(&self, path: &AttributePath) -> Option<AttributeValue<'c>> {
        self.sources.filter.known.get(path).flatten().map(AttributeValue::from)
    }

    /// Returns the clause of a relation to the rows; `None` if the attribute is not one of those that were looked up.
    fn relation(&self, path: &AttributePath) -> Result<Option<RelationClause<'c>>, String> {
        let AttributePath::Resolver(attribute) = path else { return Ok(None) };
        let is_open =
            *attribute.namespace == *RELATION && self.sources.filter.known.get(path).is_none();
        let relation = is_open.then(|| self.sources.relations.get(&*attribute.name)).flatten();
        relation.cloned().transpose()
    }

    /// Returns the form in which an attribute enters SQL.
    fn side(&self, path: &AttributePath) -> Result<Side<'c>, String> {
        if *path == AttributePath::Item {
            return Ok(self.item.unwrap_or(Side::Absent));
        }
        let Sources { columns, filter, .. } = self.sources;
        match filter.known.get(path) {
            Some(Some(value)) => return Ok(Side::Value(AttributeValue::from(value))),
            Some(None) => return Ok(Side::Absent),
            None => {}
        }
        if let Some(reason) = filter.rowless(path) {
            return Err(reason);
        }
        match columns.find(path)? {
            Column { of: Some(_), .. } => Err(format!(
                "the column for `{path}` has bare ids (`of`), which relations alone compare"
            )),
            column => Ok(Side::Column(column)),
        }
    }
}

/// Returns the clause of a test, with the truth that an absent attribute gives it.
fn or_missing<'c>(held: Clause<'c>, column: &'c Column, if_missing: Option<bool>) -> Clause<'c> {
    match if_missing {
        None => held,
        Some(true) => Clause::any([Clause::is_null(column), held]),
        Some(false) => Clause::all([Clause::is_null(column).negated(), held]),
    }
}

fn from_bool<'v>(value: bool) -> Side<'v> {
    Side::Value(AttributeValue::Bool(value))
}
