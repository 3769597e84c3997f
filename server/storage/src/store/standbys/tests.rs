//! Tests with a real primary and a real streaming standby.

use portcullis_engine::ResourcePattern;
use portcullis_test_postgres::Cluster;

use super::*;
use crate::store::Store;

async fn touch(store: &Store) {
    let mut tx = store.write("acme", 0).await.expect("begins");
    tx.touch([ResourcePattern::Any.into()]);
    tx.pass_gates();
    tx.commit().await.expect("commits");
}

async fn read(store: &Store) -> (u64, ReadSource) {
    let (tx, position, source) = store.read_recent("acme").await.expect("reads");
    tx.end().await.expect("ends");
    (position.revision, source)
}

/// Waits until the standby serves this revision: connections and what a standby shows may be late on a busy machine.
async fn served_by_standby(store: &Store, revision: u64) {
    let serves = async {
        while read(store).await != (revision, ReadSource::Standby) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(30), serves).await.expect("the standby serves");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_serves_what_it_has_and_the_primary_everything_else() {
    let Some(primary) = Cluster::replicated("") else { return };
    let database = primary.database();
    let store = Store::open(database.url()).await.expect("opens");
    touch(&store).await;
    assert_eq!(read(&store).await, (1, ReadSource::Primary));
    let mut standby = primary.standby("standby");
    let url = Cluster::url_of_all(&[&standby], database.name());
    let store = store.with_standbys(&url).expect("a URL");
    served_by_standby(&store, 1).await;

    standby.hold_replay(true);
    touch(&store).await;
    assert_eq!(read(&store).await, (2, ReadSource::StandbyBehind));
    standby.hold_replay(false);
    primary.standbys_catch_up();
    served_by_standby(&store, 2).await;

    standby.freeze();
    let began = Instant::now();
    assert_eq!(read(&store).await, (2, ReadSource::StandbyUnavailable));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    // It is not asked again.
    assert_eq!(read(&store).await, (2, ReadSource::StandbyUnavailable));
}

#[test]
fn a_url_of_no_standby_says_what_is_expected() {
    let error = Standbys::parse("postgres://a@b,,c/d").expect_err("malformed").to_string();
    assert!(error.contains("with commas in between"), "{error}");
}

#[test]
fn only_postgresql_has_standbys() {
    let primary = "postgres://a@b/c";
    assert!(must_follow(primary, "postgresql://a@d/c").is_ok());
    for (primary, url, expected) in [
        ("sqlite://x.db", "postgres://a@b/c", "the database is SQLite"),
        (primary, "sqlite://x.db", "`postgres://…`"),
        (primary, "postgres://a@b,,c/d", "with commas in between"),
    ] {
        let error = must_follow(primary, url).expect_err("no standbys").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
