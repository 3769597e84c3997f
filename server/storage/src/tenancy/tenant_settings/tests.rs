//! Settings and the gates that they have, on every database.

use portcullis_model::Timestamp;

use super::*;
use crate::StoreError;
use crate::content::{resources, rules};
use crate::testing::{TestDatabase, on_every_database};
use portcullis_engine::{Effect, ResourcePattern, RuleTuple};
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::rule::{RuleOrigin, RuleRecord};
use uuid::Uuid;

on_every_database!(
    the_gates_of_a_transaction_are_those_from_before_it,
    what_gates_judge_does_not_commit_without_them,
);

const CASES: Gates = Gates { cases: true, approval: false };
const APPROVAL: Gates = Gates { cases: false, approval: true };

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn rule() -> RuleRecord {
    let obj = ResourcePattern::parse("doc:read").expect("a resource");
    RuleRecord {
        managed_by: None,
        id: Uuid::from_u128(1),
        tuple: RuleTuple { sub: "ann".into(), dom: "acme".into(), obj, act: "read".into() },
        effect: Effect::Allow,
        origin: RuleOrigin::Explicit,
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(0),
        updated_by: None,
        updated_at: None,
    }
}

async fn the_gates_of_a_transaction_are_those_from_before_it(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert_eq!(find(&mut tx).await.expect("works"), None);
    self::store(&mut tx, "{}", CASES, &by()).await.expect("works");
    assert_eq!(tx.gates(), Gates::default());
    tx.commit().await.expect("no gate was stored before");
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert_eq!(tx.gates(), CASES);
    self::store(&mut tx, r#"{"a":1}"#, APPROVAL, &by()).await.expect("works");
    assert_eq!(tx.gates(), CASES);
    tx.pass_gates();
    tx.commit().await.expect("commits");
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert_eq!(tx.gates(), APPROVAL);
    assert_eq!(find(&mut tx).await.expect("works").as_deref(), Some(r#"{"a":1}"#));
    drop(tx);
    assert_eq!(store.write("other", 0).await.expect("begins").gates(), Gates::default());
}

async fn what_gates_judge_does_not_commit_without_them(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    self::store(&mut tx, "{}", CASES, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    for passes in [false, true] {
        let mut tx = store.write("acme", 0).await.expect("begins");
        assert!(rules::insert(&mut tx, &rule()).await.expect("works"));
        if passes {
            tx.pass_gates();
        }
        let committed = tx.commit().await;
        assert_eq!(committed.is_ok(), passes);
        assert!(passes || matches!(committed, Err(StoreError::GatesNotPassed)));
    }
    // The gates themselves, too.
    let mut tx = store.write("acme", 0).await.expect("begins");
    self::store(&mut tx, "{}", Gates::default(), &by()).await.expect("works");
    assert!(matches!(tx.commit().await, Err(StoreError::GatesNotPassed)));
    // A registration without rules decides nothing.
    let record = ResourceRecord {
        managed_by: None,
        id: Uuid::from_u128(2),
        tenant_id: "acme".to_owned(),
        registration: Registration {
            name: "doc:read".to_owned(),
            display_name: None,
            service_name: None,
            default_roles: Vec::new(),
        },
        created_at: Timestamp::from_millis(0),
        updated_at: None,
    };
    let mut tx = store.write("acme", 0).await.expect("begins");
    resources::upsert(&mut tx, None, &record, &by()).await.expect("works");
    tx.commit().await.expect("commits");
}
