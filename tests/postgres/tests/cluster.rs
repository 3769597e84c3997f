//! Tests of the harness: a test gets a server and databases, and nothing of them remains.

#![expect(clippy::expect_used, reason = "all of it is test code, helpers included")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use portcullis_test_postgres::{Cluster, Database, Role};

/// The time limit of an expected event.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn databases_are_apart() {
    let Some(cluster) = Cluster::shared() else { return };
    let (one, other) = (cluster.database(), cluster.database());
    one.sql("CREATE TABLE notes (text text)");
    assert_ne!(one.url(), other.url());
    assert_eq!(one.sql("SELECT to_regclass('notes')"), "notes");
    assert_eq!(other.sql("SELECT to_regclass('notes')"), "");
}

#[test]
fn a_database_is_dropped_with_its_value_though_somebody_is_connected() {
    let Some(cluster) = Cluster::shared() else { return };
    let (kept, dropped) = (cluster.database(), cluster.database());
    let mut session = dropped.session(Role::Owner);
    let find = format!("SELECT count(*) FROM pg_database WHERE datname = '{}'", dropped.name());
    assert_eq!(kept.sql(&find), "1");
    drop(dropped);
    assert_eq!(kept.sql(&find), "0");
    let fault = session.try_execute("SELECT 1").expect_err("the session was ended");
    assert_eq!(fault.code, "57P01");
}

#[test]
fn the_owner_is_an_ordinary_role_that_may_make_tables_and_schemas() {
    let Some(cluster) = Cluster::shared() else { return };
    let database = cluster.database();
    let mut owner = database.session(Role::Owner);
    let rights = "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolreplication
                  FROM pg_roles WHERE rolname = current_user";
    assert_eq!(owner.execute(rights), "f|f|f|f|f");
    owner.execute("CREATE TABLE notes (text text)");
    owner.execute("CREATE SCHEMA archive");
    let schema = "SELECT nspowner::regrole = current_user::regrole FROM pg_namespace
                  WHERE nspname = 'public'";
    assert_eq!(owner.execute(schema), "t");
}

/// A table with a row of two tenants each; without the setting `tenant` nobody sees any.
fn with_row_level_security(database: &Database) {
    database.session(Role::Owner).execute(
        "CREATE TABLE notes (tenant text, text text);
         INSERT INTO notes VALUES ('a', 'of a'), ('b', 'of b');
         ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
         CREATE POLICY own ON notes USING (tenant = current_setting('app.tenant', true))",
    );
}

#[test]
fn forced_row_level_security_applies_to_the_owner_and_not_to_the_superuser() {
    let Some(cluster) = Cluster::shared() else { return };
    let database = cluster.database();
    with_row_level_security(&database);
    let mut owner = database.session(Role::Owner);
    assert_eq!(owner.execute("SELECT text FROM notes"), "");
    owner.execute("SET app.tenant = 'b'");
    assert_eq!(owner.execute("SELECT tenant, text FROM notes"), "b|of b");
    let fault = owner.try_execute("INSERT INTO notes VALUES ('a', 'forged')");
    assert_eq!(fault.expect_err("it is not b's").code, "42501");
    assert_eq!(database.sql("SELECT text FROM notes ORDER BY text"), "of a\nof b");
}

#[test]
fn a_template_is_prepared_once_and_cloned_with_its_owner() {
    let Some(cluster) = Cluster::shared() else { return };
    let prepared = AtomicU32::new(0);
    // A pool that is still open when it returns is the usual case.
    let lingering = std::sync::Mutex::new(None);
    let clone = || {
        cluster.database_from("once", |draft| {
            prepared.fetch_add(1, Ordering::Relaxed);
            let mut session = draft.session(Role::Owner);
            session.execute("CREATE TABLE notes (text text)");
            *lingering.lock().expect("unpoisoned") = Some(session);
        })
    };
    let clones = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(clone)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a clone")).collect::<Vec<_>>()
    });
    // Unless the tests of another process of the run have prepared it before.
    assert!(prepared.load(Ordering::Relaxed) <= 1);
    for database in &clones {
        let mut owner = database.session(Role::Owner);
        owner.execute("ALTER TABLE notes ADD COLUMN written timestamptz");
        owner.execute("INSERT INTO notes VALUES ('mine')");
        assert_eq!(owner.execute("SELECT count(*) FROM notes"), "1");
    }
}

#[test]
fn a_failed_preparation_is_tried_again() {
    let Some(cluster) = Cluster::shared() else { return };
    let failed = std::panic::catch_unwind(|| {
        cluster.database_from("failing", |_| std::panic::resume_unwind(Box::new("as planned")))
    });
    assert!(failed.is_err());
    let database = cluster.database_from("failing", |_| {});
    assert_eq!(database.sql("SELECT 1"), "1");
}

