//! The rules and policies of a tenant that are in force.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use portcullis_directory::{
    AbsentClaim, Graph, RelationExplanation, RelationWork, TupleTable, resource_of,
};
use portcullis_engine::entities::EntityTable;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::relation::RelationTarget;
use portcullis_engine::types::Types;
use portcullis_engine::{
    AttributeAnswers, Check, DEFAULT_DENY, Datetimes, Invalid, Plan, Policy, Precedence,
    PropertySources, ResolverRef, ResourcePattern, RoleInclusions, Rule, RuleTuple, TenantFacts,
};
use uuid::Uuid;

use portcullis_model::policy::NewPolicy;
use portcullis_model::relation::{NewTuple, schema_of, with_tuples};
use portcullis_model::relation_declaration::RelationDeclarations;
use portcullis_model::resource::Registration;
use portcullis_model::rule::NewRule;

/// The rules and policies of a bundle that are in force, with ids. The ids depend on nothing but the
/// order of the files, like the ids of a service that stored them in this order.
#[derive(Debug)]
pub struct Rulebook {
    policies: Vec<Policy>,
    rules: Vec<Rule>,
    /// The roles that include others, the relations and references of types, and the source that goes first.
    facts: Arc<TenantFacts>,
    /// The relations of the types; `None` without types, or if their lines do not fit together.
    graph: Option<Arc<Graph>>,
    /// The people and resources of a folder.
    entities: EntityTable,
    /// The resolvers by namespace.
    resolvers: HashMap<String, ResolverRef>,
}

/// The memory for closures of subjects, in bytes.
const CLOSURE_BYTES: usize = 16 << 20;

impl Rulebook {
    pub(super) fn new(
        tenant: &str,
        resources: &[Registration],
        rules: &[NewRule],
        policies: &[NewPolicy],
    ) -> Self {
        // The nil id is left out, because the ids of a service are never zero.
        let mut ids = (1..).map(Uuid::from_u128);
        // Numbers go to enabled policies alone, in the order of the files.
        let enabled = policies.iter().filter(|policy| policy.enabled);
        let policies = enabled.zip(&mut ids).map(|(policy, id)| Policy {
            id,
            name: policy.name.clone(),
            resource: policy.resource.clone(),
            effect: policy.effect,
            priority: policy.priority,
            condition: Ok(policy.rule_data.condition.clone()),
        });
        // Collected here, so that the rules have the ids after them.
        let policies = policies.collect();
        let rules = rules_in_force(tenant, resources, rules).into_iter().zip(ids);
        let rules = rules.map(|(rule, id)| Rule { id, tuple: rule.tuple, effect: rule.effect });
        Self::from_stored(rules.collect(), policies)
    }

    /// Makes a rulebook of the rules and enabled policies that a service has stored.
    pub fn from_stored(rules: Vec<Rule>, policies: Vec<Policy>) -> Self {
        let entities = EntityTable::default();
        Self {
            policies,
            rules,
            facts: Arc::default(),
            graph: None,
            entities,
            resolvers: HashMap::new(),
        }
    }

    /// Returns the rulebook with roles that include others.
    #[must_use]
    pub fn with_inclusions(self, inclusions: RoleInclusions) -> Self {
        let facts = TenantFacts { inclusions, ..(*self.facts).clone() };
        Self { facts: Arc::new(facts), ..self }
    }

    /// Returns the rulebook with types. If they have relations, the subjects of rules can be relations. References lead to
    /// entities, and no other source counts: attributes of cases stand for what each would supply. Orders of date-times are
    /// undetermined.
    #[must_use]
    pub fn with_types(self, types: &Types) -> Self {
        let names = types.relations();
        // The text only identifies the relations, and nobody reads it.
        let relations = (!names.is_empty()).then(|| format!("{names:?}").into());
        let sources = PropertySources::of_references(types);
        let datetimes = Arc::new(Datetimes::from(types));
        let facts = TenantFacts { relations, sources, datetimes, ..(*self.facts).clone() };
        Self { facts: Arc::new(facts), ..self }
    }

    /// Returns the rulebook with other facts about the tenant.
    #[must_use]
    pub fn with_facts(self, facts: TenantFacts) -> Self {
        Self { facts: Arc::new(facts), ..self }
    }

