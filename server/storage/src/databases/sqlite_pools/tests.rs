//! SQLite files that cannot be written for a while, and files that take the place of others.

use std::path::Path;

use sqlx::Executor as _;

use crate::deletions::erasure;
use crate::people::directory;
use crate::store::Store;
use crate::tenancy::tenants;
use crate::testing::{TestDatabase, execute as run};
use crate::transactions::error::StoreError;
use crate::transactions::history;
use crate::transactions::macros::{execute, fetch_optional};
use crate::transactions::tx::{EVERY_TENANT, Inner, Tx};

/// The store of a database in a folder, with a tenant.
async fn stored(database: &TestDatabase) -> Store {
    let store = database.open().await;
    assert_eq!(written(&store, "first").await.expect("works"), 1);
    store
}

/// Creates a tenant, and returns the number of tenants.
async fn written(store: &Store, tenant: &str) -> Result<i64, StoreError> {
    store.write(tenant, 1).await?.commit().await?;
    count(store).await
}

async fn count(store: &Store) -> Result<i64, StoreError> {
    const SQL: &str = "SELECT count(*) FROM tenants";
    let counted = async |tx: &mut Tx| Ok(fetch_optional!(tx, (i64,), SQL)?.map_or(0, |row| row.0));
    store.read_all(counted).await
}

/// Limits the pages of the file, which is as good as a full disk.
async fn limit_pages(store: &Store, pages: &str) {
    let mut tx = store.write_all().await.expect("begins");
    let Inner::Sqlite(connection) = &mut tx.inner else { panic!("a SQLite file") };
    let sql = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {pages}"));
    connection.execute(sql).await.expect("works");
    tx.commit().await.expect("commits");
}

async fn fill(store: &Store) -> Result<(), StoreError> {
    const SQL: &str = "UPDATE tenants SET history = hex(zeroblob(1000000)) WHERE id = 'first'";
    let mut tx = store.write_as("first").await?;
    execute!(tx, SQL)?;
    tx.commit().await.map(drop)
}

#[tokio::test]
async fn writes_come_back_after_a_full_disk() {
    let database = TestDatabase::sqlite().expect("a directory");
    let store = stored(&database).await;
    limit_pages(&store, "1").await;
    let full = fill(&store).await.expect_err("there is no room");
    assert_eq!(full.write_fault(), Some("the disk is full"), "{full}");
    // The connection that met the full disk is gone, and the limit of pages with it.
    store.ping().await.expect("there is room");
    assert_eq!(written(&store, "second").await.expect("works"), 2);
    store.close().await;
}

#[tokio::test]
async fn a_file_that_takes_the_place_of_another_is_opened() {
    let database = TestDatabase::sqlite().expect("a directory");
    let TestDatabase::Sqlite(folder) = &database else { panic!("a SQLite file") };
    let (file, copy) = (folder.path().join("test.db"), folder.path().join("copy.db"));
    let store = stored(&database).await;
    copied(&store, &copy).await;
    assert_eq!(written(&store, "second").await.expect("works"), 2);
    std::fs::rename(&file, folder.path().join("aside.db")).expect("moves");
    let missing = count(&store).await.expect_err("there is no file");
    assert!(matches!(missing, StoreError::NoFile) && missing.is_unavailable(), "{missing}");
    for end in ["-wal", "-shm"] {
        std::fs::remove_file(folder.path().join(format!("test.db{end}"))).expect("removes");
    }
    std::fs::rename(&copy, &file).expect("moves");
    assert_eq!(count(&store).await.expect("works"), 1, "the file of the copy");
    assert_eq!(written(&store, "third").await.expect("works"), 2);
    store.close().await;
    // The writes are in the file that is there.
    assert_eq!(count(&database.open().await).await.expect("works"), 2);
}

/// Raises the revision of a tenant, and returns it.
async fn raised(store: &Store) -> u64 {
    let mut tx = store.write("first", 1).await.expect("begins");
    tx.touch([]);
    tx.commit().await.expect("commits").position.revision
}

async fn revision(store: &Store) -> u64 {
    store.read("first", async |tx| tenants::revision(tx).await).await.expect("works")
}

/// Puts a copy of `copy` in the place of the database.
fn put_back(folder: &Path, copy: &Path) {
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.join(format!("test.db{end}")));
    }
    std::fs::copy(copy, folder.join("next.db")).expect("copies");
    std::fs::rename(folder.join("next.db"), folder.join("test.db")).expect("moves");
}

#[tokio::test]
async fn an_older_file_begins_an_epoch_and_the_same_file_does_not() {
    let database = TestDatabase::sqlite().expect("a directory");
    let TestDatabase::Sqlite(folder) = &database else { panic!("a SQLite file") };
    let copy = folder.path().join("copy.db");
    let store = stored(&database).await;
    assert_eq!(raised(&store).await, 1);
    copied(&store, &copy).await;
    assert_eq!(raised(&store).await, 2);
    store.close().await;
    let store = database.open().await;
    assert_eq!((revision(&store).await, raised(&store).await), (2, 3), "it is the same file");
    store.close().await;
    put_back(folder.path(), &copy);
    let store = database.open().await;
    assert_eq!(
        history::epoch(revision(&store).await),
        1,
        "a file that was put back before the start"
    );
    assert_eq!(history::epoch(raised(&store).await), 1);
    // The same copy again, under a running process: no revision of the epoch before comes again.
    put_back(folder.path(), &copy);
    assert_eq!(history::epoch(revision(&store).await), 2);
    store.close().await;
    put_back(folder.path(), &copy);
    std::fs::remove_file(folder.path().join("test.db-newest")).expect("removes");
    let store = database.open().await;
    assert_eq!(revision(&store).await, 1, "the control: nobody knows that it is older");
    store.close().await;
}

