//! The tenants of a measurement.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use portcullis_engine::{AttributeAnswers, Plan, Policy, ResourcePattern, Rule, TenantFacts};

use crate::unusable::Unusable;
use portcullis_bundle::Bundle;

/// A tenant folder that was read.
#[derive(Debug)]
pub struct MeasuredFolder {
    pub folder: PathBuf,
    pub bundle: Bundle,
    /// The answers of resolvers to each case.
    pub answers: Vec<AttributeAnswers>,
}

/// A tenant with its rules and policies.
#[derive(Debug)]
pub(super) struct Tenant {
    /// The id in the database.
    pub(super) id: String,
    /// The domain of checks that have none.
    pub(super) domain: String,
    pub(super) rules: Vec<Rule>,
    /// The enabled policies.
    pub(super) policies: Vec<Policy>,
    /// The roles that include others.
    pub(super) facts: Arc<TenantFacts>,
    /// The positions of rules and of policies, by their resource pattern.
    by_pattern: HashMap<String, [Vec<usize>; 2]>,
    /// The files, if it comes from a folder.
    pub(super) bundle: Option<Bundle>,
    /// The answers of resolvers to each case of the files.
    pub(super) answers: Vec<AttributeAnswers>,
}

impl Tenant {
    pub(super) fn new(
        id: String,
        domain: Option<&str>,
        rules: Vec<Rule>,
        policies: Vec<Policy>,
        bundle: Option<Bundle>,
    ) -> Self {
        let mut by_pattern: HashMap<String, [Vec<usize>; 2]> = HashMap::new();
        for (index, rule) in rules.iter().enumerate() {
            by_pattern.entry(rule.tuple.obj.to_string()).or_default()[0].push(index);
        }
        for (index, policy) in policies.iter().enumerate() {
            by_pattern.entry(policy.resource.to_string()).or_default()[1].push(index);
        }
        let domain = domain.unwrap_or(&id).to_owned();
        let facts = Arc::default();
        Self { id, domain, rules, policies, facts, by_pattern, bundle, answers: Vec::new() }
    }

    /// Returns copies of the rules and policies that can decide `resource`, like a database.
    pub(super) fn deciding(&self, resource: &str) -> (Vec<Rule>, Vec<Policy>) {
        let (mut rules, mut policies) = (Vec::new(), Vec::new());
        for pattern in ResourcePattern::matching(resource) {
            let Some([own_rules, own_policies]) = self.by_pattern.get(&pattern) else { continue };
            rules.extend(own_rules.iter().map(|&index| self.rules[index].clone()));
            policies.extend(own_policies.iter().map(|&index| self.policies[index].clone()));
        }
        (rules, policies)
    }

    /// Compiles the plan of `resource`.
    pub(super) fn plan(&self, resource: &str) -> Plan {
        let (rules, policies) = self.deciding(resource);
        Plan::compile_with(resource, 0, &rules, policies, Arc::clone(&self.facts), |_| None)
    }
}

/// Returns the tenants of `folders`.
pub(super) fn from_folders(
    folders: Vec<MeasuredFolder>,
    domain: Option<&str>,
) -> anyhow::Result<Vec<Tenant>> {
    let mut tenants: Vec<Tenant> = Vec::new();
    for MeasuredFolder { folder, bundle, answers } in folders {
        let id = bundle.tenant.clone();
        if tenants.iter().any(|tenant| tenant.id == id) {
            let what =
                format!("{}: another folder already has the tenant `{id}`", folder.display());
            return Err(Unusable::error(what));
        }
        let book = &bundle.rulebook;
        let (rules, policies) = (book.rules().to_vec(), book.policies().to_vec());
        let facts = Arc::clone(book.facts());
        let tenant = Tenant::new(id, domain, rules, policies, Some(bundle));
        tenants.push(Tenant { answers, facts, ..tenant });
    }
    Ok(tenants)
}
