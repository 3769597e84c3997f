//! The records of a tenant as plans need them: the columns that no plan reads take time to read, too.
//!
//! The database gives all records as one text, in which the length of each column stands before it: a row of its own for
//! each record takes longer to read than all the rest of it.

use std::collections::BTreeSet;

use portcullis_engine::{Effect, Format, Policy, ResourcePattern, Rule, RuleTuple};
use uuid::Uuid;

use crate::error::StoreError;
use crate::macros::{fetch_all, fetch_optional};
use crate::tx::{Inner, Tx};

/// Columns, each with its length before it: `<bytes>:<text>`.
struct Columns<'t>(&'t str);

impl<'t> Columns<'t> {
    /// Takes the next column; `None` at the end, or if the text has another form.
    fn next(&mut self) -> Option<&'t str> {
        let (length, rest) = self.0.split_once(':')?;
        let (column, rest) = rest.split_at_checked(length.parse().ok()?)?;
        self.0 = rest;
        Some(column)
    }
}

/// Lists all rules that can match `resource`, as a plan needs them, in no order.
pub async fn rules(tx: &mut Tx, resource: &str) -> Result<Vec<Rule>, StoreError> {
    const SQLITE: &str = "SELECT string_agg('32:' || hex(id) || octet_length(sub) || ':' || sub \
        || octet_length(dom) || ':' || dom || octet_length(obj) || ':' || obj \
        || octet_length(act) || ':' || act || octet_length(effect) || ':' || effect, '') \
        FROM rbac_rules WHERE tenant_id = $1 AND obj IN ($2, $3, $4)";
    const POSTGRES: &str = "SELECT string_agg('36:' || id || octet_length(sub) || ':' || sub \
        || octet_length(dom) || ':' || dom || octet_length(obj) || ':' || obj \
        || octet_length(act) || ':' || act || octet_length(effect) || ':' || effect, '') \
        FROM rbac_rules WHERE tenant_id = $1 AND obj IN ($2, $3, $4)";
    let text = read(tx, resource, [SQLITE, POSTGRES]).await?;
    let (mut columns, mut rules) = (Columns(&text), Vec::new());
    while !columns.0.is_empty() {
        rules.push(rule(&mut columns).ok_or(StoreError::Corrupt { what: "rbac_rules" })?);
    }
    Ok(rules)
}

fn rule(columns: &mut Columns<'_>) -> Option<Rule> {
    let id = Uuid::try_parse(columns.next()?).ok()?;
    let [sub, dom] = [columns.next()?.to_owned(), columns.next()?.to_owned()];
    let obj = ResourcePattern::parse(columns.next()?)?;
    let act = columns.next()?.to_owned();
    let effect = Effect::parse(columns.next()?)?;
    Some(Rule { id, tuple: RuleTuple { sub, dom, obj, act }, effect })
}

/// The enabled policies that can match a resource, as they are stored.
#[derive(Debug)]
pub struct StoredPolicies(String);

/// An enabled policy as it is stored.
#[derive(Debug)]
pub struct StoredPolicy<'t> {
    id: Uuid,
    name: &'t str,
    resource: ResourcePattern,
    effect: Effect,
    format: Format,
    priority: i32,
    rule_data: &'t str,
}

impl StoredPolicies {
    /// Returns each policy.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub fn list(&self) -> Result<Vec<StoredPolicy<'_>>, StoreError> {
        let (mut columns, mut policies) = (Columns(&self.0), Vec::new());
        while !columns.0.is_empty() {
            let policy = StoredPolicy::read(&mut columns);
            policies.push(policy.ok_or(StoreError::Corrupt { what: "abac_policies" })?);
        }
        Ok(policies)
    }
}

impl<'t> StoredPolicy<'t> {
    fn read(columns: &mut Columns<'t>) -> Option<Self> {
        Some(Self {
            id: Uuid::try_parse(columns.next()?).ok()?,
            name: columns.next()?,
            resource: ResourcePattern::parse(columns.next()?)?,
            effect: Effect::parse(columns.next()?)?,
            format: Format::parse(columns.next()?)?,
            priority: columns.next()?.parse().ok()?,
            rule_data: columns.next()?,
        })
    }

