//! The numbers are those of the records, whatever writes them, and the quota refuses what grows.

use portcullis_engine::{Effect, Format, ResourcePattern, RuleTuple, json};
use portcullis_model::input::DeclaredBody;
use portcullis_model::named_condition::{ConditionBody, ConditionRecord};
use portcullis_model::policy::{NewPolicy, PolicyRecord, RuleData};
use portcullis_model::quota::Quotas;
use portcullis_model::rule::{NewRule, RuleOrigin, RuleRecord};
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use super::*;
use crate::content::bulk::{RecordWrite, write_policies, write_rules};
use crate::content::quotas::{policy_bytes, rule_bytes};
use crate::content::{conditions, policies, rules};
use crate::store::{Store, StoreLimits};
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::macros::fetch_all;

on_every_database!(
    the_numbers_are_those_of_the_records,
    each_pattern_has_the_quota_and_who_is_above_it_may_shrink,
    the_conditions_that_policies_use_count_once_for_each_pattern,
);

const TENANT: &str = "acme";

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn rule(id: u128, obj: &str) -> RuleRecord {
    let obj = ResourcePattern::parse(obj).expect("a pattern");
    let (dom, act) = ("acme".to_owned(), "read".to_owned());
    let new = NewRule {
        tuple: RuleTuple { sub: format!("rôle-{id}"), dom, obj, act },
        effect: Effect::Allow,
    };
    new.into_record(Uuid::from_u128(id), RuleOrigin::Explicit, &by())
}

fn policy(id: u128, resource: &str, name: &str) -> PolicyRecord {
    let body = format!(
        r#"{{"name": "{name}", "description": "ü", "resource": "{resource}", "effect": "deny", "priority": 1,
        "rule_data": {{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}}}}"#
    );
    let body = json::parse(body.as_bytes()).expect("JSON");
    NewPolicy::parse(&body).expect("valid").into_record(Uuid::from_u128(id), TENANT, &by())
}

/// Returns the stored numbers.
async fn sizes(store: &Store) -> Vec<(String, i64)> {
    const SQL: &str = "SELECT pattern, bytes FROM plan_sizes WHERE tenant_id = $1 ORDER BY pattern";
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    fetch_all!(tx, (String, i64), SQL, TENANT).expect("works")
}

fn expected(sizes: &[(&str, i64)]) -> Vec<(String, i64)> {
    sizes.iter().map(|(pattern, bytes)| ((*pattern).to_owned(), *bytes)).collect()
}

