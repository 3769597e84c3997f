//! The tenants of a measurement.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_bundle::Bundle;
use portcullis_config::Variables;
use portcullis_engine::{AttributeAnswers, Plan, Policy, ResourcePattern, Rule, TenantFacts};

use crate::bench::unusable::Unusable;
use crate::policy_test::{self, TenantFolder};

/// A tenant folder that was read.
#[derive(Debug)]
pub(super) struct MeasuredFolder {
    folder: PathBuf,
    bundle: Bundle,
    /// The answers of resolvers to each case.
    answers: Vec<AttributeAnswers>,
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
        // A resource has few patterns that match it, so a look-up of each replaces a search of all rules.
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
        // No namespace has a resolver here: their attributes come with the checks, or are undetermined.
        Plan::compile_with(resource, 0, &rules, policies, Arc::clone(&self.facts), |_| None)
    }
}

/// Reads the tenant of the folder `path`, or of the folders in it. Calls the resolvers for the cases.
pub(super) async fn read(
    path: &Path,
    variables: &Variables,
) -> anyhow::Result<Vec<MeasuredFolder>> {
    let found = policy_test::read_all(&[path.to_owned()]).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Unusable::error(lines.join("\n"))
    })?;
    let mut folders = Vec::with_capacity(found.len());
    for found in found {
        let answers = policy_test::answers(&found, variables).await;
        let answers = answers.map_err(|error| Unusable::error(error.to_string()))?;
        let TenantFolder { folder, bundle } = found;
        folders.push(MeasuredFolder { folder, bundle, answers });
    }
    Ok(folders)
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
        // The constructor serves every kind of source, so what a folder adds is put in here.
        tenants.push(Tenant { answers, facts, ..tenant });
    }
    Ok(tenants)
}
