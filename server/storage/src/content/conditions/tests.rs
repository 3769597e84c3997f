use portcullis_engine::{Effect, Format, json};
use portcullis_model::Authorship;
use portcullis_model::input::DeclaredBody;
use portcullis_model::named_condition::ConditionBody;
use portcullis_model::policy::{PolicyRecord, RuleData};

use super::*;
use crate::content::policies;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    a_condition_comes_back_as_it_went_in_and_stays_in_its_tenant,
    a_change_touches_each_policy_that_uses_the_condition,
);

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn condition(name: &str, when: &str) -> ConditionRecord {
    let body = serde_json::json!({"about": "A test", "when": when}).to_string();
    let body = json::parse(body.as_bytes()).expect("JSON");
    let body = ConditionBody::parse(&body).and_then(|body| body.into_condition(name));
    body.expect("a condition").into_record(&by())
}

fn policy(number: u128, expression: &str, enabled: bool) -> PolicyRecord {
    let rule_data = serde_json::json!({"expression": expression}).to_string();
    PolicyRecord {
        id: Uuid::from_u128(number),
        tenant_id: "acme".to_owned(),
        name: format!("p{number}"),
        description: None,
        resource: ResourcePattern::parse("doc:read").expect("a pattern"),
        effect: Effect::Allow,
        format: Format::Expression,
        rule_data: RuleData::from_stored(rule_data).expect("JSON"),
        priority: 0,
        enabled,
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(0),
        updated_by: None,
        updated_at: None,
        managed_by: None,
    }
}

async fn a_condition_comes_back_as_it_went_in_and_stays_in_its_tenant(database: TestDatabase) {
    let db = database.open().await;
    let (a, b) = (condition("a", "user.a"), condition("b", "condition.a"));
    let owned = ConditionRecord {
        managed_by: Some("git:a".to_owned()),
        updated_by: Some("bob".to_owned()),
        updated_at: Some(Timestamp::from_millis(2_000)),
        ..a.clone()
    };
    let mut tx = db.write("acme", 0).await.expect("begins");
    store(&mut tx, &[&a, &b]).await.expect("works");
    store(&mut tx, &[&owned]).await.expect("works");
    let committed = tx.commit().await.expect("commits");
    assert_eq!(committed.touched.map(|touched| touched.len()), Some(0));
    let mut tx = db.begin_read("acme").await.expect("begins");
    assert_eq!(all(&mut tx).await.expect("works"), [owned.clone(), b.clone()]);
    assert_eq!(find(&mut tx, "a").await.expect("works"), Some(owned));
    let page = list(&mut tx, "a", 1).await.expect("works");
    assert_eq!((page.records, page.more), (vec![b.clone()], false));
    tx.end().await.expect("ends");
    let mut other = db.write("other", 0).await.expect("begins");
    assert_eq!(all(&mut other).await.expect("works"), []);
    other.end().await.expect("ends");
    let mut tx = db.write("acme", 0).await.expect("begins");
    delete(&mut tx, &[&b]).await.expect("works");
    assert_eq!(find(&mut tx, "b").await.expect("works"), None);
}

async fn a_change_touches_each_policy_that_uses_the_condition(database: TestDatabase) {
    let db = database.open().await;
    let (a, b) = (condition("a", "user.a"), condition("b", "condition.a && user.b"));
    let mut tx = db.write("acme", 0).await.expect("begins");
    store(&mut tx, &[&a, &b, &condition("c", "user.c")]).await.expect("works");
    let texts = [
        ("condition.a", true),
        ("user.x || !condition[\"b\"]", true),
        ("condition.c", true),
        ("condition.a", false),
        ("condition.a == true", true),
        ("user.conditions contains \"condition.a\"", true),
    ];
    for (number, (text, enabled)) in (1..).zip(texts) {
        policies::insert(&mut tx, &policy(number, text, enabled)).await.expect("works");
    }
    tx.commit().await.expect("commits");
    let mut tx = db.write("acme", 1).await.expect("begins");
    store(&mut tx, &[&condition("a", "user.a == 1")]).await.expect("works");
    let mut touched: Vec<_> = tx.touched().iter().filter_map(|one| one.policy).collect();
    touched.sort_unstable();
    assert_eq!(touched, [1, 2].map(Uuid::from_u128));
    let planned = policies::for_every_plan(&mut tx).await.expect("works");
    let sound = planned.iter().filter(|policy| policy.condition.is_ok()).count();
    assert_eq!(sound, planned.len());
    let first = planned.iter().find(|policy| policy.id == Uuid::from_u128(2)).expect("a policy");
    let tests = first.condition.as_ref().expect("a condition").tests();
    let read: Vec<_> = tests.iter().map(|test| test.attribute.to_string()).collect();
    assert_eq!(read, ["user.x", "user.a", "user.b"]);
}