/// Writes by every function that writes rules or policies, in one transaction for each step.
async fn fill(store: &Store) {
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    assert!(rules::insert(&mut tx, &rule(1, "*")).await.expect("works"));
    assert!(!rules::insert(&mut tx, &rule(1, "*")).await.expect("exists already"));
    policies::insert(&mut tx, &policy(2, "*", "p")).await.expect("works");
    let many = (100..350).map(|id| RecordWrite::Insert(rule(id, &format!("doc-{id}:*"))));
    write_rules(&mut tx, &many.collect::<Vec<_>>(), &by()).await.expect("works");
    let both = [3, 4].map(|id| RecordWrite::Insert(policy(id, "a:b", "p")));
    write_policies(&mut tx, &both, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let moved = RuleRecord { tuple: rule(1, "c:d").tuple, ..rule(1, "*") };
    assert!(rules::update(&mut tx, &rule(1, "*"), &moved, &by()).await.expect("works"));
    let longer = PolicyRecord { name: "a longer name".to_owned(), ..policy(3, "a:b", "p") };
    policies::update(&mut tx, &policy(3, "a:b", "p"), &longer, &by()).await.expect("works");
    policies::delete(&mut tx, &policy(4, "a:b", "p"), &by()).await.expect("works");
    let gone = (100..349).map(|id| RecordWrite::Delete(rule(id, &format!("doc-{id}:*"))));
    write_rules(&mut tx, &gone.collect::<Vec<_>>(), &by()).await.expect("works");
    rules::delete(&mut tx, &rule(77, "*"), &by()).await.expect("nothing to delete");
    tx.commit().await.expect("commits");
}

async fn the_numbers_are_those_of_the_records(database: TestDatabase) {
    let store = database.open().await;
    fill(&store).await;
    let left = [
        ("*", policy_bytes(&policy(2, "*", "p"))),
        ("a:b", policy_bytes(&policy(3, "a:b", "a longer name"))),
        ("c:d", rule_bytes(&rule(1, "c:d"))),
        ("doc-349:*", rule_bytes(&rule(349, "doc-349:*"))),
    ];
    assert_eq!(sizes(&store).await, expected(&left), "a pattern without records has no row");
}

/// Inserts the policies `ids` on `resource` in one transaction.
async fn insert(
    store: &Store,
    ids: std::ops::Range<u128>,
    resource: &str,
) -> Result<(), StoreError> {
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    for id in ids {
        policies::insert(&mut tx, &policy(id, resource, "p")).await.expect("works");
    }
    tx.commit().await.map(drop)
}

#[track_caller]
fn exceeds(written: Result<(), StoreError>, limit: u64, used: u64) {
    let pattern = Some("doc:*".to_owned());
    let expected = QuotaExcess { quota: Quota::PlanBytes, limit, used, pattern };
    assert!(
        matches!(&written, Err(StoreError::Quota(excess)) if *excess == expected),
        "{written:?}"
    );
}

async fn each_pattern_has_the_quota_and_who_is_above_it_may_shrink(database: TestDatabase) {
    let size = policy_bytes(&policy(1, "doc:*", "p")).unsigned_abs();
    let quotas = |policies: u64| {
        let quotas = Quotas::NONE.with(Quota::PlanBytes, Some(policies * size));
        StoreLimits { quotas, ..StoreLimits::default() }
    };
    let store = database.open().await.with_limits(quotas(3));
    insert(&store, 0..3, "doc:*").await.expect("exactly the quota");
    insert(&store, 10..13, "doc:b").await.expect("another resource has the quota, too");
    exceeds(insert(&store, 3..4, "doc:*").await, 3 * size, 3 * size);
    // The operator lowers the quota: what is there stays, and may shrink, go, and change places within the transaction.
    let store = store.with_limits(quotas(1));
    exceeds(insert(&store, 3..4, "doc:*").await, size, 3 * size);
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let denied = PolicyRecord { effect: Effect::Allow, ..policy(0, "doc:*", "p") };
    policies::update(&mut tx, &policy(0, "doc:*", "p"), &denied, &by()).await.expect("works");
    policies::delete(&mut tx, &policy(1, "doc:*", "p"), &by()).await.expect("works");
    policies::insert(&mut tx, &policy(4, "doc:*", "p")).await.expect("works");
    tx.commit().await.expect("nothing grows");
    let longer = PolicyRecord { name: "pp".to_owned(), ..policy(0, "doc:*", "p") };
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    policies::update(&mut tx, &denied, &longer, &by()).await.expect("works");
    exceeds(tx.commit().await.map(drop), size, 3 * size);
    // Work of the service itself is not refused, and counts.
    let mut tx = store.write_as(TENANT).await.expect("begins");
    policies::insert(&mut tx, &policy(5, "doc:*", "p")).await.expect("works");
    tx.commit().await.expect("commits");
    exceeds(insert(&store, 6..7, "doc:*").await, size, 4 * size);
}

fn condition(name: &str, when: &str) -> ConditionRecord {
    let body = serde_json::json!({"when": when}).to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = ConditionBody::parse(&body).and_then(|body| body.into_condition(name));
    body.expect("a condition").into_record(&by())
}

/// Returns a policy whose condition is this expression.
fn naming(id: u128, resource: &str, expression: &str) -> PolicyRecord {
    let rule_data = serde_json::json!({"expression": expression}).to_string();
    let rule_data = RuleData::from_stored(rule_data).expect("JSON");
    PolicyRecord { format: Format::Expression, rule_data, ..policy(id, resource, "p") }
}

async fn the_conditions_that_policies_use_count_once_for_each_pattern(database: TestDatabase) {
    let [staff, team] = [condition("staff", "user.staff"), condition("team", "condition.staff")];
    let bytes = |of: &ConditionRecord| i64::try_from(of.bytes()).expect("few");
    let both = bytes(&staff) + bytes(&team);
    let [one, other] = [1, 2].map(|id| naming(id, "doc:*", "condition.team && user.a"));
    let disabled = PolicyRecord { enabled: false, ..naming(3, "a:b", "condition.staff") };
    let store = database.open().await;
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    conditions::store(&mut tx, &[&staff, &team]).await.expect("works");
    for policy in [&one, &other, &disabled, &policy(4, "c:d", "p")] {
        policies::insert(&mut tx, policy).await.expect("works");
    }
    tx.commit().await.expect("commits");
    let of_a = policy_bytes(&disabled) + bytes(&staff);
    let of_c = policy_bytes(&policy(4, "c:d", "p"));
    let both_policies = 2 * policy_bytes(&one);
    let known = [("a:b", of_a), ("c:d", of_c), ("doc:*", both_policies + both)];
    assert_eq!(sizes(&store).await, expected(&known));

    // A change counts on each pattern that uses the condition, also by another one, and the quota refuses what grows.
    let longer = condition("staff", "user.staff && user.level > 3");
    let growth = bytes(&longer) - bytes(&staff);
    let limit = u64::try_from(both_policies + both).expect("few");
    let quotas = Quotas::NONE.with(Quota::PlanBytes, Some(limit));
    let limited = store.clone().with_limits(StoreLimits { quotas, ..StoreLimits::default() });
    let mut tx = limited.write(TENANT, 0).await.expect("begins");
    conditions::store(&mut tx, &[&longer]).await.expect("works");
    exceeds(tx.commit().await.map(drop), limit, limit);
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    conditions::store(&mut tx, &[&longer]).await.expect("works");
    tx.commit().await.expect("commits");
    let known = [("a:b", of_a + growth), ("c:d", of_c), ("doc:*", both_policies + both + growth)];
    assert_eq!(sizes(&store).await, expected(&known));

    // The last policy that uses a condition takes it along.
    let plain = policy(2, "doc:*", "p");
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    policies::delete(&mut tx, &one, &by()).await.expect("works");
    policies::update(&mut tx, &other, &plain, &by()).await.expect("works");
    policies::delete(&mut tx, &disabled, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    assert_eq!(sizes(&store).await, expected(&[("c:d", of_c), ("doc:*", policy_bytes(&plain))]));
}
