//! Cases on every database.

use portcullis_model::Timestamp;

use super::*;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(cases_come_back_and_those_from_before_are_kept_for_the_transaction);

fn cases(text: &str) -> StoredCases {
    StoredCases {
        domain: "acme".to_owned(),
        cases: format!(r#"[{{"name":"{text}"}}]"#),
        users: "[]".to_owned(),
        skipped: vec![text.to_owned()],
    }
}

async fn cases_come_back_and_those_from_before_are_kept_for_the_transaction(
    database: TestDatabase,
) {
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert_eq!(find(&mut tx).await.expect("works"), None);
    self::store(&mut tx, &cases("a"), &by).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert_eq!(replaced(&tx), None);
    self::store(&mut tx, &cases("b"), &by).await.expect("works");
    self::store(&mut tx, &cases("c"), &by).await.expect("works");
    assert_eq!(replaced(&tx), Some(&cases("a")), "not what the transaction stored itself");
    assert_eq!(find(&mut tx).await.expect("works"), Some(cases("c")));
    note_skipped(&mut tx, &[]).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let found = find(&mut tx).await.expect("works").expect("there");
    assert_eq!(found, StoredCases { skipped: Vec::new(), ..cases("c") });
    let mut tx = store.begin_read("other").await.expect("begins");
    assert_eq!(find(&mut tx).await.expect("works"), None);
}
