//! The rules and policies that decide together, found by resource.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use portcullis_engine::relation::relation_of_subject;
use portcullis_engine::{
    Condition, Plan, Policy, ResourcePattern, RoleInclusions, Rule, TenantFacts, expression,
};
use uuid::Uuid;

use super::roles_in::roles_in;
use crate::rulebook::Rulebook;

/// The rules and enabled policies of a tenant, with the roles that include others and the resources that are registered.
pub struct DecisionSet<'s> {
    /// By resource pattern, as text.
    by_pattern: BTreeMap<String, Matching<'s>>,
    policies: HashMap<Uuid, &'s Policy>,
    registered: BTreeSet<&'s str>,
    pub(super) inclusions: &'s RoleInclusions,
    facts: &'s Arc<TenantFacts>,
}

/// The rules and policies of one pattern, or of several that match one resource.
#[derive(Default)]
pub(super) struct Matching<'s> {
    pub(super) rules: Vec<&'s Rule>,
    pub(super) policies: Vec<&'s Policy>,
    /// The facts of the tenant, for the plan.
    facts: Arc<TenantFacts>,
}

/// A rule or policy as far as it decides, as text.
type Content = [String; 5];

impl<'s> DecisionSet<'s> {
    /// Collects what decides.
    pub fn new(rulebook: &'s Rulebook, registered: impl IntoIterator<Item = &'s str>) -> Self {
        let (rules, policies) = (rulebook.rules(), rulebook.policies());
        let mut by_pattern: BTreeMap<String, Matching<'s>> = BTreeMap::new();
        for rule in rules {
            by_pattern.entry(rule.tuple.obj.to_string()).or_default().rules.push(rule);
        }
        for policy in policies {
            by_pattern.entry(policy.resource.to_string()).or_default().policies.push(policy);
        }
        let policies = policies.iter().map(|policy| (policy.id, policy)).collect();
        let registered = registered.into_iter().collect();
        let (inclusions, facts) = (rulebook.inclusions(), rulebook.facts());
        Self { by_pattern, policies, registered, inclusions, facts }
    }

    /// Returns the resources that are registered, or that a rule or policy names, and the patterns that stand for those
    /// that nothing names.
    pub(super) fn resources(&self) -> impl Iterator<Item = &str> {
        self.registered.iter().copied().chain(self.by_pattern.keys().map(String::as_str))
    }

    /// Returns the rules and policies that match `resource`.
    pub(super) fn matching(&self, resource: &str) -> Matching<'s> {
        let mut all = Matching { facts: Arc::clone(self.facts), ..Matching::default() };
        for pattern in patterns_of(resource) {
            if let Some(of_pattern) = self.by_pattern.get(&pattern) {
                all.rules.extend(&of_pattern.rules);
                all.policies.extend(&of_pattern.policies);
            }
        }
        all
    }

    /// Returns the policy of an id.
    pub(super) fn policy(&self, id: Uuid) -> Option<&'s Policy> {
        self.policies.get(&id).copied()
    }

    /// Returns the patterns whose rules or policies differ between two sets, or that name a role which another role includes
    /// in one of them alone.
    pub(super) fn changed_patterns<'p>(&'p self, other: &'p DecisionSet<'_>) -> BTreeSet<&'p str> {
        let all = self.by_pattern.keys().chain(other.by_pattern.keys());
        let moved = self.moved_roles(other);
        let changed = all.map(String::as_str).filter(|pattern| {
            self.contents(pattern) != other.contents(pattern)
                || [self, other].into_iter().any(|set| set.names_any(pattern, &moved))
        });
        changed.collect()
    }

    fn contents(&self, pattern: &str) -> BTreeSet<Content> {
        self.by_pattern.get(pattern).map(Matching::contents).unwrap_or_default()
    }

    /// Returns whether a rule or condition of a pattern names one of the roles.
    fn names_any(&self, pattern: &str, roles: &BTreeSet<&str>) -> bool {
        // Most changes move no role, and collecting the roles of a pattern reads its conditions.
        let matching = self.by_pattern.get(pattern).filter(|_| !roles.is_empty());
        matching.is_some_and(|matching| !matching.roles().is_disjoint(roles))
    }

    /// Returns the roles that rules and conditions name and that another role includes in one of two sets alone.
    fn moved_roles<'p>(&'p self, other: &'p DecisionSet<'_>) -> BTreeSet<&'p str> {
        if self.inclusions == other.inclusions {
            return BTreeSet::new();
        }
        let all = self.by_pattern.values().chain(other.by_pattern.values());
        let named: BTreeSet<&str> = all.flat_map(Matching::roles).collect();
        let mut including = named.clone();
        self.inclusions.add_including(&mut including);
        other.inclusions.add_including(&mut including);
        let mut moved = BTreeSet::new();
        for role in including {
            let included = [self, other].map(|set| set.inclusions.expand([role].into_iter()));
            let [old, new] = included.map(BTreeSet::from_iter);
            moved.extend(old.symmetric_difference(&new).filter(|role| named.contains(*role)));
        }
        moved
    }
}

