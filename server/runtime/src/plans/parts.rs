//! Reads and compiles many plans of a tenant at once. One snapshot, and one statement for each kind of record, serve all of
//! them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use portcullis_engine::resource::object_of;
use portcullis_engine::{Plan, Policy, Rule, TenantFacts};
use portcullis_fairness::run_to_end;
use portcullis_plan_cache::{CachedPlan, WILDCARD};
use portcullis_storage::plan_records::{self, StoredRules};
use portcullis_storage::{HistoryPosition, ReadSource, Store, StoreError, Tx};

use super::load::{Resolvers, facts_of, names_for, read_conditions, read_policies};

/// The most patterns of a part.
const MAX_PATTERNS: u16 = 256;
/// The bytes of rules and policies after which a part ends. They take some tens of milliseconds to compile.
const MAX_BYTES: i64 = 1 << 20;

/// Some patterns of a tenant that follow one another.
#[derive(Debug)]
pub(super) struct PatternRange {
    /// In order, without `*`.
    pub(super) patterns: Vec<String>,
    /// The last pattern, from which the next part begins; `None` if there are no more.
    pub(super) last: Option<String>,
}

/// A plan to make, and the plan with which it shares rules and policies.
pub(super) type Wanted = (String, Arc<CachedPlan>);

/// The records of plans in one snapshot.
#[derive(Debug)]
pub(super) struct PartRecords {
    pub(super) position: HistoryPosition,
    pub(super) source: ReadSource,
    pub(super) facts: TenantFacts,
    resolvers: Resolvers,
    rules: HashMap<String, Vec<Rule>>,
    policies: HashMap<String, Vec<Policy>>,
    /// The plans that can be made: those whose broader plan is valid in the snapshot.
    wanted: Vec<Wanted>,
}

/// Reads the names of the patterns of the part after `after`.
pub(super) async fn next(
    store: &Store,
    tenant: &str,
    after: &str,
) -> Result<PatternRange, StoreError> {
    let (store, tenant, after) = (store.clone(), tenant.to_owned(), after.to_owned());
    let reading = async move {
        let (mut tx, ..) = store.read_recent(&tenant).await?;
        let sizes = plan_records::patterns_after(&mut tx, &after, MAX_PATTERNS).await?;
        tx.end().await?;
        Ok(PatternRange::new(sizes))
    };
    run_to_end(reading).await?
}

impl PatternRange {
    fn new(sizes: Vec<(String, i64)>) -> Self {
        // A full list may not be all: only a shorter one says that no pattern follows.
        let is_whole = sizes.len() < usize::from(MAX_PATTERNS);
        let (all, mut bytes) = (sizes.len(), 0);
        // The first pattern always fits, whatever its size, so that a pass comes to its end.
        let fitting = sizes.into_iter().take_while(|(_, size)| {
            let fits = bytes < MAX_BYTES;
            bytes += size;
            fits
        });
        let mut patterns: Vec<String> = fitting.map(|(pattern, _)| pattern).collect();
        let is_last = is_whole && patterns.len() == all;
        let last = patterns.last().filter(|_| !is_last).cloned();
        // The plan of `*` is made before all others.
        patterns.retain(|pattern| pattern != WILDCARD);
        Self { patterns, last }
    }
}

