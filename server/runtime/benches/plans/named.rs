//! A condition that 1,000 policies on 100 resources use by its name.

use anyhow::Result;
use portcullis_engine::Effect;
use portcullis_model::named_condition::ConditionRecord;
use portcullis_model::policy::{PolicyRecord, RuleData};
use portcullis_runtime::plans::Plans;
use portcullis_storage::bulk::{RecordWrite, write_policies};
use portcullis_storage::testing::TestDatabase;
use portcullis_storage::{Store, Tx, conditions, policies};
use portcullis_workloads::measure::median;
use portcullis_workloads::report::{Bar, Group};
use serde_json::json;

use crate::records::{by, policy, resource};
use crate::service::{find, millis, start};

const POLICIES: usize = 1_000;
const RESOURCES: usize = 100;
const CACHE: u64 = 512 << 20;
const CHANGES: usize = 50;
/// The tests of the condition.
const TESTS: usize = 20;

/// Milliseconds of the first check after each change of one policy, and of the condition.
pub(crate) struct Measured {
    policies: Vec<f64>,
    conditions: Vec<f64>,
}

/// Makes the condition, which differs by `change`.
fn condition(change: usize) -> ConditionRecord {
    let tests: Vec<String> =
        (0..TESTS).map(|test| format!("user.a{test} == {}", test + change)).collect();
    let when = json!(tests.join(" || "));
    ConditionRecord {
        name: "shared".to_owned(),
        about: None,
        condition: RuleData::from_stored(when.to_string()).expect("JSON"),
        created_by: by().actor,
        created_at: by().at,
        updated_by: None,
        updated_at: None,
        managed_by: None,
    }
}

/// Makes a policy of somebody's department that uses the condition.
fn user(number: usize, effect: Effect) -> PolicyRecord {
    let department = json!({"type": "CONDITION", "attribute": "user.department", "operator": "eq", "value": format!("d{number}")});
    let tree =
        json!({"type": "AND", "children": [department, {"type": "NAMED", "name": "shared"}]});
    PolicyRecord {
        rule_data: RuleData::from_stored(tree.to_string()).expect("JSON"),
        ..policy("acme", number, RESOURCES, effect)
    }
}

async fn begin(store: &Store) -> Tx {
    store.write("acme", by().at.millis()).await.expect("begins")
}

async fn commit(plans: &Plans, mut tx: Tx) {
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

pub(crate) async fn measure(database: &TestDatabase) -> Measured {
    let store = database.open().await;
    let plans = start(&store, CACHE);
    let mut tx = begin(&store).await;
    conditions::store(&mut tx, &[&condition(0)]).await.expect("writes");
    let all = (0..POLICIES).map(|number| RecordWrite::Insert(user(number, Effect::Deny)));
    write_policies(&mut tx, &all.collect::<Vec<_>>(), &by()).await.expect("writes");
    commit(&plans, tx).await;
    let first = resource(0);
    find(&plans, "acme", &first).await;
    let mut measured = Measured { policies: Vec::new(), conditions: Vec::new() };
    for change in 0..CHANGES {
        let mut effects = [Effect::Deny, Effect::Allow];
        effects.rotate_left(change % 2);
        let [old, new] = effects.map(|effect| user(0, effect));
        let mut tx = begin(&store).await;
        policies::update(&mut tx, &old, &new, &by()).await.expect("writes");
        commit(&plans, tx).await;
        measured.policies.push(millis(find(&plans, "acme", &first).await));
        let mut tx = begin(&store).await;
        conditions::store(&mut tx, &[&condition(change + 1)]).await.expect("writes");
        commit(&plans, tx).await;
        measured.conditions.push(millis(find(&plans, "acme", &first).await));
    }
    measured
}

pub(crate) fn report(group: &mut Group<'_>, database: &str, measured: &Measured) -> Result<()> {
    let (policy, condition) =
        (median(measured.policies.clone()), median(measured.conditions.clone()));
    let what = format!("{database}: first check after a change of");
    group.measurement(format!("{what} one of {POLICIES} policies"), policy, " ms", Bar::Shown);
    group.measurement(format!("{what} the condition that all use"), condition, " ms", Bar::Shown);
    let what = format!("{database}: condition / policy");
    group.measurement(what, condition / policy, " ×", Bar::AtMost(1.2));
    Ok(())
}
