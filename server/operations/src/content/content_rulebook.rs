//! The part of a tenant's content that decides, in memory.

use portcullis_bundle::Rulebook;
use portcullis_engine::types::PropertySource;
use portcullis_engine::{Precedence, PropertySources, RoleInclusions, Rule, TenantFacts};
use portcullis_model::policy::PolicyRecord;
use portcullis_model::role::RoleRecord;
use portcullis_model::rule::RuleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_storage::policies;

use super::tenant_content::TenantContent;
use super::types::compiled;

/// The records of a tenant that decide.
#[derive(Debug)]
pub(crate) struct DecidingRecords<'r> {
    pub(crate) rules: Vec<&'r RuleRecord>,
    /// The policies that are not enabled, too.
    pub(crate) policies: Vec<&'r PolicyRecord>,
    pub(crate) roles: Vec<&'r RoleRecord>,
    pub(crate) types: Vec<&'r TypeRecord>,
}

impl DecidingRecords<'_> {
    /// Returns the rules, enabled policies, inclusions of roles and relations, without entities.
    pub(crate) fn rulebook(self) -> Rulebook {
        let rules = self.rules.into_iter();
        let rules =
            rules.map(|rule| Rule { id: rule.id, tuple: rule.tuple.clone(), effect: rule.effect });
        let enabled = self.policies.into_iter().filter(|policy| policy.enabled);
        let policies = enabled.map(|policy| policies::planned(policy.clone()));
        let content = Rulebook::from_stored(rules.collect(), policies.collect());
        let roles = self.roles.into_iter().map(|role| (role.name.clone(), role.includes.clone()));
        let relations = self.types.iter().map(|one| (&*one.kind, &one.relations));
        let content = content.with_relations(relations);
        let types = compiled(self.types.iter().copied());
        content.with_inclusions(RoleInclusions::new(roles)).with_types(&types)
    }
}

/// Returns what decides in `content`, with the resolvers that its namespaces have, as checks use it. `has_entities` says
/// whether the tenant ever had an entity.
pub fn rulebook(content: &TenantContent, has_entities: bool) -> Rulebook {
    let records = DecidingRecords {
        rules: content.rules.iter().collect(),
        policies: content.policies.iter().collect(),
        roles: content.roles.iter().collect(),
        types: content.types.iter().collect(),
    };
    let rulebook = records.rulebook();
    let first = match content.settings.directory_wins {
        true => Precedence::Directory,
        false => Precedence::Request,
    };
    let directory = has_entities.then_some(first);
    let sources = sources(&content.types);
    let terms = content.settings.checks;
    let facts = TenantFacts { directory, sources, terms, ..(**rulebook.facts()).clone() };
    let resolvers = content.resolvers.iter();
    let resolvers = resolvers.map(|one| (one.manifest.namespace.clone(), one.reference()));
    rulebook.with_facts(facts).with_resolvers(resolvers.collect())
}

/// Returns the properties that are taken from one place alone.
fn sources(types: &[TypeRecord]) -> PropertySources {
    let of_type = |one: &TypeRecord| {
        let of_one = one.properties.iter();
        let sources: Vec<(String, PropertySource)> =
            of_one.filter_map(|(name, one)| Some((name.clone(), one.from?))).collect();
        (one.kind.clone(), sources)
    };
    types.iter().map(of_type).filter(|(_, sources)| !sources.is_empty()).collect()
}