    /// Returns the policy as plans need it. Reads its condition, which takes time in proportion to its size.
    pub fn policy(&self) -> Policy {
        Policy {
            id: self.id,
            name: self.name.to_owned(),
            resource: self.resource.clone(),
            effect: self.effect,
            priority: self.priority,
            condition: Policy::stored_condition(self.format, self.rule_data),
        }
    }
}

/// Reads the enabled policies that can match `resource`, in no order.
pub async fn policies(tx: &mut Tx, resource: &str) -> Result<StoredPolicies, StoreError> {
    const SQLITE: &str = "SELECT string_agg('32:' || hex(id) || octet_length(name) || ':' || name \
        || octet_length(resource) || ':' || resource || octet_length(effect) || ':' || effect \
        || octet_length(format) || ':' || format || length(priority) || ':' || priority \
        || octet_length(rule_data) || ':' || rule_data, '') FROM abac_policies \
        WHERE tenant_id = $1 AND deleted_at IS NULL AND enabled AND resource IN ($2, $3, $4)";
    const POSTGRES: &str = "SELECT string_agg('36:' || id || octet_length(name) || ':' || name \
        || octet_length(resource) || ':' || resource || octet_length(effect) || ':' || effect \
        || octet_length(format) || ':' || format \
        || length(CAST(priority AS TEXT)) || ':' || priority \
        || octet_length(rule_data) || ':' || rule_data, '') FROM abac_policies \
        WHERE tenant_id = $1 AND deleted_at IS NULL AND enabled AND resource IN ($2, $3, $4)";
    Ok(StoredPolicies(read(tx, resource, [SQLITE, POSTGRES]).await?))
}

/// Runs the statement of the database of the transaction for the patterns that match `resource`.
async fn read(
    tx: &mut Tx,
    resource: &str,
    [sqlite, postgres]: [&'static str; 2],
) -> Result<String, StoreError> {
    let sql = match &tx.inner {
        Inner::Sqlite(_) => sqlite,
        Inner::Postgres(_) => postgres,
    };
    let [exact, name, any] = ResourcePattern::matching(resource);
    let row = fetch_optional!(tx, (Option<String>,), sql, &tx.tenant, exact, name, any)?;
    Ok(row.and_then(|(text,)| text).unwrap_or_default())
}

/// Lists the resource patterns that rules and policies have, at most `limit`, each once.
pub async fn patterns(tx: &mut Tx, limit: u16) -> Result<Vec<String>, StoreError> {
    // Each step looks the next pattern up in the index. `DISTINCT` would read every rule.
    const OF_RULES: &str = "WITH RECURSIVE used (pattern) AS ( \
        SELECT MIN(obj) FROM rbac_rules WHERE tenant_id = $1 UNION ALL \
        SELECT (SELECT MIN(obj) FROM rbac_rules WHERE tenant_id = $1 AND obj > used.pattern) \
        FROM used WHERE used.pattern IS NOT NULL) \
        SELECT pattern FROM used WHERE pattern IS NOT NULL LIMIT $2";
    const OF_POLICIES: &str = "WITH RECURSIVE used (pattern) AS ( \
        SELECT MIN(resource) FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        UNION ALL SELECT (SELECT MIN(resource) FROM abac_policies WHERE tenant_id = $1 \
        AND deleted_at IS NULL AND resource > used.pattern) \
        FROM used WHERE used.pattern IS NOT NULL) \
        SELECT pattern FROM used WHERE pattern IS NOT NULL LIMIT $2";
    let mut patterns = BTreeSet::new();
    for sql in [OF_RULES, OF_POLICIES] {
        let rows = fetch_all!(tx, (String,), sql, &tx.tenant, i64::from(limit))?;
        patterns.extend(rows.into_iter().map(|(pattern,)| pattern));
    }
    Ok(patterns.into_iter().take(usize::from(limit)).collect())
}
