//! Faults of replicas, of PostgreSQL and of the network under load, with real processes. A checker judges the history of
//! each run.
//!
//! The usual run causes each fault once, for a short time. The long one prints the table of `docs/operations.md`:
//! `cargo test -p portcullis-server --test blackbox faults::for_long -- --ignored --nocapture`

#![expect(clippy::expect_used, reason = "all of it is test code, helpers included")]

mod checker;
mod history;
mod load;
mod network;
mod rolling;
mod stage;
mod table;

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use portcullis_test_postgres::{Cluster, Role};

use checker::{Checker, Fault};
use history::{CELLS, History, Loss, TENANTS};
use load::Load;
use network::Network;
use stage::{LAST, READER, STALENESS, Stage};
use table::Table;

/// Time beyond `MAX_STALENESS` after which a write counts everywhere: a busy machine stops processes at any place.
const SLACK: Duration = Duration::from_millis(500);

/// Lets faults happen under load, until everything works again. Returns the history.
fn under_load(stage: &Stage, faults: impl FnOnce(&Load<'_>, &mut Vec<Loss>)) -> History {
    let (load, mut history) = Load::prepare(stage);
    let mut losses = Vec::new();
    history.add(load.during(|| faults(&load, &mut losses)));
    history.losses = losses;
    stage.all_ready();
    history.add(load.check_all());
    history
}

/// Asserts that the history keeps every promise, and that the load was one.
#[track_caller]
fn is_right(history: &History) {
    let faults = Checker::new(history, STALENESS + SLACK).faults();
    assert!(
        faults.is_empty(),
        "{} faults, such as {:#?}",
        faults.len(),
        &faults[..faults.len().min(3)]
    );
    let acknowledged = history.writes.iter().filter(|write| write.revision.is_some()).count();
    assert!(
        acknowledged > 100 && history.checks.len() > 500,
        "{acknowledged} writes, {} checks",
        history.checks.len()
    );
}

/// Faults of replicas. The database keeps every acknowledged write.
fn of_replicas(stage: &Stage, load: &Load<'_>, table: &mut Table, lasts: Duration) {
    let wait = |time| std::thread::sleep(time);
    table.row(load, "nothing", || wait(lasts));
    table.row(load, "a replica is killed, and started again", || {
        stage.kill(READER);
        wait(lasts);
        stage.restart(READER);
    });
    table.row(load, "a replica is stopped for longer than `MAX_STALENESS`, and goes on", || {
        stage.signal(LAST, "STOP");
        wait(STALENESS + lasts);
        stage.signal(LAST, "CONT");
        stage.all_ready();
    });
    table.row(load, "all connections of the pools wait for a lock", || {
        let mut session = stage.database.session(Role::Superuser);
        session.execute("BEGIN; LOCK TABLE tenants IN ACCESS EXCLUSIVE MODE");
        wait(lasts);
        session.execute("ROLLBACK");
        stage.all_ready();
    });
}

fn locked(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().expect("unpoisoned")
}

/// Faults of PostgreSQL. The database keeps every acknowledged write, since commits wait for the standby.
fn of_postgres(stage: &Stage, load: &Load<'_>, table: &mut Table, lasts: Duration) {
    let wait = |time| std::thread::sleep(time);
    table.row(load, "the primary is restarted", || {
        let mut primary = locked(&stage.primary);
        primary.stop();
        primary.start();
        stage.all_ready();
        wait(lasts);
    });
    table.row(load, "the primary is frozen, and goes on", || {
        locked(&stage.primary).freeze();
        wait(lasts);
        locked(&stage.primary).thaw();
        stage.all_ready();
    });
    table.row(load, "failover to a synchronous standby", || {
        locked(&stage.primary).wait_for_standby("standby");
        wait(lasts);
        locked(&stage.primary).crash();
        locked(&stage.standby).promote();
        stage.all_ready();
        wait(lasts);
    });
}

/// Fails over to a standby that lags, and returns what that loses.
fn lagging_failover(
    stage: &Stage,
    load: &Load<'_>,
    table: &mut Table,
    lasts: Duration,
) -> Vec<Loss> {
    let mut losses = Vec::new();
    table.row(load, "failover to a standby that lags", || {
        let (old, mut new) = (locked(&stage.standby), locked(&stage.spare));
        new.follow(&old, "spare");
        old.standbys_catch_up();
        new.cut_off();
        std::thread::sleep(lasts);
        load.between_writes(|| {
            drop(old);
            locked(&stage.standby).crash();
            let at = load.now();
            // Before a replica can begin an epoch, which raises the revision.
            losses.extend((0..TENANTS.len()).map(|tenant| Loss {
                tenant,
                kept: stage.revision(&new, tenant),
                at,
            }));
            new.promote();
        });
        stage.all_ready();
        std::thread::sleep(STALENESS + lasts);
    });
    losses
}

/// A newer version adds a table and columns under the replicas of this one, which go on and do not start again.
fn newer_version(stage: &Stage, load: &Load<'_>, table: &mut Table, lasts: Duration) {
    table.row(load, "a newer version adds a table and columns", || {
        let database =
            std::mem::ManuallyDrop::new(locked(&stage.spare).existing(stage.database.name()));
        database.sql(
            "CREATE TABLE of_a_newer_version (id text);
             ALTER TABLE tenants ADD COLUMN of_a_newer_version text;
             ALTER TABLE rbac_rules ADD COLUMN of_a_newer_version text;
             ALTER TABLE resources ADD COLUMN of_a_newer_version text;
             INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9999, 'newer', true, ''::bytea, 0)",
        );
        std::thread::sleep(lasts);
        let refused = stage.run(&["migrate"]);
        assert_ne!(refused.code, Some(0), "an old version must not start on the newer schema");
        assert!(refused.err.contains("9999"), "{}", refused.err);
    });
}

