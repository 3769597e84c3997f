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
//! let input = SearchInput { check: &check, searched: Searched::Resource, entities: None, is_given: false };
//! let search = EntitySearch::new(&plan, input);
//! let found = search.entities(&table, "record", None, &[]).filter(|entity| {
//!     let candidate = SearchCandidate::for_resource(entity.id(), entity.properties());
//!     matches!(search.decide(&candidate), SearchOutcome::Allowed(_))
//! });
//! assert_eq!(found.map(|entity| entity.id()).collect::<Vec<_>>(), ["r1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod input;
mod narrowing;
mod outcome;
mod relations;
mod values;

use smallvec::SmallVec;

use super::Plan;
use super::index::{self, Index, Indexed, Rank, Search};
use super::layer::FirstApplicable;
use super::made_texts::MadeTexts;
use super::matrix::OpenDecision;
use super::partial_evaluation::PartialEvaluation;
use super::program::Run;
use super::slots::{SlotValue, Values};
use crate::decision::precedes;
use crate::entities::{Entities, EntityTable, RowSet};
use crate::rbac::Effect;
use crate::resolution::AttributeAnswer;

pub use input::{SearchCandidate, SearchInput, Searched};
use narrowing::{Narrowing, Universe};
pub use outcome::{SearchDependence, SearchOutcome};
use relations::ReadRelation;
pub use relations::RelatedIds;
use values::{Known, MatchedRuleId};

/// A search over one plan.
pub struct EntitySearch<'p, 'c> {
    plan: &'p Plan,
    known: Known<'p, 'c>,
    texts: MadeTexts,
    /// The open policies.
    open: Index,
    /// The first policy that certainly applies.
    certain: Rank,
    /// Whether an open policy allows, and nothing else can.
    only_open_allow: bool,
    /// Whether every candidate is decided by the whole plan: partial evaluation could leave out the limits of a run.
    is_whole: bool,
    relations: Vec<ReadRelation<'p>>,
    /// The relations that are asked for, if they are the same for each candidate: nothing else of it is read.
    asked: Option<AskedRelations>,
    /// Whether the plan reads attributes of resolvers.
    has_resolvers: bool,
}

/// Places in the relations of a search.
type AskedRelations = SmallVec<[usize; 4]>;

impl<'p, 'c> EntitySearch<'p, 'c> {
    /// Begins a search.
    pub fn new(plan: &'p Plan, input: SearchInput<'c>) -> Self {
        let texts = plan.whole().slots.made_texts(input.check);
        let known = Known::new(plan, input);
        let mut values = Values::new();
        known.fill(&texts, &mut values);
        known.forget_searched(&mut values);
        let is_whole = !known.is_affordable(&values);
        let conditions = &plan.whole().conditions;
        let mut search =
            PartialEvaluation::new(conditions, Run::new(&plan.whole().program, &values));
        let ranks: Vec<Rank> = (0..).take(conditions.len()).collect();
        search.evaluate(&ranks);
        search.drop_outranked();
        let certain = search.found;
        let may_allow =
            conditions.get(certain as usize).is_some_and(|policy| policy.effect == Effect::Allow)
                || known.rules_may_allow();
        let open = index_of(plan, search.open());
        let mut relations = ReadRelation::all(plan, &search.open_slots());
        relations.iter_mut().for_each(|relation| relation.is_open |= is_whole);
        let slots = &plan.whole().slots;
        let resolved = (0..).zip(slots.paths()).filter(|(slot, _)| slots.is_resolved(*slot));
        // A relation is resolved as well: what is beyond the relations belongs to resolvers.
        let has_resolvers = resolved.count() > relations.len();
        let mut search = Self {
            plan,
            known,
            // Made again, because the values above borrow the first ones.
            texts: plan.whole().slots.made_texts(input.check),
            open,
            certain,
            only_open_allow: !may_allow,
            is_whole,
            relations,
            asked: None,
            has_resolvers,
        };
        search.asked = search.asked_of_each();
        search
    }

