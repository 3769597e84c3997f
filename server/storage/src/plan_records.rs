//! The records of a tenant as plans need them: the columns that no plan reads take time to read, too.

use portcullis_engine::{Effect, Format, Policy, ResourcePattern, Rule, RuleTuple};
use uuid::Uuid;

use crate::error::StoreError;
use crate::macros::{fetch_all, from_row};
use crate::tx::Tx;

/// The columns of a rule that a plan needs. The others take time to read.
struct RuleRow {
    id: Uuid,
    sub: String,
    dom: String,
    obj: String,
    act: String,
    effect: String,
}

from_row!(RuleRow { id, sub, dom, obj, act, effect });

impl TryFrom<RuleRow> for Rule {
    type Error = StoreError;

    fn try_from(row: RuleRow) -> Result<Self, StoreError> {
        let RuleRow { id, sub, dom, obj, act, effect } = row;
        let corrupt = |what| StoreError::Corrupt { what };
        let obj = ResourcePattern::parse(&obj).ok_or(corrupt("rbac_rules.obj"))?;
        let effect = Effect::parse(&effect).ok_or(corrupt("rbac_rules.effect"))?;
        Ok(Self { id, tuple: RuleTuple { sub, dom, obj, act }, effect })
    }
}

/// Lists all rules that can match `resource`, as a plan needs them, in no order.
pub async fn rules(tx: &mut Tx, resource: &str) -> Result<Vec<Rule>, StoreError> {
    // In the order of the index of tuples: for another order SQLite would read every rule of the tenant.
    const SQL: &str = "SELECT id, sub, dom, obj, act, effect FROM rbac_rules WHERE tenant_id = $1 \
        AND obj IN ($2, $3, $4) ORDER BY obj, sub, dom, act";
    let [exact, name, any] = ResourcePattern::matching(resource);
    let rows = fetch_all!(tx, RuleRow, SQL, &tx.tenant, exact, name, any)?;
    rows.into_iter().map(Rule::try_from).collect()
}

/// The columns of a policy that a plan needs. The others take time to read.
#[derive(Debug)]
struct PolicyRow {
    id: Uuid,
    name: String,
    resource: String,
    effect: String,
    format: String,
    rule_data: String,
    priority: i32,
}

from_row!(PolicyRow { id, name, resource, effect, format, rule_data, priority });

/// An enabled policy as it is stored.
#[derive(Debug)]
pub struct StoredPolicy {
    row: PolicyRow,
    resource: ResourcePattern,
    effect: Effect,
    format: Format,
}

impl TryFrom<PolicyRow> for StoredPolicy {
    type Error = StoreError;

    fn try_from(row: PolicyRow) -> Result<Self, StoreError> {
        let corrupt = |what| StoreError::Corrupt { what };
        let resource = ResourcePattern::parse(&row.resource);
        Ok(Self {
            resource: resource.ok_or(corrupt("abac_policies.resource"))?,
            effect: Effect::parse(&row.effect).ok_or(corrupt("abac_policies.effect"))?,
            format: Format::parse(&row.format).ok_or(corrupt("abac_policies.format"))?,
            row,
        })
    }
}

impl StoredPolicy {
    /// Returns the policy as plans need it. Reads its condition, which takes time in proportion to its size.
    pub fn policy(self) -> Policy {
        let Self { row, resource, effect, format } = self;
        Policy {
            id: row.id,
            name: row.name,
            resource,
            effect,
            priority: row.priority,
            condition: Policy::stored_condition(format, &row.rule_data),
        }
    }
}

/// Lists the enabled policies that can match `resource`, in no order.
pub async fn policies(tx: &mut Tx, resource: &str) -> Result<Vec<StoredPolicy>, StoreError> {
    // In the order of the index: for another order SQLite would read every policy of the tenant.
    const SQL: &str = "SELECT id, name, resource, effect, format, rule_data, priority \
        FROM abac_policies WHERE tenant_id = $1 AND deleted_at IS NULL \
        AND enabled AND resource IN ($2, $3, $4) ORDER BY resource";
    let [exact, name, any] = ResourcePattern::matching(resource);
    let rows = fetch_all!(tx, PolicyRow, SQL, &tx.tenant, exact, name, any)?;
    rows.into_iter().map(StoredPolicy::try_from).collect()
}
