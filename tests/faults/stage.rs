//! The stage of a run: a primary with a standby, three replicas of the service, and the keys of two tenants.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use portcullis_test_postgres::{Cluster, Database};

use super::history::{Process, TENANTS};
use super::network::Network;
use crate::support::server::migrate;
use crate::support::{Request, Server, Settings, eventually};

pub(super) const REPLICAS: usize = 3;
/// The replica that reads plans from standbys.
pub(super) const READER: usize = 1;
/// The replica that is in its own network at first.
pub(super) const LAST: usize = 2;
/// `MAX_STALENESS` of the replicas.
pub(super) const STALENESS: Duration = Duration::from_secs(2);
/// Seconds by which the clocks of the replicas are wrong.
const CLOCKS: [i32; REPLICAS] = [0, 3_600, -3_600];

/// A replica, which is down at times.
struct Slot {
    /// The settings of its next start.
    settings: Settings,
    restarts: usize,
    server: Option<Server>,
}

/// The keys of a tenant.
pub(super) struct Keys {
    pub(super) admin: String,
    pub(super) gateway: String,
}

pub(super) struct Stage {
    pub(super) keys: Vec<Keys>,
    slots: Vec<Mutex<Slot>>,
    // The servers of PostgreSQL end after those that use them.
    pub(super) database: Database,
    pub(super) primary: Mutex<Cluster>,
    pub(super) standby: Mutex<Cluster>,
    /// The place of a standby of the standby, once that is the primary.
    pub(super) spare: Mutex<Cluster>,
    _directory: tempfile::TempDir,
}

impl Stage {
    /// Starts everything, with the last replica in `network` until its first restart. It knows the primary alone there.
    /// `None` where there is no PostgreSQL that can be replicated.
    pub(super) fn start(network: Option<&Network>) -> Option<Self> {
        let listen =
            network.map(|network| format!("listen_addresses = '{}'", network.database_address()));
        let primary = Cluster::replicated(&listen.unwrap_or_default())?;
        let database = primary.database();
        migrate(database.url());
        let standby = primary.standby("standby");
        let spare = primary.spare();
        let url = Cluster::url_of_all(&[&standby, &primary, &spare], database.name());
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings::without_provider()
            .set("OIDC_ENABLED", "false")
            .set("MAX_STALENESS", format!("{}s", STALENESS.as_secs()))
            .set("DATABASE_URL", url);
        let keys = TENANTS.iter().map(|tenant| make_keys(&settings, tenant)).collect();
        let library = shifted_clock(directory.path());
        let read = Cluster::url_of_all(&[&standby, &spare], database.name());
        let slots = CLOCKS.iter().enumerate().map(|(replica, shift)| {
            let mut settings = with_clock(&settings, library.as_deref(), *shift);
            if replica == READER {
                settings = settings.set("DATABASE_READ_URL", &read);
            }
            let server = match network.filter(|_| replica == LAST) {
                Some(network) => start_inside(network, settings.clone(), database.name()),
                None => settings.start(),
            };
            Slot { server: Some(server), settings, restarts: 0 }
        });
        let slots = slots.map(Mutex::new).collect();
        Some(Self {
            keys,
            slots,
            database,
            primary: Mutex::new(primary),
            standby: Mutex::new(standby),
            spare: Mutex::new(spare),
            _directory: directory,
        })
    }

    /// Returns the present process of a replica, and its address; `None` while the replica is down.
    pub(super) fn replica(&self, replica: usize) -> Option<(Process, SocketAddr)> {
        let slot = self.slots[replica].lock().expect("unpoisoned");
        let process = Process { replica, restarts: slot.restarts };
        slot.server.as_ref().map(|server| (process, server.address))
    }

    /// Kills a replica.
    pub(super) fn kill(&self, replica: usize) {
        drop(self.slots[replica].lock().expect("unpoisoned").server.take());
    }

