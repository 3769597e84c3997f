//! The rules and policies of the measured tenants.

use portcullis_engine::{Effect, Format, ResourcePattern, RuleTuple};
use portcullis_model::policy::{PolicyRecord, RuleData};
use portcullis_model::rule::{RuleOrigin, RuleRecord};
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::bulk::{RecordWrite, write_policies, write_rules};
use portcullis_storage::{Store, Tx};
use serde_json::json;
use uuid::Uuid;

/// Records of one tenant, spread over resources.
#[derive(Clone, Copy)]
pub(crate) struct Records {
    pub(crate) rules: usize,
    pub(crate) policies: usize,
    pub(crate) resources: usize,
}

pub(crate) fn by() -> Authorship {
    Authorship { actor: "bench".to_owned(), at: Timestamp::from_millis(1_000) }
}

pub(crate) fn resource(number: usize) -> String {
    format!("document-{number}:read")
}

fn pattern(number: usize) -> ResourcePattern {
    ResourcePattern::Exact(resource(number))
}

pub(crate) fn rule(number: usize, resources: usize) -> RuleRecord {
    RuleRecord {
        id: Uuid::from_u128(number as u128),
        tuple: RuleTuple {
            sub: format!("role-{}", number / resources),
            dom: "*".to_owned(),
            obj: pattern(number % resources),
            act: "read".to_owned(),
        },
        effect: Effect::Allow,
        origin: RuleOrigin::Explicit,
        created_by: by().actor,
        created_at: by().at,
        updated_by: None,
        updated_at: None,
        managed_by: None,
    }
}

/// Makes a policy that denies some clearances of one department in half of the regions.
pub(crate) fn policy(
    tenant: &str,
    number: usize,
    resources: usize,
    effect: Effect,
) -> PolicyRecord {
    let regions: Vec<_> =
        (0..5).map(|region| format!("region-{}", (number + region) % 10)).collect();
    let test = |attribute: &str, operator: &str, value: serde_json::Value| json!({"type": "CONDITION", "attribute": attribute, "operator": operator, "value": value});
    let tree = json!({"type": "AND", "children": [
        test("user.department", "eq", json!(format!("department-{}", number % 100))),
        test("user.clearance", "gte", json!(number)),
        test("resource.region", "in", json!(regions)),
    ]});
    PolicyRecord {
        id: Uuid::from_u128(number as u128),
        tenant_id: tenant.to_owned(),
        name: format!("policy {number}"),
        description: None,
        resource: pattern(number % resources),
        effect,
        format: Format::Json,
        rule_data: RuleData::from_stored(tree.to_string()).expect("JSON"),
        priority: 0,
        enabled: true,
        created_by: by().actor,
        created_at: by().at,
        updated_by: None,
        updated_at: None,
        managed_by: None,
    }
}

/// Writes the records of a tenant.
pub(crate) async fn write(store: &Store, tenant: &str, records: Records) {
    let Records { rules, policies, resources } = records;
    let mut tx: Tx = store.write(tenant, by().at.millis()).await.expect("begins");
    let rules = (0..rules).map(|number| RecordWrite::Insert(rule(number, resources)));
    write_rules(&mut tx, &rules.collect::<Vec<_>>(), &by()).await.expect("writes");
    let policies = (0..policies)
        .map(|number| RecordWrite::Insert(policy(tenant, number, resources, Effect::Deny)));
    write_policies(&mut tx, &policies.collect::<Vec<_>>(), &by()).await.expect("writes");
    tx.pass_gates();
    tx.commit().await.expect("commits");
}
