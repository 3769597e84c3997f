//! Translates conditions into clauses.

use super::clause::Clause;
use super::columns::Columns;
use super::comparison::{Side, compare};
use super::dialect::Dialect;
use crate::condition::{AttributePath, Condition, Operand, Predicate, Test};
use crate::plan::filter::Filter;
use crate::rbac::Effect;
use crate::value::AttributeValue;

/// Translates the condition of one policy.
pub(super) struct Translator<'c> {
    columns: &'c Columns,
    filter: &'c Filter<'c>,
    dialect: Dialect,
    effect: Effect,
    reasons: Vec<String>,
}

impl<'c> Translator<'c> {
    pub(super) fn new(
        columns: &'c Columns,
        filter: &'c Filter<'c>,
        dialect: Dialect,
        effect: Effect,
    ) -> Self {
        Self { columns, filter, dialect, effect, reasons: Vec::new() }
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
            Condition::Test(test) => self.test(test).unwrap_or_else(|reason| {
                self.reasons.push(reason);
                Clause::Constant(Some((self.effect == Effect::Allow) == positive))
            }),
        }
    }

    fn test(&self, test: &'c Test) -> Result<Clause<'c>, String> {
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

    /// Translates a predicate on a present left side.
    fn predicate(
        &self,
        path: &AttributePath,
        left: Side<'c>,
        predicate: &'c Predicate,
    ) -> Result<Clause<'c>, String> {
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
        let right = match operand {
            Operand::Attribute(path) => self.side(path)?,
            literal => {
                let known =
                    |path: &_| self.filter.known.get(path).flatten().map(AttributeValue::from);
                Side::Value(literal.value(known).unwrap_or(AttributeValue::Opaque))
            }
        };
        let reason = |why: &str| format!("`{}` of `{path}`: {why}", operator.into_str());
        compare(self.dialect, left, *operator, right).map_err(reason)
    }

    /// Returns the form in which an attribute enters SQL.
    fn side(&self, path: &AttributePath) -> Result<Side<'c>, String> {
        match self.filter.known.get(path) {
            Some(Some(value)) => return Ok(Side::Value(AttributeValue::from(value))),
            Some(None) => return Ok(Side::Absent),
            None => {}
        }
        match self.filter.rowless(path) {
            Some(reason) => Err(reason),
            None => self.columns.find(path).map(Side::Column),
        }
    }
}
