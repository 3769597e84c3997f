//! Decides sets of requests instead of single ones: roles × domains × actions of one resource, with every attribute
//! unknown that is not given (`docs/semantics.md`, section 2.12).
//!
//! ```
//! use portcullis_engine::matrix::{MatrixCell, Outcome, PlanMatrix};
//! use portcullis_engine::request::{Action, Attributes};
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
//! let action = Some(Action::verb("read"));
//! let cell = MatrixCell { subject: None, roles: &nurse, relation: None, domain: Some("er"), action };
//! let Outcome::Depends(residual) = matrix.outcome(&cell) else { panic!("it depends on the ward") };
//! assert_eq!(residual.text(), Some("user.ward == resource.ward"));
//! assert!(matches!(matrix.outcome(&MatrixCell { roles: &[], ..cell }), Outcome::Deny));
//! # Ok::<(), portcullis_engine::invalid::Fault>(())
//! ```

mod open_decision;
mod residual;
mod simplify;

use std::borrow::Cow;
use std::iter;

use chrono::{DateTime, Utc};
use hashbrown::HashMap;
use smallvec::SmallVec;

use super::Plan;
use super::abac::Abac;
use super::index::Rank;
use super::made_texts::MadeTexts;
use super::program::{NodeId, Operation, Run};
use super::slots::{SlotValue, Symbol, Values};
use crate::condition::{AttributePath, RequestField};
use crate::json::Json;
use crate::rbac::{Effect, WILDCARD};
use crate::relation::RELATION;
use crate::request::{Action, Attributes, Check};
use crate::resolution::{AttributeAnswer, AttributeAnswers};
use crate::roles::Roles;
use crate::types::PropertySource;
use crate::value::AttributeValue;

pub(super) use open_decision::OpenDecision;
pub use residual::{OpenPolicy, Outcome, Residual};

/// The maximum size of all conditions of one residual, in bytes of memory: some twenty tests. Nobody reads more, and
/// a matrix has thousands of cells.
pub(super) const MAX_BYTES: usize = 4 * 1024;

/// The parts of conditions, each a test or an operation on others, that cost as much as a policy. Most policies have fewer.
const PARTS_OF_POLICY: usize = 16;

/// The known part of requests for the resource of a plan. Everything that is not in it is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixCell<'c> {
    /// The subject; `None` is anybody whom no rule names.
    pub subject: Option<&'c str>,
    /// The subject's roles, all of them, with those that they include.
    pub roles: &'c [String],
    /// A relation that the subject has, as an attribute names it: `editor`, or `group:eng#member`. All others are unknown.
    pub relation: Option<&'c str>,
    /// The domain; `None` is any that no rule names.
    pub domain: Option<&'c str>,
    /// The action, sent or left out; `None` is any that no rule names.
    pub action: Option<Action<'c>>,
}

/// Decides the cells of one plan. Cells that no test of a policy tells apart share their work.
pub struct PlanMatrix<'p, 'c> {
    plan: &'p Plan,
    attributes: Attributes<'c>,
    /// Every policy: the index does not help, since it looks at attributes that are unknown here.
    ranks: Vec<Rank>,
    /// The tests that read what a cell knows.
    tests: Vec<NodeId>,
    /// The rules among the policies that name a domain or an action.
    naming: Vec<NamingRule>,
    outcomes: HashMap<(Effect, Signature), Outcome<'p>>,
}

/// A rule whose subject is a relation and that names a domain or an action.
struct NamingRule {
    rank: Rank,
    names_domain: bool,
    names_action: bool,
}

impl NamingRule {
    /// Returns whether this is the rule of `rank`, and no request of `cell` has a domain or an action that it names: a cell
    /// without one is of those that no rule names.
    fn names_more(&self, rank: Rank, cell: &MatrixCell<'_>) -> bool {
        let names_more = self.names_domain && cell.domain.is_none()
            || self.names_action && cell.action.is_none();
        self.rank == rank && names_more
    }
}

/// The truths of all tests that read what a cell knows; `None` if the cell leaves that open. With the decision of the
/// rules, cells of one signature have one outcome.
type Signature = SmallVec<[Option<Option<bool>>; 16]>;

