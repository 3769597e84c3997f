//! Decides sets of requests instead of single ones: roles × domains × actions of one resource, with every attribute
//! unknown that is not given (`docs/semantics.md`, section 2.12).
//!
//! ```
//! use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix};
//! use portcullis_engine::request::Attributes;
//! use portcullis_engine::{Effect, Plan, Policy, ResourcePattern, expression};
//!
//! let policy = Policy {
//!     id: uuid::Uuid::nil(),
//!     name: "own ward".to_owned(),
//!     resource: ResourcePattern::Exact("chart:read".to_owned()),
//!     effect: Effect::Allow,
//!     priority: 0,
//!     condition: Ok(expression::parse(
//!         r#"request.roles contains "nurse" && user.ward == resource.ward"#,
//!     )?),
//! };
//! let plan = Plan::compile("chart:read", 1, &[], [policy]);
//! let nurse = ["nurse".to_owned()];
//! let mut matrix = PlanMatrix::new(&plan, Attributes::default());
//!
//! let cell = MatrixCell { subject: None, roles: &nurse, domain: Some("er"), action: Some("read") };
//! let Outcome::Depends(residual) = matrix.outcome(&cell) else { panic!("it depends on the ward") };
//! assert_eq!(residual.text(), Some("user.ward == resource.ward"));
//! assert!(matches!(matrix.outcome(&MatrixCell { roles: &[], ..cell }), Outcome::Deny));
//! # Ok::<(), portcullis_engine::invalid::Fault>(())
//! ```

mod residual;
mod simplify;

use std::sync::Arc;

use chrono::DateTime;
use hashbrown::HashMap;

use super::Plan;
use super::index::{Rank, Search};
use super::layer::Layer;
use super::slots::{SlotValue, Symbol, Values};
use super::stages::Stages;
use crate::condition::{AttributePath, RequestField};
use crate::rbac::{Effect, WILDCARD};
use crate::request::{Attributes, Check};
use crate::resolution::AttributeAnswers;
use crate::roles::Roles;
use crate::value::AttributeValue;

pub use residual::{OpenPolicy, Residual};
use simplify::Simplifier;

/// The known part of requests for the resource of a plan. Everything that is not in it is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixCell<'c> {
    /// The subject; `None` is anybody whom no rule names.
    pub subject: Option<&'c str>,
    /// The subject's roles, all of them.
    pub roles: &'c [String],
    /// The domain; `None` is any that no rule names.
    pub domain: Option<&'c str>,
    /// The action; `None` is any that no rule names.
    pub action: Option<&'c str>,
}

/// The decision on every request that fits a cell.
#[derive(Clone, Debug)]
pub enum Outcome<'p> {
    /// Each is allowed.
    Allow,
    /// Each is denied.
    Deny,
    /// The unknown attributes decide.
    Depends(Arc<Residual<'p>>),
}

impl From<Effect> for Outcome<'_> {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}

/// Decides the cells of one plan. Cells that differ in nothing that a policy reads share their work.
pub struct PlanMatrix<'p, 'c> {
    plan: &'p Plan,
    attributes: Attributes<'c>,
    reads: Reads,
    /// Every policy of each layer: the index is no help, since it looks at attributes that are unknown here.
    ranks: Vec<Vec<Rank>>,
    /// The outcomes by what the policies read of a cell, and the decision of the rules.
    outcomes: HashMap<(MatrixCell<'c>, Effect), Outcome<'p>>,
}

/// The parts of a cell that the policies of a plan read.
#[derive(Clone, Copy, Default)]
struct Reads {
    subject: bool,
    roles: bool,
    domain: bool,
    action: bool,
}

impl Reads {
    fn of(plan: &Plan) -> Self {
        let mut reads = Self::default();
        for path in plan.layers.iter().flat_map(|layer| layer.abac.slots.paths()) {
            match path {
                AttributePath::Request(RequestField::Subject) => reads.subject = true,
                AttributePath::Request(RequestField::Roles) => reads.roles = true,
                AttributePath::Request(RequestField::Domain) => reads.domain = true,
                AttributePath::Request(RequestField::Action) => reads.action = true,
                _ => {}
            }
        }
        reads
    }

    /// Returns the cell without what no policy reads.
    fn of_cell<'c>(self, cell: &MatrixCell<'c>) -> MatrixCell<'c> {
        MatrixCell {
            subject: cell.subject.filter(|_| self.subject),
            roles: if self.roles { cell.roles } else { &[] },
            domain: cell.domain.filter(|_| self.domain),
            action: cell.action.filter(|_| self.action),
        }
    }

    fn any(self) -> bool {
        self.subject || self.roles || self.domain || self.action
    }
}

