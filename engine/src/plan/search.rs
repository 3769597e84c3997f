//! Decides one request for many candidates: every resource of a type, or every subject (`docs/semantics.md`, section
//! 13).
//!
//! Partial evaluation with the known part settles most policies once. The others are indexed again and decide each
//! candidate, with the program of the plan. So a search gives what a check of each candidate would give.
//!
//! ```
//! use portcullis_engine::entities::{EntityInput, EntityTable};
//! use portcullis_engine::search::{EntitySearch, SearchCandidate, SearchInput, SearchOutcome, Searched};
//! use portcullis_engine::{Check, CheckBody, Effect, Plan, Policy, ResourcePattern, expression, json};
//!
//! let policy = Policy {
//!     id: uuid::Uuid::nil(),
//!     name: "own records".to_owned(),
//!     resource: ResourcePattern::Exact("record:read".to_owned()),
//!     effect: Effect::Allow,
//!     priority: 0,
//!     condition: Ok(expression::parse("resource.owner == request.subject").map_err(|_| "a fault")?),
//! };
//! let plan = Plan::compile("record:read", 1, &[], [policy]);
//! let mut builder = EntityTable::builder();
//! for (id, properties) in [("r1", r#"{"owner": "ann"}"#), ("r2", r#"{"owner": "bob"}"#)] {
//!     let properties = json::parse(properties.as_bytes())?;
//!     let properties = properties.as_object().unwrap_or_default();
//!     builder.push(&EntityInput { entity_type: "record", id, roles: &[], domain_roles: &[], properties })?;
//! }
//! let table = builder.finish()?;
//!
//! let body = json::parse(br#"{"subject": "ann", "resource": "record:read", "action": "read"}"#)?;
//! let check = Check::new(CheckBody::parse(&body)?, "acme", None, chrono::DateTime::UNIX_EPOCH);
//! let input = SearchInput { check: &check, searched: Searched::Resource, is_given: false };
//! let search = EntitySearch::new(&plan, input);
//! let found = search.entities(&table, "record", None).filter(|entity| {
//!     let candidate = SearchCandidate::of_resource(entity.id(), entity.properties());
//!     matches!(search.decide(&candidate), SearchOutcome::Allowed(_))
//! });
//! assert_eq!(found.map(|entity| entity.id()).collect::<Vec<_>>(), ["r1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod candidate;
mod input;
mod narrowing;
mod outcome;
mod values;

use super::Plan;
use super::index::{self, Index, Indexed, Rank, Search};
use super::layer::FirstApplicable;
use super::matrix::OpenDecision;
use super::partial_evaluation::PartialEvaluation;
use super::program::Run;
use super::slots::{TimeText, Values};
use crate::entities::{Entities, EntityTable, RowSet};
use crate::rbac::Effect;
use crate::resolution::AttributeAnswers;

pub use candidate::SearchCandidate;
pub use input::{SearchInput, Searched};
use narrowing::Narrowing;
pub use outcome::{SearchDependence, SearchOutcome};
use values::{Known, MatchedRuleId};

/// A search over one plan.
pub struct EntitySearch<'p, 'c> {
    plan: &'p Plan,
    known: Known<'p, 'c>,
    /// The text of `request.time`.
    now: TimeText,
    /// The open policies.
    open: Index,
    /// The first policy that certainly applies.
    certain: Rank,
    /// Whether an open policy allows, and nothing else can.
    only_open_allow: bool,
    /// Whether every candidate is decided by the whole plan: partial evaluation could leave out the limits of a run.
    is_whole: bool,
}

impl<'p, 'c> EntitySearch<'p, 'c> {
    /// Begins a search.
    pub fn new(plan: &'p Plan, input: SearchInput<'c>) -> Self {
        let now = plan.whole().slots.time_text(input.check.now);
        let known = Known::new(plan, input);
        let mut values = Values::new();
        known.fill(&now, &mut values);
        known.forget_searched(&mut values);
        let is_whole = !known.is_affordable(&values);
        let conditions = &plan.whole().conditions;
        let mut search =
            PartialEvaluation::new(conditions, Run::new(&plan.whole().program, &values));
        let ranks: Vec<Rank> = (0..).take(conditions.len()).collect();
        search.evaluate(&ranks);
        search.drop_outranked();
        let certain = search.found;
        let allows = |policy: &Indexed| policy.effect == Effect::Allow;
        let only_open_allow =
            !conditions.get(certain as usize).is_some_and(allows) && !known.rules_may_allow();
        let open = index_of(plan, search.open());
        Self { plan, now, open, certain, only_open_allow, is_whole, known }
    }