#[test]
fn an_own_cluster_goes_away_and_comes_back_with_its_data() {
    let Some(mut cluster) = Cluster::own() else { return };
    let database = cluster.database();
    database.sql("CREATE TABLE notes AS SELECT 'kept' AS text");
    let mut session = database.session(Role::Owner);

    cluster.stop();
    let ended = session.try_execute("SELECT 1").expect_err("the server ended the session");
    assert_eq!(ended.code, "57P01");
    assert!(session.try_execute("SELECT 1").is_err());

    cluster.start();
    assert_eq!(database.sql("SELECT text FROM notes"), "kept");

    let directory = cluster.directory().to_owned();
    let server = server_in(&directory);
    assert!(runs(&server));
    drop(cluster);
    assert!(!directory.exists());
    // The process ends a moment after `pg_ctl` considers it stopped.
    assert!(in_time(|| !runs(&server)), "{server} runs still");
}

/// A separate run, with a shell for a runner that starts two test processes at the same time, each of
/// which has several threads that ask for the cluster first.
#[test]
fn threads_and_processes_share_one_cluster_and_nothing_is_left_of_it() {
    if Cluster::shared().is_none() {
        return;
    }
    let own = std::env::current_exe().expect("the path of this program");
    let child = r#""$0" --ignored --exact --nocapture child"#;
    let runner = Command::new("sh")
        .args(["-c", &format!("{child} & {child} & wait")])
        .arg(own)
        .env("CARGO", "sh")
        .stderr(Stdio::inherit())
        .output()
        .expect("a shell");
    let output = String::from_utf8_lossy(&runner.stdout);
    let found: Vec<_> = output.lines().filter_map(|line| line.split_once("cluster: ")).collect();
    assert_eq!(found.len(), 8, "{output}");
    let (_, cluster) = found[0];
    assert!(found.iter().all(|(_, other)| *other == cluster), "{output}");

    let [server, directory, data] = cluster.split(' ').collect::<Vec<_>>()[..] else {
        panic!("no server and directories in:\n{output}")
    };
    let clusters = Path::new(directory).parent().expect("the clusters of the run");
    let run = clusters.parent().expect("the directory of the run");
    let nothing_left = || !runs(server) && !run.exists() && !Path::new(data).exists();
    assert!(in_time(nothing_left), "the watchdog has left {server} in {directory}");
}

/// A test process of another run.
#[test]
#[ignore = "`threads_and_processes_share_one_cluster_and_nothing_is_left_of_it` runs it"]
fn child() {
    let ask = || {
        let cluster = Cluster::shared().expect("the parent has one, too");
        let database = cluster.database_from("processes", |_| {});
        assert_eq!(database.sql("SELECT 1"), "1");
        let directory = cluster.directory();
        let data = directory.canonicalize().expect("a directory");
        format!("{} {} {}", server_in(directory), directory.display(), data.display())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        for thread in threads {
            println!("cluster: {}", thread.join().expect("a cluster"));
        }
    });
}

#[test]
fn without_a_server_tests_are_skipped_and_fail_in_ci() {
    let run = |ci: &str| {
        let own = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(own);
        // A separate run: the one that we are in knows already where the programs are.
        command.env_remove("CARGO").env_remove("NEXTEST");
        command.env("PORTCULLIS_TEST_PG_BIN", "/nowhere").env("CI", ci);
        command.args(["--exact", "databases_are_apart"]).output().expect("this program")
    };
    let skipped = run("");
    let said = String::from_utf8_lossy(&skipped.stderr);
    assert!(skipped.status.success());
    assert!(said.contains("SKIPPED: PORTCULLIS_TEST_PG_BIN names `/nowhere`"), "{said}");
    let failed = run("true");
    let said = String::from_utf8_lossy(&failed.stdout);
    assert!(!failed.status.success());
    assert!(said.contains("under CI=true no test is skipped"), "{said}");
}

/// The process id of the server, which it notes in its data directory.
fn server_in(directory: &Path) -> String {
    let file = directory.join("data/postmaster.pid");
    let text = std::fs::read_to_string(file).expect("the server runs");
    text.lines().next().expect("its process id").to_owned()
}

fn runs(process: &str) -> bool {
    let kill = Command::new("sh").args(["-c", r#"kill -0 "$0""#, process]).output();
    kill.expect("a shell").status.success()
}

/// Waits until something is so; `false` when it never is.
fn in_time(condition: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !condition() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    condition()
}