impl<'p, 'c> PlanMatrix<'p, 'c> {
    /// Makes the matrix of a plan. In every request `attributes` are as given; all others are unknown.
    ///
    /// A plan for `<name>:*` stands for every verb of the name that no rule names, and one for `*` for every resource:
    /// `request.resource` is unknown there.
    pub fn new(plan: &'p Plan, attributes: Attributes<'c>) -> Self {
        let ranks = plan.layers.iter().map(|layer| layer.ranks().collect()).collect();
        Self { plan, attributes, reads: Reads::of(plan), ranks, outcomes: HashMap::new() }
    }

    /// Returns the number of policies that deciding a further cell evaluates: none if no policy reads what cells differ
    /// in.
    pub fn policies_per_cell(&self) -> usize {
        if self.reads.any() { self.ranks.iter().map(Vec::len).sum() } else { 0 }
    }

    /// Decides all requests that fit `cell`.
    pub fn outcome(&mut self, cell: &MatrixCell<'c>) -> Outcome<'p> {
        let check = self.check(cell);
        let rule = self.plan.rules.decide(&check, &self.plan.resource).map(|rule| rule.effect);
        // An RBAC deny beats every ABAC allow, and an ABAC deny would not change the effect.
        if rule == Some(Effect::Deny) {
            return Outcome::Deny;
        }
        let by_rules = rule.unwrap_or(Effect::Deny);
        if self.plan.layers.is_empty() {
            return by_rules.into();
        }
        let key = (self.reads.of_cell(cell), by_rules);
        if let Some(known) = self.outcomes.get(&key) {
            return known.clone();
        }
        let outcome = self.decide(cell, &check, by_rules);
        self.outcomes.insert(key, outcome.clone());
        outcome
    }

    /// Returns the check of a cell. Unknown texts are empty, which no rule names.
    fn check<'k>(&'k self, cell: &MatrixCell<'k>) -> Check<'k> {
        Check {
            subject: cell.subject.unwrap_or_default(),
            resource: &self.plan.resource,
            action: cell.action.unwrap_or_default(),
            domain: cell.domain.unwrap_or_default(),
            roles: Roles::Claimed(cell.roles),
            attributes: self.attributes,
            claims: None,
            now: DateTime::UNIX_EPOCH,
        }
    }

    /// Decides by partial evaluation. `by_rules` is the decision if no policy applies.
    fn decide(&self, cell: &MatrixCell<'c>, check: &Check<'_>, by_rules: Effect) -> Outcome<'p> {
        let plan = self.plan;
        let answers = AttributeAnswers::default();
        let mut values = plan.values(check, &answers, "");
        for (layer, values) in plan.layers.iter().zip(&mut values) {
            self.forget_unknown(cell, layer, values);
        }
        let mut stages = Stages::new(&plan.layers, &values);
        let mut ranks = self.ranks.iter();
        stages.evaluate(|layer| layer.evaluate(ranks.next().map_or(&[], Vec::as_slice)));
        let otherwise = stages.found().map_or(by_rules, |policy| policy.effect);
        stages.drop_ineffective(otherwise);
        if stages.is_settled() {
            return otherwise.into();
        }
        let open = stages.open();
        let mut left = simplify::MAX_BYTES;
        let condition = |(at, rank): &(usize, Rank)| {
            let evaluation = stages.layer(*at);
            let abac = &evaluation.layer.abac;
            let policy = abac.conditions[*rank as usize];
            let mut simplifier = Simplifier::new(&mut evaluation.run, &abac.slots, &mut left);
            simplifier.residual(policy.condition?, policy.effect)
        };
        let conditions: Option<Vec<_>> = open.iter().map(condition).collect();
        let policy = |(at, rank): &(usize, Rank)| plan.layers[*at].policy(*rank);
        let policies = open.iter().filter_map(policy).collect();
        Outcome::Depends(Arc::new(Residual::new(policies, conditions, otherwise)))
    }

    /// Marks the values that a cell leaves open: each can be anything.
    fn forget_unknown(&self, cell: &MatrixCell<'_>, layer: &Layer, values: &mut Values<'_>) {
        let resource = &*self.plan.resource;
        for (value, path) in values.iter_mut().zip(layer.abac.slots.paths()) {
            let is_unknown = match path {
                AttributePath::User(_)
                | AttributePath::Resource(_)
                | AttributePath::Action(_)
                | AttributePath::Context(_)
                | AttributePath::Token(_) => value.value.is_none(),
                // Not in the answers, which are empty.
                AttributePath::Resolver(_) => true,
                AttributePath::Request(field) => match field {
                    RequestField::Subject => cell.subject.is_none(),
                    RequestField::Resource => resource.ends_with(WILDCARD),
                    RequestField::Object => resource == WILDCARD,
                    RequestField::Action => cell.action.is_none(),
                    RequestField::Domain => cell.domain.is_none(),
                    RequestField::Time => true,
                    RequestField::Roles => false,
                },
            };
            if is_unknown {
                let unknown = Some(AttributeValue::NotRequested);
                *value = SlotValue { value: unknown, symbol: Symbol::NO_TEXT };
            }
        }
    }
}

#[cfg(test)]
mod tests;