impl<'s> Matching<'s> {
    /// Returns the actions that rules and policies on exactly `resource` name.
    pub(super) fn actions_of(&self, resource: &str) -> Vec<&'s str> {
        let rules = self.rules.iter().filter(|rule| rule.tuple.obj.to_string() == resource);
        let mut actions: Vec<&str> = rules.map(|rule| &*rule.tuple.act).collect();
        let policies = self.policies.iter().filter(|one| one.resource.to_string() == resource);
        for condition in policies.filter_map(|policy| policy.condition.as_ref().ok()) {
            actions.extend(condition.named_actions());
        }
        actions
    }

    /// Returns whether the tenant has relations.
    pub(super) fn has_relations(&self) -> bool {
        self.facts.relations.is_some()
    }

    /// Returns the subjects of the rules, and the roles that the conditions name.
    pub(super) fn roles(&self) -> BTreeSet<&'s str> {
        let has_relations = self.has_relations();
        let subjects = self.rules.iter().map(|rule| &*rule.tuple.sub);
        // Without relations, a subject that is spelled like one is a plain text.
        let mut roles: BTreeSet<&str> =
            subjects.filter(|sub| !has_relations || relation_of_subject(sub).is_none()).collect();
        let conditions = self.policies.iter().filter_map(|it| it.condition.as_ref().ok());
        for condition in conditions {
            roles_in(condition, &mut roles);
        }
        roles
    }

    /// Compiles the plan of `resource`, which all of these match.
    pub(super) fn plan(&self, resource: &str) -> Plan {
        let rules: Vec<Rule> = self.rules.iter().copied().cloned().collect();
        let policies = self.policies.iter().copied().cloned();
        Plan::compile_with(resource, 0, &rules, policies, Arc::clone(&self.facts), |_| None)
    }

    /// Returns what decides in these, with the conditions that policies use by name: no ids, no names of policies, no order.
    fn contents(&self) -> BTreeSet<Content> {
        let rules = self.rules.iter().map(|rule| rule_content(rule));
        let policies = self.policies.iter().map(|policy| policy_content(policy));
        let mut named = BTreeMap::new();
        for condition in self.policies.iter().filter_map(|policy| policy.condition.as_ref().ok()) {
            add_named(condition, &mut named);
        }
        let named = named.into_iter().map(|(name, meaning)| named_content(name, meaning));
        rules.chain(policies).chain(named).collect()
    }
}

/// Adds the conditions that a condition uses by name, also through others.
fn add_named<'c>(condition: &'c Condition, named: &mut BTreeMap<&'c str, &'c Condition>) {
    for used in condition.uses_of_names() {
        if let Some(meaning) = used.meaning()
            && named.insert(used.name(), meaning).is_none()
        {
            add_named(meaning, named);
        }
    }
}

fn named_content(name: &str, meaning: &Condition) -> Content {
    // No effect is empty, so that no policy looks like this.
    let [effect, priority, resource] = [const { String::new() }; 3];
    [effect, priority, resource, name.to_owned(), expression::print(meaning)]
}

fn rule_content(rule: &Rule) -> Content {
    let tuple = rule.tuple.clone();
    [rule.effect.to_string(), tuple.sub, tuple.dom, tuple.obj.to_string(), tuple.act]
}

fn policy_content(policy: &Policy) -> Content {
    let condition = policy.condition.as_ref().map(expression::print);
    [
        policy.effect.to_string(),
        policy.priority.to_string(),
        policy.resource.to_string(),
        // No resource is empty, so that no rule looks like this.
        String::new(),
        condition.unwrap_or_default(),
    ]
}

/// Returns every pattern that matches `resource`, which may be a pattern itself, once each.
pub(super) fn patterns_of(resource: &str) -> BTreeSet<String> {
    ResourcePattern::matching(resource).into()
}