impl<'p, 'c> PlanMatrix<'p, 'c> {
    /// Makes the matrix of a plan. In every request `attributes` are as given; all others are unknown.
    ///
    /// A plan for `<name>:*` stands for every verb of the name that no rule names, and one for `*` for every resource:
    /// `request.resource` is unknown there.
    pub fn new(plan: &'p Plan, attributes: Attributes<'c>) -> Self {
        let ranks = (0..).take(plan.whole().conditions.len()).collect();
        let (tests, naming) = (tests_of_cells(plan), naming_rules(plan));
        Self { plan, attributes, ranks, tests, naming, outcomes: HashMap::new() }
    }

    /// Returns the cost of deciding a further cell, as [`PlanMatrix::cost`] counts it: none if no policy tells cells apart.
    pub fn cost_per_cell(&self) -> usize {
        if self.tests.is_empty() { 0 } else { self.cost() }
    }

    /// Returns the cost of deciding a single cell: the number of policies, and one more for each sixteen parts of conditions.
    pub fn cost(&self) -> usize {
        self.ranks.len() + self.plan.whole().program.nodes().len() / PARTS_OF_POLICY
    }

    /// Decides all requests that fit `cell`.
    pub fn outcome(&mut self, cell: &MatrixCell<'_>) -> Outcome<'p> {
        let plan = self.plan;
        let (check, answers) = (check_of(plan, self.attributes, cell), answers_of(plan, cell));
        let rule = plan.rules.decide(&check, &plan.resource).map(|rule| rule.effect);
        // An RBAC deny beats every ABAC allow, and an ABAC deny would not change the effect.
        if rule == Some(Effect::Deny) {
            return Outcome::Deny;
        }
        let by_rules = rule.unwrap_or(Effect::Deny);
        if self.ranks.is_empty() {
            return by_rules.into();
        }
        let mut texts = MadeTexts::new();
        // Not the time, which is unknown in every cell.
        texts.make_action(&check);
        let mut values = Values::new();
        plan.whole().slots.read(&check, &answers, &texts, &mut values);
        forget_unknown(plan, &self.attributes, cell, &mut values);
        let mut run = Run::new(&plan.whole().program, &values);
        let signature = self.tests.iter().map(|test| known_truth(&mut run, *test)).collect();
        let outcome = self.outcomes.entry((by_rules, signature));
        let outcome = outcome.or_insert_with(|| {
            // Its own run: the steps of the signature do not count.
            let run = Run::new(&plan.whole().program, &values);
            let mut ranks = Cow::Borrowed(&self.ranks);
            if cell.domain.is_none() || cell.action.is_none() {
                let naming = &self.naming;
                ranks
                    .to_mut()
                    .retain(|rank| !naming.iter().any(|rule| rule.names_more(*rank, cell)));
            }
            OpenDecision::new(plan, &ranks, run, by_rules).outcome(MAX_BYTES)
        });
        outcome.clone()
    }

    /// Returns the id of the policy or rule that decides the request of `cell` at `now` with no attributes but the
    /// matrix's, or `default-deny`.
    pub fn matched_rule_id(&self, cell: &MatrixCell<'_>, now: DateTime<Utc>) -> String {
        let check = Check { now, ..check_of(self.plan, self.attributes, cell) };
        let answers = answers_of(self.plan, cell);
        self.plan.evaluate_with(&check, &answers).matched_rule_id().to_string()
    }
}

/// Returns the tests that read what a cell knows. Those that also read what is unknown stay as they are in every cell.
fn tests_of_cells(plan: &Plan) -> Vec<NodeId> {
    let Abac { program, slots, .. } = plan.whole();
    let nodes = (0..).zip(program.nodes());
    let tests = nodes.filter(|(_, node)| match node {
        Operation::Test(test) => {
            let mut read = iter::once(&test.attribute).chain(test.predicate.other_attributes());
            read.any(|slot| is_known_of_cells(slots.path(*slot)))
        }
        Operation::All(_) | Operation::Any(_) | Operation::Not(_) => false,
    });
    tests.map(|(id, _)| id).collect()
}

/// Returns whether a cell can know an attribute.
fn is_known_of_cells(path: &AttributePath) -> bool {
    use RequestField::{Action, Domain, Roles, Subject, WrittenAction};
    match path {
        AttributePath::Request(field) => {
            matches!(field, Action | Domain | Roles | Subject | WrittenAction)
        }
        AttributePath::Resolver(attribute) => &*attribute.namespace == RELATION,
        _ => false,
    }
}

/// Returns the rules among the policies that name a domain or an action.
fn naming_rules(plan: &Plan) -> Vec<NamingRule> {
    let ranked = (0..).zip(&plan.whole().policies).filter(|(_, policy)| policy.is_rule);
    let rules = ranked.filter_map(|(rank, _)| {
        let condition = plan.whole().source(rank).condition?;
        let [names_domain, names_action] = [RequestField::Domain, RequestField::Action]
            .map(AttributePath::Request)
            .map(|path| condition.tests().iter().any(|test| test.attribute == path));
        Some(NamingRule { rank, names_domain, names_action })
    });
    rules.collect()
}

/// Returns the truth of a test; `None` if it depends on what is unknown.
fn known_truth(run: &mut Run<'_>, node: NodeId) -> Option<Option<bool>> {
    let Operation::Test(test) = run.operation(node) else { return None };
    let is_open = run.not_requested(test).next().is_some();
    (!is_open).then(|| run.truth(node))
}

/// Returns the check of a cell. Unknown texts are empty, which no rule names.
fn check_of<'k>(plan: &'k Plan, attributes: Attributes<'k>, cell: &MatrixCell<'k>) -> Check<'k> {
    Check {
        subject: cell.subject.unwrap_or_default(),
        subject_type: None,
        resource: &plan.resource,
        action: cell.action.unwrap_or(Action::Plain("")),
        domain: cell.domain.unwrap_or_default(),
        roles: Roles::Claimed(cell.roles),
        attributes,
        claims: None,
        now: DateTime::UNIX_EPOCH,
        relations: None,
        expected: None,
    }
}

