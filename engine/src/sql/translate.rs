//! Translates conditions into clauses.

use super::clause::Clause;
use super::columns::{Column, Columns};
use super::comparison::{Side, compare};
use super::dialect::Dialect;
use super::rows::{RelationClause, RelationClauses};
use crate::condition::{AttributePath, Condition, Operand, Predicate, Test};
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
}

impl<'c> Translator<'c> {
    pub(super) fn new(sources: Sources<'c>, dialect: Dialect, effect: Effect) -> Self {
        Self { sources, dialect, effect, reasons: Vec::new() }
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
            Condition::Test(test) => {
                let helps = (self.effect == Effect::Allow) == positive;
                self.test(test, helps).unwrap_or_else(|reason| {
                    self.reasons.push(reason);
                    Clause::Constant(Some(helps))
                })
            }
        }
    }

    /// Translates a test. Its truth `helps` to allow a row, or its falsehood does.
    fn test(&self, test: &'c Test, helps: bool) -> Result<Clause<'c>, String> {
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
        Ok(match test.if_missing {
            None => held,
            Some(true) => Clause::any([Clause::is_null(column), held]),
            Some(false) => Clause::all([Clause::is_null(column).negated(), held]),
        })
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
        let Predicate::Compare(operator, operand) = predicate else {
            // The others compare texts alone.
            if let Side::Column(column) = left {
                let may_hold = match predicate {
                    Predicate::Matches(_) => column.may_match(),
                    Predicate::Items(_) | Predicate::Length(..) => column.is_list(),
                    _ => column.is_free_text(),
                };
                if !may_hold {
                    return Ok(Clause::Constant(None));
                }
            }
            let operator = predicate.operator_name();
            return Err(format!("`{operator}` of `{path}` has no exact form in SQL"));
        };
        let reason = |why: &str| format!("`{}` of `{path}`: {why}", operator.into_str());
        let compare = |right| compare(self.dialect, left, *operator, right).map_err(reason);
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
                let known = &self.sources.filter.known;
                let known = |path: &_| known.get(path).flatten().map(AttributeValue::from);
                compare(Side::Value(literal.value(known).unwrap_or(AttributeValue::Opaque)))
            }
        }
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

fn from_bool<'v>(value: bool) -> Side<'v> {
    Side::Value(AttributeValue::Bool(value))
}