/// Cuts a replica off from the database, heals the cut, and takes the replica out of its network.
fn cut_off(network: &Network, stage: &Stage, load: &Load<'_>, table: &mut Table, lasts: Duration) {
    table.row(load, "a replica is cut off from the database, and healed", || {
        network.cut();
        std::thread::sleep(STALENESS + lasts);
        network.heal();
        stage.all_ready();
    });
    stage.kill(LAST);
    stage.restart(LAST);
}

/// Causes every fault, and returns the table.
fn every_fault(lasts: Duration) -> Option<String> {
    let network = Network::make();
    let stage = Stage::start(network.as_ref())?;
    let mut table = Table::default();
    let history = under_load(&stage, |load, losses| {
        of_replicas(&stage, load, &mut table, lasts);
        if let Some(network) = &network {
            cut_off(network, &stage, load, &mut table, lasts);
        }
        of_postgres(&stage, load, &mut table, lasts);
        losses.extend(lagging_failover(&stage, load, &mut table, lasts));
        newer_version(&stage, load, &mut table, lasts);
    });
    is_right(&history);
    assert!(!history.losses.is_empty());
    assert!(stage.loads_from_standbys(READER) > 0, "plans are read from standbys");
    Some(table.render(&history))
}

#[test]
fn no_fault_breaks_a_promise() {
    if let Some(table) = every_fault(Duration::from_millis(300)) {
        println!("{table}");
    }
}

#[test]
#[ignore = "takes minutes; prints the table of docs/operations.md"]
fn for_long() {
    let Some(table) = every_fault(Duration::from_secs(10)) else { return };
    println!("{table}");
}

/// The control: rules change behind the back of the service, without a revision, and a process that starts reads them.
#[test]
fn the_checker_finds_what_the_service_never_acknowledged() {
    let Some(stage) = Stage::start(None) else { return };
    let mut asked = History::default();
    let mut history = under_load(&stage, |load, _| {
        asked = load.between_writes(|| {
            stage.database.sql(
                "UPDATE rbac_rules SET effect = CASE effect WHEN 'allow' THEN 'deny' ELSE 'allow' END",
            );
            stage.kill(0);
            stage.restart(0);
            // Each write makes one rule right again.
            load.check_all()
        });
    });
    history.add(asked);
    let faults = Checker::new(&history, STALENESS + SLACK).faults();
    let wrong = faults.iter().filter(|fault| matches!(fault, Fault::WrongDecision(_)));
    assert!(wrong.count() >= TENANTS.len() * CELLS, "{faults:?}");
}