/// Reads the records of the plans in `wanted`, which are in order and follow `after`, in one snapshot.
pub(super) async fn read(
    store: Store,
    tenant: String,
    after: String,
    mut wanted: Vec<Wanted>,
) -> Result<PartRecords, StoreError> {
    let last = wanted.last().map(|(pattern, _)| pattern.clone()).unwrap_or_default();
    let (mut tx, position, source) = store.read_recent(&tenant).await?;
    wanted.retain(|(_, broader)| broader.is_valid_at(broader.plan().resource(), position.revision));
    let mut rules = by_pattern(&plan_records::rules_between(&mut tx, &after, &last).await?)?;
    let records = plan_records::policies_between(&mut tx, &after, &last).await?;
    let mut policies: HashMap<String, Vec<Policy>> = HashMap::new();
    let names = names_for(&mut tx, &records).await?;
    for policy in read_conditions(&records.list()?, &names) {
        policies.entry(policy.resource.to_string()).or_default().push(policy);
    }
    let around = unshared(&mut tx, &wanted).await?;
    for (pattern, broader) in &wanted {
        let broader = broader.plan();
        // Something is on `<name>:*` that the broader plan, the one of `*`, does not have.
        let is_around = around.contains(&pattern_around(pattern));
        if is_around {
            let all = plan_records::rules(&mut tx, pattern, Some(WILDCARD)).await?.list()?;
            rules.insert(pattern.clone(), all);
        }
        // A plan with its own policies shares none, so that it needs those of the broader one, too.
        if is_around || broader.has_policies() && policies.contains_key(pattern) {
            let all = read_policies(&mut tx, pattern, Some(broader)).await?;
            let names = names_for(&mut tx, &all).await?;
            policies.insert(pattern.clone(), read_conditions(&all.list()?, &names));
        }
    }
    let (facts, resolvers) = facts_of(plan_records::facts(&mut tx).await?);
    tx.end().await?;
    Ok(PartRecords { position, source, facts, resolvers, rules, policies, wanted })
}

/// Returns the patterns `<name>:*` on which there is something, and whose plans those of their resources in `wanted` do not
/// share.
async fn unshared(tx: &mut Tx, wanted: &[Wanted]) -> Result<BTreeSet<String>, StoreError> {
    let of_all = wanted.iter().filter(|(_, broader)| broader.plan().resource() == WILDCARD);
    let around = of_all.map(|(pattern, _)| (pattern, pattern_around(pattern)));
    let around: BTreeSet<String> =
        around.filter(|(pattern, around)| *pattern != around).map(|(_, around)| around).collect();
    plan_records::used_patterns(tx, &around).await
}

fn pattern_around(resource: &str) -> String {
    format!("{}:{WILDCARD}", object_of(resource))
}

fn by_pattern(rules: &StoredRules) -> Result<HashMap<String, Vec<Rule>>, StoreError> {
    let mut by_pattern: HashMap<String, Vec<Rule>> = HashMap::new();
    for rule in rules.list()? {
        by_pattern.entry(rule.tuple.obj.to_string()).or_default().push(rule);
    }
    Ok(by_pattern)
}

impl PartRecords {
    /// Compiles the plans. All have these facts about their tenant.
    pub(super) fn compile(mut self, facts: &Arc<TenantFacts>) -> Vec<Plan> {
        let revision = self.position.revision;
        let plans = self.wanted.iter().map(|(pattern, broader)| {
            let rules = self.rules.remove(pattern).unwrap_or_default();
            let policies = self.policies.remove(pattern).unwrap_or_default();
            let facts = Arc::clone(facts);
            let plan =
                Plan::compile_with(pattern, revision, &rules, policies, facts, |namespace| {
                    self.resolvers.get(namespace).copied()
                });
            plan.over(broader.plan())
        });
        plans.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_before_what_is_too_much_and_has_one_pattern_at_least() {
        let part = |sizes: &[(&str, i64)]| {
            let sizes = sizes.iter().map(|(pattern, bytes)| ((*pattern).to_owned(), *bytes));
            let PatternRange { patterns, last } = PatternRange::new(sizes.collect());
            (patterns.join(" "), last)
        };
        assert_eq!(part(&[]), (String::new(), None));
        assert_eq!(part(&[("*", 1), ("a:b", 1)]), ("a:b".to_owned(), None));
        let large = [("a:b", MAX_BYTES), ("a:c", 1)];
        assert_eq!(part(&large), ("a:b".to_owned(), Some("a:b".to_owned())));
        let many: Vec<(String, i64)> =
            (0..i64::from(MAX_PATTERNS)).map(|it| (format!("{it}:x"), 1)).collect();
        assert!(PatternRange::new(many).last.is_some(), "there may be more");
    }
}