    /// Starts a replica that is down.
    pub(super) fn restart(&self, replica: usize) {
        let settings = self.slots[replica].lock().expect("unpoisoned").settings.clone();
        // The load goes on meanwhile.
        let server = settings.start();
        let mut slot = self.slots[replica].lock().expect("unpoisoned");
        slot.restarts += 1;
        slot.server = Some(server);
    }

    /// Sends a signal to a replica.
    pub(super) fn signal(&self, replica: usize, name: &str) {
        let slot = self.slots[replica].lock().expect("unpoisoned");
        slot.server.as_ref().expect("it runs").process.signal(name);
    }

    /// Runs a command of the service to its end, with the settings of a replica.
    pub(super) fn run(&self, arguments: &[&str]) -> crate::support::process::Finished {
        let settings = self.slots[0].lock().expect("unpoisoned").settings.clone();
        settings.run(arguments)
    }

    /// Waits until every replica that runs is ready.
    #[track_caller]
    pub(super) fn all_ready(&self) {
        for replica in 0..REPLICAS {
            let Some((_, address)) = self.replica(replica) else { continue };
            let probe = Request::new("GET /healthz/ready");
            eventually("the replica is ready", || {
                probe.try_send(address).is_some_and(|reply| reply.status == 200)
            });
        }
    }

    /// Returns the number of plans that a replica has read from standbys since its start.
    pub(super) fn loads_from_standbys(&self, replica: usize) -> u64 {
        let (_, address) = self.replica(replica).expect("it runs");
        let text = Request::new("GET /metrics").send(address).is(200).text;
        let series = "portcullis_plan_load_sources_total{source=\"standby\"} ";
        let figure = text.lines().find_map(|line| line.strip_prefix(series));
        figure.expect("the series").parse().expect("a number")
    }

    /// Returns the revision of a tenant in the database of a server.
    pub(super) fn revision(&self, cluster: &Cluster, tenant: usize) -> u64 {
        // The value must not drop the database.
        let database = std::mem::ManuallyDrop::new(cluster.existing(self.database.name()));
        let sql = format!("SELECT revision FROM tenants WHERE id = '{}'", TENANTS[tenant]);
        database.sql(&sql).parse().expect("a number")
    }
}

/// Returns the settings with a wall clock that is wrong by some seconds.
fn with_clock(settings: &Settings, library: Option<&Path>, shift: i32) -> Settings {
    let settings = settings.clone();
    match library.filter(|_| shift != 0) {
        Some(library) => settings
            .set("LD_PRELOAD", library.display().to_string())
            .set("CLOCK_SHIFT", shift.to_string()),
        None => settings,
    }
}

/// Starts a replica in its own network.
fn start_inside(network: &Network, settings: Settings, database: &str) -> Server {
    let url = format!("postgres://portcullis@{}:5432/{database}", network.database_address());
    let settings = settings
        .set("DATABASE_URL", url)
        .set("LISTEN_ADDR", format!("{}:0", network.replica_address()));
    settings.start_in_namespace(network.name())
}

fn make_keys(settings: &Settings, tenant: &str) -> Keys {
    let make = |name: &str, more: &[&str]| {
        let command = ["keys", "create", "--tenant", tenant, "--name", name];
        let made = settings.run(&[&command, more].concat());
        assert_eq!(made.code, Some(0), "{}", made.err);
        made.out.trim().to_owned()
    };
    Keys {
        admin: make("admin", &["--create-tenant"]),
        gateway: make("gateway", &["--permissions", "access:evaluate"]),
    }
}

/// Compiles the library that shifts the wall clock. Says so where there is no compiler, and the clocks agree then.
fn shifted_clock(directory: &Path) -> Option<PathBuf> {
    let library = directory.join("clock.so");
    let source = directory.join("clock.c");
    std::fs::write(&source, include_str!("clock.c")).expect("the directory is ours");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    if compiler.status().is_ok_and(|status| status.success()) {
        return Some(library);
    }
    eprintln!("no C compiler: the clocks of the replicas agree, wrong ones are SKIPPED");
    None
}