/// Returns the relation of a cell, if the tenant has relations.
fn answers_of(plan: &Plan, cell: &MatrixCell<'_>) -> AttributeAnswers {
    let mut answers = AttributeAnswers::default();
    if let Some(relation) = cell.relation
        && plan.facts().is_some_and(|facts| facts.relations.is_some())
    {
        answers.insert(RELATION, relation, AttributeAnswer::Value(Json::Bool(true)));
    }
    answers
}

/// Marks the values that a cell leaves open: each can be anything.
fn forget_unknown(
    plan: &Plan,
    attributes: &Attributes<'_>,
    cell: &MatrixCell<'_>,
    values: &mut Values<'_>,
) {
    let resource = &*plan.resource;
    for (value, path) in values.iter_mut().zip(plan.whole().slots.paths()) {
        let is_unknown = match path {
            AttributePath::User(_)
            | AttributePath::Resource(_)
            | AttributePath::Action(_)
            | AttributePath::Context(_)
            | AttributePath::Token(_) => value.value.is_none() && !is_absent(attributes, path),
            // It is marked, unless it is the relation of the cell.
            AttributePath::Resolver(_) => false,
            // No slot of a plan is of an item.
            AttributePath::Item => false,
            AttributePath::Request(field) => match field {
                RequestField::Subject => cell.subject.is_none(),
                RequestField::Resource => resource.ends_with(WILDCARD),
                RequestField::Object => resource == WILDCARD,
                RequestField::Action | RequestField::WrittenAction => cell.action.is_none(),
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

/// Returns whether an attribute without a value is absent in each request. Any caller may ask about a cell, so that claims
/// are unknown.
fn is_absent(attributes: &Attributes<'_>, path: &AttributePath) -> bool {
    attributes.attribute(path).is_some_and(|(map, name)| {
        map.is_as_sent(name) || map.settled_by(name) == Some(PropertySource::Directory)
    })
}

#[cfg(test)]
mod tests;
