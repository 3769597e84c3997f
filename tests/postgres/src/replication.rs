//! A primary with streaming standbys, and what happens to such servers: promotion, a freeze, a crash.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cluster::{Cluster, PORT};
use crate::database::{OWNER, SUPERUSER};
use crate::run::say;

/// Settings of a server that others follow. `fsync` stays off: the machine does not crash.
const REPLICATED: &str = "
wal_level = replica
max_wal_senders = 10
wal_sender_timeout = 5s
synchronous_commit = on
hot_standby = on
max_connections = 300
";

/// The time limit of an expected event.
const PATIENCE: Duration = Duration::from_secs(30);

impl Cluster {
    /// Makes a server for the caller alone, which standbys can follow. `settings` are lines of `postgresql.conf`.
    /// Returns `None` as [`shared`](Self::shared) does, and also where `pg_basebackup` is missing.
    #[must_use]
    pub fn replicated(settings: &str) -> Option<Self> {
        let cluster = Self::own_with(&format!("{REPLICATED}{settings}\n"))?;
        if cluster.backup_program().is_none() {
            say("no `pg_basebackup`, tests of standbys are SKIPPED");
            return None;
        }
        Some(cluster)
    }

    /// Returns the path of `pg_basebackup`. Some packages link only the server's programs into a folder of `PATH`.
    fn backup_program(&self) -> Option<PathBuf> {
        let linked = fs::canonicalize(self.programs().join("postgres")).ok();
        let folders = [Some(self.programs().to_owned()), linked?.parent().map(Path::to_owned)];
        let places = folders.into_iter().flatten().map(|folder| folder.join("pg_basebackup"));
        places.into_iter().find(|place| place.is_file())
    }

    /// Makes a standby that follows this server under the name `name`, and starts it.
    #[must_use]
    #[track_caller]
    pub fn standby(&self, name: &str) -> Self {
        let standby = self.spare();
        standby.follow(self, name);
        standby
    }

    /// Returns a place for a server that is made later.
    #[must_use]
    pub fn spare(&self) -> Self {
        self.beside()
    }

    /// Makes this spare place a standby of `primary` under the name `name`, and starts it.
    #[track_caller]
    pub fn follow(&self, primary: &Self, name: &str) {
        let source = format!(
            "host={} port={PORT} user={SUPERUSER} application_name={name}",
            primary.directory().display()
        );
        let program = self.backup_program().expect("`replicated` found it");
        let mut backup = self.command(&program);
        backup.args(["--checkpoint=fast", "--no-sync", "--write-recovery-conf", "--dbname"]);
        backup.arg(source).arg("--pgdata").arg(self.data());
        self.succeed(&mut backup);
        // The copy has the settings of its primary.
        self.configure("synchronous_standby_names = ''\nlisten_addresses = ''\n");
        self.control("start");
    }

    /// Lets this standby receive nothing from now on, as if its network were cut, and waits until it has replayed the rest.
    #[track_caller]
    pub fn cut_off(&self) {
        let mut session = self.session(SUPERUSER, "postgres");
        session.execute("ALTER SYSTEM SET primary_conninfo = ''");
        session.execute("SELECT pg_reload_conf()");
        let count = "SELECT count(*) FROM pg_stat_wal_receiver";
        until("the standby is cut off", || session.execute(count) == "0");
        let has_rest = "SELECT pg_last_wal_replay_lsn() < pg_last_wal_receive_lsn()";
        until("the standby replays the rest", || session.execute(has_rest) != "t");
    }

    /// Lets commits of this server wait for the standby `name`, or for none if the name is empty.
    #[track_caller]
    pub fn wait_for_standby(&self, name: &str) {
        let mut session = self.session(SUPERUSER, "postgres");
        session.execute(&format!("ALTER SYSTEM SET synchronous_standby_names = '{name}'"));
        session.execute("SELECT pg_reload_conf()");
        let count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
        let expected = if name.is_empty() { "0" } else { "1" };
        until("the standby is the synchronous one", || session.execute(count) == expected);
    }

    /// Waits until every standby has replayed all that this server has written so far.
    #[track_caller]
    pub fn standbys_catch_up(&self) {
        let mut session = self.session(SUPERUSER, "postgres");
        let written = session.execute("SELECT pg_current_wal_lsn()");
        let behind = format!(
            "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn IS NULL OR replay_lsn < '{written}'"
        );
        until("the standbys catch up", || session.execute(&behind) == "0");
    }

    /// Lets this standby replay nothing from now on, or everything again.
    #[track_caller]
    pub fn hold_replay(&self, hold: bool) {
        let act = if hold { "pause" } else { "resume" };
        self.session(SUPERUSER, "postgres").execute(&format!("SELECT pg_wal_replay_{act}()"));
    }

    /// Makes this standby a primary, and waits until it is.
    #[track_caller]
    pub fn promote(&mut self) {
        self.control("promote");
    }

    /// Ends the server without a shutdown, as a crash does.
    #[track_caller]
    pub fn crash(&mut self) {
        self.succeed(&mut self.pg_ctl("stop", "immediate"));
    }

    /// Stops all processes of the server, which keep their connections and answer nothing.
    #[track_caller]
    pub fn freeze(&mut self) {
        assert!(self.signal("STOP"), "the server runs");
    }

    /// Lets a frozen server go on.
    #[track_caller]
    pub fn thaw(&mut self) {
        assert!(self.signal("CONT"), "the server is there");
    }

    /// Sends a signal to every process of the server. False if it does not run.
    pub(crate) fn signal(&self, name: &str) -> bool {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        let Some(postmaster) = file.lines().next().filter(|line| line.parse::<u32>().is_ok())
        else {
            return false;
        };
        // The first stops making children, so that none is missed.
        // A child may end meanwhile.
        let script = format!(
            "kill -{name} {postmaster} && {{ kill -{name} $(pgrep -P {postmaster}) || true; }}"
        );
        Command::new("sh").args(["-c", &script]).output().is_ok_and(|done| done.status.success())
    }

    /// Returns the URL of the database `name` on all of these servers, in this order.
    #[must_use]
    pub fn url_of_all(clusters: &[&Self], name: &str) -> String {
        let place = |cluster: &&Self| cluster.directory().display().to_string().replace('/', "%2F");
        let places = clusters.iter().map(place).collect::<Vec<_>>().join(",");
        format!("postgres://{OWNER}@localhost:{PORT}/{name}?host={places}")
    }
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "it never happens: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
