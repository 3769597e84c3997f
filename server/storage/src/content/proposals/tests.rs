//! Proposals on every database.

use serde_json::json;

use super::*;
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    a_proposal_comes_back_and_loses_its_request_when_it_is_decided,
    old_proposals_go,
);

fn proposal(id: u128, proposed_at: i64) -> ProposalRecord {
    ProposalRecord {
        id: Uuid::from_u128(id),
        tenant_id: "acme".to_owned(),
        state: ProposalState::Open,
        owner: "git:a".to_owned(),
        message: Some("why".to_owned()),
        fingerprint: "sha256:00".to_owned(),
        plan: json!({"counts": {"create": 1}}),
        proposed_by: "key:1".to_owned(),
        key_creator: Some("ann".to_owned()),
        proposed_at: Timestamp::from_millis(proposed_at),
        expires_at: Timestamp::from_millis(proposed_at + 100),
        decided_by: None,
        decided_at: None,
    }
}

fn body() -> ProposedRequest {
    ProposedRequest { domain: "acme".to_owned(), body: b"encrypted".to_vec() }
}

async fn propose(store: &Store, proposal: &ProposalRecord) {
    let mut tx = store.write("acme", 0).await.expect("begins");
    insert(&mut tx, proposal, &body()).await.expect("works");
    tx.commit().await.expect("commits");
}

async fn a_proposal_comes_back_and_loses_its_request_when_it_is_decided(database: TestDatabase) {
    let store = database.open().await;
    let new = proposal(1, 1_000);
    propose(&store, &new).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    let found = find(&mut tx, new.id).await.expect("works").expect("there");
    assert_eq!(format!("{found:?}"), format!("{new:?}"));
    assert_eq!(request(&mut tx, new.id).await.expect("works"), Some(body()));
    let taken = OpenProposals { count: 1, bytes: body().body.len() as i64 };
    assert_eq!(open(&mut tx).await.expect("works"), taken);
    let decided = ProposalRecord {
        state: ProposalState::Rejected,
        decided_by: Some("bob".to_owned()),
        decided_at: Some(Timestamp::from_millis(1_050)),
        ..new
    };
    decide(&mut tx, &decided).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let listed = list(&mut tx, Page::FIRST).await.expect("works").records;
    assert_eq!(format!("{listed:?}"), format!("[{decided:?}]"));
    assert_eq!(request(&mut tx, decided.id).await.expect("works"), None);
    assert_eq!(open(&mut tx).await.expect("works"), OpenProposals { count: 0, bytes: 0 });
    let mut tx = store.begin_read("other").await.expect("begins");
    assert!(find(&mut tx, decided.id).await.expect("works").is_none());
}

async fn old_proposals_go(database: TestDatabase) {
    let store = database.open().await;
    for id in 1..=4 {
        propose(&store, &proposal(id, 1_000 + i64::try_from(id).expect("small"))).await;
    }
    let mut tx = store.write("acme", 0).await.expect("begins");
    // The first three expired, and the newest two of them stay.
    prune(&mut tx, Timestamp::from_millis(1_103), 2).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let listed = list(&mut tx, Page::FIRST).await.expect("works").records;
    let ids: Vec<_> = listed.iter().map(|proposal| proposal.id.as_u128()).collect();
    assert_eq!(ids, [2, 3, 4]);
    assert_eq!(open(&mut tx).await.expect("works").count, 1);
    assert!(request(&mut tx, Uuid::from_u128(4)).await.expect("works").is_some());
    let now = Timestamp::from_millis(1_103);
    let states = listed.into_iter().map(|proposal| proposal.at(now).state);
    let expected = [ProposalState::Expired, ProposalState::Expired, ProposalState::Open];
    assert_eq!(states.collect::<Vec<_>>(), expected);
}