/// Raises the revision of the entities of a tenant alone, and returns it.
async fn entities_raised(store: &Store) -> u64 {
    let mut tx = store.write("first", 1).await.expect("begins");
    directory::next(&mut tx).await.expect("works");
    tx.commit().await.expect("commits").entities.expect("entities changed").revision
}

#[tokio::test]
async fn a_file_that_lacks_entities_alone_begins_an_epoch() {
    let database = TestDatabase::sqlite().expect("a directory");
    let TestDatabase::Sqlite(folder) = &database else { panic!("a SQLite file") };
    let copy = folder.path().join("copy.db");
    let store = stored(&database).await;
    assert_eq!(entities_raised(&store).await, 1);
    copied(&store, &copy).await;
    assert_eq!(entities_raised(&store).await, 2);
    store.close().await;
    let store = database.open().await;
    assert_eq!(entities_raised(&store).await, 3, "it is the same file");
    store.close().await;
    put_back(folder.path(), &copy);
    let store = database.open().await;
    assert_eq!(history::epoch(entities_raised(&store).await), 1);
    store.close().await;
}

#[tokio::test]
async fn epochs_that_a_failure_interrupted_begin_at_the_next_start() {
    const FAILS: &str = "CREATE TRIGGER fails BEFORE UPDATE OF revision ON tenants WHEN OLD.id = 'second' \
        BEGIN SELECT RAISE(ABORT, 'it fails'); END";
    let database = TestDatabase::sqlite().expect("a directory");
    let TestDatabase::Sqlite(folder) = &database else { panic!("a SQLite file") };
    let (file, copy) = (folder.path().join("test.db"), folder.path().join("copy.db"));
    let store = stored(&database).await;
    assert_eq!((raised(&store).await, written(&store, "second").await.expect("works")), (1, 2));
    run(&store, [FAILS.to_owned()]).await;
    copied(&store, &copy).await;
    assert_eq!(raised(&store).await, 2);
    store.close().await;
    put_back(folder.path(), &copy);
    let failed = Store::open(&database.url()).await.map(drop).expect_err("the second tenant fails");
    assert!(format!("{failed:?}").contains("it fails"), "{failed:?}");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
    let pool = sqlx::SqlitePool::connect_with(options).await.expect("opens");
    pool.execute("DROP TRIGGER fails").await.expect("works");
    pool.close().await;
    let store = database.open().await;
    let second = store.read("second", async |tx| tenants::revision(tx).await).await;
    assert_eq!(history::epoch(second.expect("works")), 1);
    store.close().await;
}

#[tokio::test]
async fn the_deletion_of_a_tenant_begins_no_epoch() {
    let database = TestDatabase::sqlite().expect("a directory");
    let TestDatabase::Sqlite(folder) = &database else { panic!("a SQLite file") };
    let copy = folder.path().join("copy.db");
    let store = stored(&database).await;
    assert_eq!(raised(&store).await, 1);
    copied(&store, &copy).await;
    assert_eq!((raised(&store).await, written(&store, "second").await.expect("works")), (2, 2));
    let mut tx = store.write("second", 1).await.expect("begins");
    tx.touch([]);
    tx.commit().await.expect("commits");
    forget(&store, "second").await;
    store.close().await;
    let store = database.open().await;
    assert_eq!(revision(&store).await, 2, "it is the same file");
    store.close().await;
    put_back(folder.path(), &copy);
    let store = database.open().await;
    assert_eq!(
        history::epoch(revision(&store).await),
        1,
        "the other tenant tells of an older file"
    );
    forget(&store, "first").await;
    assert!(!folder.path().join("test.db-newest").exists(), "no tenant is left");
    store.close().await;
}

/// Deletes all rows of a tenant.
async fn forget(store: &Store, tenant: &str) {
    let mut tx = store.write_as(tenant).await.expect("begins");
    while erasure::step(&mut tx).await.expect("works") {}
    tx.commit().await.expect("commits");
    run(store, [format!("UPDATE tenants SET erased_at = 1 WHERE id = '{tenant}'")]).await;
    let mut tx = store.write_all().await.expect("begins");
    erasure::forget(&mut tx, tenant).await.expect("works");
    tx.commit().await.expect("commits");
}

#[tokio::test]
async fn a_file_that_appears_behind_the_look_is_seen_to_be_new() {
    let database = TestDatabase::sqlite().expect("a directory");
    let TestDatabase::Sqlite(folder) = &database else { panic!("a SQLite file") };
    let copy = folder.path().join("copy.db");
    let store = stored(&database).await;
    copied(&store, &copy).await;
    assert_eq!(raised(&store).await, 1);
    let crate::databases::database::Database::Sqlite(pools) = &store.database else {
        panic!("a SQLite file")
    };
    pools.judge(async |_| panic!("the file is known")).await.expect("works");
    put_back(folder.path(), &copy);
    // It opens the other file, which nobody has looked at.
    drop(store.database.begin_read(EVERY_TENANT).await.expect("begins"));
    assert!(!pools.is_judged());
    assert_eq!(history::epoch(revision(&store).await), 1);
    assert!(pools.is_judged());
    store.close().await;
}

/// Writes a copy of the database to `file`.
async fn copied(store: &Store, file: &Path) {
    let pool = match &store.database {
        crate::databases::database::Database::Sqlite(pools) => pools.current().writer,
        crate::databases::database::Database::Postgres(_) => panic!("a SQLite file"),
    };
    let sql = sqlx::AssertSqlSafe(format!("VACUUM INTO '{}'", file.display()));
    pool.execute(sql).await.expect("copies");
}