    /// Returns the entities of a type, from the one after `after` on, in the order of their ids. Leaves out entities that
    /// the search certainly denies, if the table can tell them without looking at each. The attributes of each candidate
    /// must be the properties of its entity.
    pub fn entities<'t>(
        &self,
        table: &'t EntityTable,
        entity_type: &str,
        after: Option<&str>,
    ) -> Entities<'t> {
        let rows = self.only_open_allow.then(|| self.narrowed(table, entity_type)).flatten();
        match rows {
            Some(rows) => table.of_rows(entity_type, after, &rows),
            None => table.of_type(entity_type, after),
        }
    }

    fn narrowed(&self, table: &EntityTable, entity_type: &str) -> Option<RowSet> {
        let mut values = Values::new();
        self.known.fill(&self.now, &mut values);
        self.known.forget_searched(&mut values);
        Narrowing::new(self.plan, &self.known, &values, table, entity_type).rows(self.certain)
    }

    /// Decides the request for one candidate, as [`Plan::decide`] would decide the check.
    pub fn decide(&self, candidate: &SearchCandidate<'_>) -> SearchOutcome<'p> {
        self.decide_with(candidate, AttributeAnswers::none())
    }

    /// Decides the request for one candidate whose relations are known, as far as `answers` has them.
    pub fn decide_with(
        &self,
        candidate: &SearchCandidate<'_>,
        answers: &AttributeAnswers,
    ) -> SearchOutcome<'p> {
        let rule = self.known.rule(candidate);
        if let Some((Effect::Deny, _)) = rule {
            return SearchOutcome::Denied;
        }
        if self.plan.whole().policies.is_empty() {
            return SearchOutcome::by_rule(rule);
        }
        let mut values = Values::new();
        let is_affordable = self.known.fill_candidate(&self.now, candidate, &mut values);
        if !answers.is_empty() {
            self.plan.whole().slots.read_answers(answers, &mut values);
        }
        let run = Run::new(&self.plan.whole().program, &values);
        let (index, found) = if self.is_whole || !is_affordable {
            (&self.plan.whole().index, Rank::MAX)
        } else {
            (&self.open, self.certain)
        };
        if !self.plan.whole().slots.namespaces().is_empty() {
            return self.decide_in_stages(run, index, found, rule);
        }
        let conditions = &self.plan.whole().conditions;
        let mut first = FirstApplicable { conditions, gone: &[], run, found };
        index.visit(&mut first);
        self.decided(first.found, rule)
    }

    /// Decides by partial evaluation: attributes of resolvers are not known.
    fn decide_in_stages(
        &self,
        run: Run<'_>,
        index: &Index,
        found: Rank,
        rule: Option<MatchedRuleId>,
    ) -> SearchOutcome<'p> {
        let mut search = PartialEvaluation::new(&self.plan.whole().conditions, run);
        search.found = found;
        index.visit(&mut search);
        search.drop_outranked();
        let otherwise = self.decided(search.found, rule);
        search.drop_ineffective(otherwise.effect());
        let decision = OpenDecision::of(self.plan, search, otherwise.effect());
        SearchDependence::new(decision).map_or(otherwise, SearchOutcome::Conditional)
    }

    /// Returns the outcome if the policy of a rank decides, or the rules if there is none.
    fn decided(&self, rank: Rank, rule: Option<MatchedRuleId>) -> SearchOutcome<'p> {
        match self.plan.whole().policies.get(rank as usize) {
            Some(policy) if policy.effect == Effect::Allow => SearchOutcome::Allowed(policy.id),
            Some(_) => SearchOutcome::Denied,
            None => SearchOutcome::by_rule(rule),
        }
    }
}

/// Indexes the open policies alone. A policy that is no longer open stands as one that never applies.
fn index_of(plan: &Plan, open: &[Rank]) -> Index {
    let never = Indexed { effect: Effect::Allow, condition: None };
    let mut conditions = vec![never; plan.whole().conditions.len()];
    for rank in open {
        conditions[*rank as usize] = plan.whole().conditions[*rank as usize];
    }
    let (index, _) = index::build(&plan.whole().program, &plan.whole().slots, &conditions);
    index
}
