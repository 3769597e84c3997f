//! Tests with a real primary and a real streaming standby.

use portcullis_test_postgres::Cluster;

use super::*;
use crate::store::Store;
use crate::tenancy::tenants;

#[test]
fn the_highest_timeline_is_the_primary_and_the_first_of_equals() {
    let primary = |timeline: &str| Role::Primary { timeline: timeline.to_owned() };
    let unknown = || Role::Unknown { reason: "refused".to_owned(), may_be_starting: true };
    assert_eq!(newest(&[unknown(), Role::Standby]), None);
    assert_eq!(newest(&[Role::Standby, primary("00000001")]), Some(1));
    assert_eq!(newest(&[primary("00000009"), unknown(), primary("0000000A")]), Some(2));
    assert_eq!(newest(&[primary("00000002"), primary("00000002")]), Some(0));
}

/// Writes a tenant, as soon as there is a primary.
async fn write(store: &Store, tenant: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match store.write(tenant, 0).await {
            Ok(tx) => return tx.commit().await.map(drop).expect("commits"),
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
    }
}

async fn tenants(store: &Store) -> Vec<String> {
    let mut tx = store.begin_read_all().await.expect("begins");
    let found = tenants::positions(&mut tx, &["before", "after"]).await.expect("reads");
    let mut found: Vec<_> = found.into_iter().map(|(id, _)| id).collect();
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_follow_the_primary_from_host_to_host() {
    let Some(mut first) = Cluster::replicated("") else { return };
    let database = first.database();
    let mut second = first.standby("second");
    // The standby comes first in the list.
    let url = Cluster::url_of_all(&[&second, &first], database.name());
    let store = Store::open(&url).await.expect("opens on the primary");
    write(&store, "before").await;
    first.standbys_catch_up();
    let alone = Cluster::url_of_all(&[&second], database.name());
    let error = Store::open(&alone).await.expect_err("a standby takes no writes").to_string();
    assert!(error.contains("no host is a primary") && error.contains("is a standby"), "{error}");

    first.freeze();
    second.promote();
    let began = Instant::now();
    write(&store, "after").await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(tenants(&store).await, ["after", "before"]);

    // The old primary answers again, and believes that it is one.
    first.thaw();
    let both = Store::open(&Cluster::url_of_all(&[&first, &second], database.name())).await;
    let both = both.expect("opens");
    for store in [&store, &both] {
        assert_eq!(tenants(store).await, ["after", "before"], "the higher timeline counts");
    }
}