    /// Returns the relations that are asked for if they are the same for each candidate.
    fn asked_of_each(&self) -> Option<AskedRelations> {
        let rule = self.known.rule_of_each().filter(|_| !self.relations.is_empty())?;
        let mut values = Values::new();
        self.known.fill(&self.texts, &mut values);
        self.plan.whole().slots.look_up_symbols(&mut values);
        self.asked(&values, self.is_whole, rule).ok()
    }

    /// Returns the names of the relations on which open policies depend, without the namespace.
    pub fn relations(&self) -> impl Iterator<Item = &'p str> {
        self.open_relations().map(|relation| relation.name)
    }

    fn open_relations(&self) -> impl Iterator<Item = &ReadRelation<'p>> {
        self.relations.iter().filter(|relation| relation.is_open)
    }

    /// Returns the entities of a type, from the one after `after` on, in the order of their ids. Leaves out entities that
    /// the search certainly denies, if the table and `related` can tell them without looking at each. The attributes of each
    /// candidate must be the properties of its entity.
    pub fn entities<'t>(
        &self,
        table: &'t EntityTable,
        entity_type: &str,
        after: Option<&str>,
        related: &RelatedIds<'_>,
    ) -> Entities<'t> {
        let universe = Universe::for_entities(table, entity_type);
        let rows = self.narrowed(entity_type, universe, related);
        match rows {
            Some(rows) => table.for_rows(entity_type, after, &rows),
            None => table.for_type(entity_type, after),
        }
    }

    /// Returns the `related` ids that the search does not certainly deny as long as no entity has them, in ascending
    /// order. `None` if it may allow any id.
    pub fn others<'r>(&self, entity_type: &str, related: &RelatedIds<'r>) -> Option<Vec<&'r str>> {
        let mut ids: Vec<&str> = related.iter().flatten().flatten().copied().collect();
        ids.sort();
        ids.dedup();
        let rows = self.narrowed(entity_type, Universe::Others(&ids), related)?;
        Some(rows.iter().filter_map(|row| ids.get(row as usize).copied()).collect())
    }

    fn narrowed(
        &self,
        entity_type: &str,
        universe: Universe<'_>,
        related: &RelatedIds<'_>,
    ) -> Option<RowSet> {
        // Something else may allow each candidate, so that none can be left out.
        if !self.only_open_allow {
            return None;
        }
        let mut values = Values::new();
        self.known.fill(&self.texts, &mut values);
        self.known.forget_searched(&mut values);
        // The caller gives the ids in the order of `EntitySearch::relations`.
        let related = self.open_relations().map(|relation| relation.slot).zip(related).collect();
        let narrowing =
            Narrowing::new(self.plan, &self.known, &values, entity_type, (universe, related));
        narrowing.rows(self.certain)
    }

    /// Decides the request for one candidate, as [`Plan::decide`] would decide the check. Relations are open.
    pub fn decide(&self, candidate: &SearchCandidate<'_>) -> SearchOutcome<'p> {
        self.decide_with(candidate, |_| None)
    }

    /// Decides the request for one candidate. `ask` returns the answer to a relation of the candidate, by its name without the
    /// namespace; `None` leaves it open.
    pub fn decide_with(
        &self,
        candidate: &SearchCandidate<'_>,
        mut ask: impl FnMut(&'p str) -> Option<AttributeAnswer>,
    ) -> SearchOutcome<'p> {
        let rule = self.known.rule(candidate);
        // An RBAC deny beats every policy.
        if let Some((Effect::Deny, _)) = rule {
            return SearchOutcome::Denied;
        }
        if self.plan.whole().policies.is_empty() {
            return SearchOutcome::by_rule(rule);
        }
        let mut values = Values::new();
        let is_affordable = self.known.fill_candidate(&self.texts, candidate, &mut values);
        let is_whole = self.is_whole || !is_affordable;
        if !self.has_resolvers && self.relations.is_empty() {
            return self.settled(&values, is_whole, rule);
        }
        // Declared here, because `asked` borrows it beyond the match.
        let own;
        let asked = match &self.asked {
            Some(of_each) => of_each,
            None => match self.asked(&values, is_whole, rule) {
                Ok(asked) => {
                    own = asked;
                    &own
                }
                Err(settled) => return settled,
            },
        };
        let mut is_open = self.has_resolvers;
        for place in asked {
            let relation = &self.relations[*place];
            match ask(relation.name) {
                Some(answer) => relation.write(&answer, &mut values),
                None => is_open = true,
            }
        }
        match is_open {
            true => self.outcome(self.evaluated(&values, is_whole, rule)),
            false => self.settled(&values, is_whole, rule),
        }
    }

    /// Returns the relations on which the decision of a candidate depends.
    ///
    /// # Errors
    /// The outcome, if it depends on none and on no resolver.
    fn asked(
        &self,
        values: &[SlotValue<'_>],
        is_whole: bool,
        rule: Option<MatchedRuleId>,
    ) -> Result<AskedRelations, SearchOutcome<'p>> {
        let mut open = self.evaluated(values, is_whole, rule);
        if open.search.is_settled() {
            return Err(open.otherwise);
        }
        let slots = open.search.open_slots();
        let relations = self.relations.iter().enumerate();
        let asked = relations.filter(|(_, relation)| slots.contains(&relation.slot));
        Ok(asked.map(|(place, _)| place).collect())
    }

    /// Returns the outcome if no value is open that could change it.
    fn settled(
        &self,
        values: &[SlotValue<'_>],
        is_whole: bool,
        rule: Option<MatchedRuleId>,
    ) -> SearchOutcome<'p> {
        let run = Run::new(&self.plan.whole().program, values);
        let conditions = &self.plan.whole().conditions;
        let (index, found) = self.policies(is_whole);
        let mut first = FirstApplicable { conditions, gone: &[], run, found };
        index.visit(&mut first);
        self.decided(first.found, rule)
    }

    /// Returns the policies that can decide a candidate, and the rank of the first that certainly applies.
    fn policies(&self, is_whole: bool) -> (&Index, Rank) {
        match is_whole {
            // `Rank::MAX` says that no policy certainly applies.
            true => (&self.plan.whole().index, Rank::MAX),
            false => (&self.open, self.certain),
        }
    }

    /// Evaluates partially: relations that were not asked for, and attributes of resolvers, are not known.
    fn evaluated<'r>(
        &'r self,
        values: &'r [SlotValue<'r>],
        is_whole: bool,
        rule: Option<MatchedRuleId>,
    ) -> EvaluatedCandidate<'p, 'r> {
        let run = Run::new(&self.plan.whole().program, values);
        let mut search = PartialEvaluation::new(&self.plan.whole().conditions, run);
        let (index, found) = self.policies(is_whole);
        search.found = found;
        index.visit(&mut search);
        search.drop_outranked();
        let otherwise = self.decided(search.found, rule);
        search.drop_ineffective(otherwise.effect());
        EvaluatedCandidate { search, otherwise }
    }

    fn outcome(&self, evaluated: EvaluatedCandidate<'p, '_>) -> SearchOutcome<'p> {
        let EvaluatedCandidate { search, otherwise } = evaluated;
        let decision = OpenDecision::from_search(self.plan, search, otherwise.effect());
        SearchDependence::new(decision).map_or(otherwise, SearchOutcome::Conditional)
    }

    /// Returns the outcome if the policy of a rank decides, or the rules if there is none.
    fn decided(&self, rank: Rank, rule: Option<MatchedRuleId>) -> SearchOutcome<'p> {
        match self.plan.whole().policies.get(rank as usize) {
            Some(policy) if rule.is_some_and(|rule| precedes(rule, policy)) => {
                SearchOutcome::by_rule(rule)
            }
            Some(policy) if policy.effect == Effect::Allow => SearchOutcome::Allowed(policy.id),
            Some(_) => SearchOutcome::Denied,
            None => SearchOutcome::by_rule(rule),
        }
    }
}

/// A candidate, as far as it is decided.
struct EvaluatedCandidate<'p, 'v> {
    search: PartialEvaluation<'p, 'v>,
    /// The outcome if no open policy applies.
    otherwise: SearchOutcome<'p>,
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