    /// Returns the rulebook with resolvers, by namespace.
    #[must_use]
    pub fn with_resolvers(self, resolvers: HashMap<String, ResolverRef>) -> Self {
        Self { resolvers, ..self }
    }

    /// Returns the rulebook of a tenant with this setting `directory_wins`: tuples of a folder go before its requests, too.
    #[must_use]
    pub fn with_directory_wins(self, directory_wins: bool) -> Self {
        let facts = TenantFacts {
            directory: directory_wins.then_some(Precedence::Directory),
            ..(*self.facts).clone()
        };
        Self { facts: Arc::new(facts), ..self }
    }

    /// Returns the rulebook with the relations of types, by the names of the types, and no tuples. Lines that do not fit together
    /// give none: whoever takes types refuses them.
    #[must_use]
    pub fn with_relations<'t>(
        self,
        types: impl IntoIterator<Item = (&'t str, &'t RelationDeclarations)>,
    ) -> Self {
        let graph = schema_of(types).ok().map(|schema| {
            let tuples = TupleTable::default();
            Arc::new(Graph::new(Arc::new(schema), tuples, CLOSURE_BYTES))
        });
        Self { graph, ..self }
    }

    /// Returns the rulebook with entities.
    pub(super) fn with_entities(self, entities: EntityTable) -> Self {
        // A folder with entities has a directory. A setting that was read before keeps its precedence.
        let directory = self.facts.directory.or(Some(Precedence::default()));
        let facts = TenantFacts { directory, ..(*self.facts).clone() };
        Self { facts: Arc::new(facts), entities, ..self }
    }

    /// Returns the rulebook with another graph.
    pub(super) fn with_graph(self, graph: Option<Arc<Graph>>) -> Self {
        Self { graph, ..self }
    }

    /// Returns the relations that nobody can have, whatever is stored, each with its type.
    pub fn relations_of_nobody(&self) -> impl Iterator<Item = (&str, &str)> {
        let schemas = self.graph.iter().map(|graph| graph.schema());
        schemas.flat_map(|schema| {
            let relations = schema.without_subjects();
            relations.map(move |one| (schema.type_of(one), schema.name(one)))
        })
    }

    /// Returns the names of the relations of a type.
    pub(crate) fn relations_of(&self, kind: &str) -> impl Iterator<Item = &str> {
        let schemas = self.graph.iter().map(|graph| graph.schema());
        schemas.flat_map(move |schema| {
            let of_kind = schema.relations().filter(move |one| schema.type_of(*one) == kind);
            of_kind.map(|one| schema.name(one))
        })
    }

    /// Returns the claims whose absence leaves the relation of an attribute `relation.<name>` of these resources undetermined.
    pub fn claims_that_may_be_absent(
        &self,
        name: &str,
        resource: &ResourcePattern,
    ) -> BTreeSet<&str> {
        let schemas = self.graph.iter().map(|graph| graph.schema());
        let claims = schemas.flat_map(|schema| {
            let (named, relation) = match RelationTarget::parse(name) {
                RelationTarget::OfResource(relation) => (resource.object(), relation),
                RelationTarget::OfObject { object_type, relation, .. } => {
                    (Some(object_type), relation)
                }
            };
            // A pattern of any resource reaches the relation of this name in each type.
            let types = schema.type_names().filter(move |own| named.is_none_or(|one| one == *own));
            let relations = types.filter_map(move |own| schema.relation(own, relation));
            relations.flat_map(move |relation| schema.claims_of(relation))
        });
        let absent = claims.filter(|(_, claim)| claim.absent == AbsentClaim::Undetermined);
        absent.map(|(_, claim)| &*claim.name).collect()
    }

    /// Returns the graph with further tuples. Notes those that the relations do not allow.
    pub(super) fn assuming(
        &self,
        tuples: &[NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Arc<Graph>> {
        let known = self.graph.as_ref();
        // Without further tuples the graph is shared, and its closures stay in memory.
        let Some(known) = known.filter(|_| !tuples.is_empty()) else {
            if !tuples.is_empty() {
                problems.expected(at, "no tuples: no type has relations");
            }
            return known.cloned();
        };
        let (table, schema) = (known.table(), known.schema());
        // A new graph is made for the tuples, because closures of the old one do not hold with them.
        let table = with_tuples(table, schema, tuples, at, problems)?;
        Some(Arc::new(Graph::new(Arc::clone(schema), table, CLOSURE_BYTES)))
    }

    /// Returns the answers to the relations `names` of the subject of a check as it was sent to its resource, where the tuples
    /// of `case` count, too.
    ///
    /// # Errors
    /// The relations do not allow a tuple of the case.
    pub(crate) fn relation_answers(
        &self,
        sent: &Check<'_>,
        case: &[NewTuple],
        names: &[Box<str>],
    ) -> Result<AttributeAnswers, Invalid> {
        let (mut problems, root) = (Problems::default(), Place::root());
        let graph = self.assuming(case, &root.key("relations"), &mut problems);
        problems.into_result()?;
        let asked = (sent, resource_of(sent));
        let answers = graph
            .map(|graph| graph.answers(&self.facts, asked, names, &mut RelationWork::default()));
        Ok(answers.unwrap_or_default())
    }

    /// Calls `use_it` with each relation of the subject of a check as it was sent, and with its explanation, or the reason why it
    /// is undetermined. `answers` are those by which the check was decided.
    pub fn explain_relations<'n>(
        &self,
        sent: &Check<'_>,
        names: impl Iterator<Item = &'n str>,
        answers: &AttributeAnswers,
        use_it: impl FnMut(&'n str, Result<&RelationExplanation<'_>, &str>),
    ) {
        if let Some(graph) = &self.graph {
            graph.explain(&self.facts, sent, names, answers, use_it);
        }
    }

    /// The people and resources of a folder.
    pub fn entities(&self) -> &EntityTable {
        &self.entities
    }

    /// The facts that the plans share.
    pub fn facts(&self) -> &Arc<TenantFacts> {
        &self.facts
    }

    /// The roles that include others.
    pub fn inclusions(&self) -> &RoleInclusions {
        &self.facts.inclusions
    }

    /// The enabled policies.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// The rules, with the rules of default roles.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The plan that decides checks of `resource`.
    pub fn plan(&self, resource: &str) -> Plan {
        let matching = self.policies.iter().filter(|policy| policy.resource.matches(resource));
        let (policies, facts) = (matching.cloned(), Arc::clone(&self.facts));
        Plan::compile_with(resource, 1, &self.rules, policies, facts, |namespace| {
            self.resolvers.get(namespace).copied()
        })
    }

    /// Each policy and rule as cases name it, in the order of the ids.
    pub fn named(&self) -> impl Iterator<Item = (Uuid, String)> {
        let policies = self.policies.iter().map(|policy| (policy.id, policy.name.clone()));
        let rules = self.rules.iter().map(|rule| (rule.id, rule.tuple.to_string()));
        policies.chain(rules)
    }

    /// Returns the name that cases give to the policy or rule of a decision; `None` is the default.
    pub fn name(&self, id: Option<Uuid>) -> String {
        let Some(id) = id else { return DEFAULT_DENY.to_owned() };
        let policy = self.policies.iter().find(|policy| policy.id == id);
        let name = policy.map(|policy| policy.name.clone()).or_else(|| {
            let rule = self.rules.iter().find(|rule| rule.id == id)?;
            Some(rule.tuple.to_string())
        });
        name.unwrap_or_else(|| DEFAULT_DENY.to_owned())
    }
}

/// Notes the subject of the rule at `at` if it is marked as a relation and the types have none of this name.
pub fn check_subject(rule: &NewRule, types: &Types, at: &Place<'_>, problems: &mut Problems) {
    let RuleTuple { sub, obj, .. } = &rule.tuple;
    if let Some(expected) = types.relations().fault_of_subject(sub, obj) {
        problems.expected(&at.key("sub"), expected);
    }
}

/// The explicit rules, then those that the registrations make: one for each default role whose tuple has
/// no rule so far.
fn rules_in_force(tenant: &str, resources: &[Registration], rules: &[NewRule]) -> Vec<NewRule> {
    let mut rules = rules.to_vec();
    for resource in resources {
        for role in &resource.default_roles {
            let rule = resource.default_rule(role, tenant);
            if !rules.iter().any(|known| known.tuple == rule.tuple) {
                rules.push(rule);
            }
        }
    }
    rules
}
