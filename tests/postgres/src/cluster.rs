//! A server with its data directory: made, started, stopped, removed.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::database::{OWNER, SUPERUSER};
use crate::run::{Run, lock, once};
use crate::session::Session;

/// Part of the name of the socket. The server does not listen on the network.
pub(crate) const PORT: u16 = 5432;

/// Settings of a server whose data does not matter. Nothing must survive a crash, each test has a pool of
/// connections, tables with a few rows need no vacuum, and all files of the server are in its directory.
const SETTINGS: &str = "
listen_addresses = ''
max_connections = 200
shared_buffers = 32MB
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 128MB
dynamic_shared_memory_type = mmap
autovacuum = off
";

/// A running PostgreSQL, reached by a unix socket only.
#[derive(Debug)]
pub struct Cluster {
    directory: PathBuf,
    programs: &'static Path,
    run: &'static Run,
}

impl Cluster {
    /// Returns the server that all tests of the run share. The first call starts it.
    ///
    /// Returns `None` and writes a line to the standard error if there is no PostgreSQL. Panics instead if the
    /// environment has `CI=true`, or if PostgreSQL does not start.
    #[must_use]
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        SHARED.get_or_init(|| Self::enter(Run::current())).as_ref()
    }

    /// Makes a server for the caller alone, for a test that stops it. This takes a second. The value removes
    /// its server when it is dropped. Returns `None` as [`shared`](Self::shared) does.
    #[must_use]
    pub fn own() -> Option<Self> {
        Self::own_with("")
    }

    /// Makes a server as [`own`](Self::own) does, with more settings.
    pub(crate) fn own_with(settings: &str) -> Option<Self> {
        let run = Run::current();
        let cluster = Self { directory: new_directory(run), programs: run.programs()?, run };
        cluster.make(settings);
        Some(cluster)
    }

    /// Returns a server for the caller alone in a directory that is still empty.
    pub(crate) fn beside(&self) -> Self {
        let cluster =
            Self { directory: new_directory(self.run), programs: self.programs, run: self.run };
        cluster.make_directory();
        cluster
    }

    fn enter(run: &'static Run) -> Option<Self> {
        let directory = run.clusters.join("shared");
        let cluster = Self { directory, programs: run.programs()?, run };
        let _alone = lock(&run.directory.join("lock"));
        once(&run.directory.join("started"), || {
            // A process that was killed here may have left a part.
            let _ = fs::remove_dir_all(&cluster.directory);
            cluster.make("");
        });
        Some(cluster)
    }

    fn make(&self, settings: &str) {
        self.make_directory();
        let mut initdb = self.program("initdb");
        initdb.arg("--pgdata").arg(self.data()).args(["--username", SUPERUSER]);
        initdb.args(["--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]);
        self.succeed(&mut initdb);
        self.configure(&format!("{SETTINGS}{settings}"));
        self.allow_networks();
        self.control("start");
        self.session(SUPERUSER, "template1").execute(&format!(
            "CREATE ROLE {OWNER} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
             ALTER SCHEMA public OWNER TO {OWNER}"
        ));
    }

    fn make_directory(&self) {
        DirBuilder::new().mode(0o700).create(&self.directory).expect("the directory of a cluster");
        if let Some(user) = self.run.server_user {
            let given = chown(&self.directory, Some(user.uid), Some(user.gid));
            given.expect("root gives a directory away");
        }
    }

    /// Adds settings, of which the last of a name counts, and the place of the socket.
    pub(crate) fn configure(&self, settings: &str) {
        let file = OpenOptions::new().append(true).open(self.data().join("postgresql.conf"));
        let mut file = file.expect("initdb has made a configuration");
        let directory = self.directory.display();
        let written =
            writeln!(file, "{settings}\nunix_socket_directories = '{directory}'\nport = {PORT}");
        written.expect("the configuration is ours");
    }

    /// Allows connections without a password from private networks, if a setting makes the server listen there.
    fn allow_networks(&self) {
        let file = OpenOptions::new().append(true).open(self.data().join("pg_hba.conf"));
        let mut file = file.expect("initdb has made it");
        writeln!(file, "host all all 10.0.0.0/8 trust").expect("the file is ours");
    }

    /// Returns a shell with the programs of PostgreSQL, which connect to this server as superuser.
    #[must_use]
    pub fn shell(&self, script: &str) -> Command {
        let mut shell = self.run.command(Path::new("sh"));
        let mut path = self.programs.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        shell.args(["-e", "-c", script]).current_dir(&self.directory);
        shell.env("PATH", path);
        shell.env("PGHOST", &self.directory).env("PGPORT", PORT.to_string());
        shell.env("PGUSER", SUPERUSER);
        shell
    }

    /// Stops the server: sessions end with SQLSTATE 57P01, and new connections fail.
    #[track_caller]
    pub fn stop(&mut self) {
        self.control("stop");
    }

    /// Starts the server again with its databases, and waits until it accepts connections.
    #[track_caller]
    pub fn start(&mut self) {
        self.control("start");
    }

    /// Stops the server, and keeps a copy of its data for [`Cluster::restore`]. The server starts again.
    #[track_caller]
    pub fn save(&mut self) {
        self.stop();
        self.copy(&self.data(), &self.saved());
        self.start();
    }

    /// Puts the saved data in place of that of the server, as a failover to a standby that lagged does, and starts the
    /// server again.
    #[track_caller]
    pub fn restore(&mut self) {
        self.stop();
        fs::remove_dir_all(self.data()).expect("the directory is ours");
        self.copy(&self.saved(), &self.data());
        self.start();
    }

    fn saved(&self) -> PathBuf {
        self.directory.join("saved")
    }

    #[track_caller]
    fn copy(&self, from: &Path, to: &Path) {
        let mut copy = self.run.command(Path::new("cp"));
        self.succeed(copy.arg("--archive").arg(from).arg(to));
    }

    /// Returns the directory of the socket.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the option of `CREATE DATABASE` that copies a template file by file. This is several times faster
    /// than the default since version 15, which copies page by page through the log.
    pub(crate) fn strategy(&self) -> &'static str {
        let version = fs::read_to_string(self.data().join("PG_VERSION")).unwrap_or_default();
        let has_choice = version.trim().parse::<u32>().is_ok_and(|version| version >= 15);
        if has_choice { "STRATEGY file_copy" } else { "" }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join(format!(".s.PGSQL.{PORT}"))
    }

    #[track_caller]
    pub(crate) fn session(&self, user: &str, database: &str) -> Session {
        match Session::open(&self.socket(), user, database) {
            Ok(session) => session,
            Err(fault) => panic!("cannot connect to `{database}`: {fault}"),
        }
    }

    /// Returns the folder of the programs of PostgreSQL.
    pub(crate) fn programs(&self) -> &'static Path {
        self.programs
    }

    /// Returns the command of a program, with the user of the servers.
    pub(crate) fn command(&self, program: &Path) -> Command {
        self.run.command(program)
    }

    fn program(&self, name: &str) -> Command {
        self.command(&self.programs.join(name))
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    #[track_caller]
    pub(crate) fn control(&self, action: &str) {
        self.succeed(&mut self.pg_ctl(action, "fast"));
    }

    pub(crate) fn pg_ctl(&self, action: &str, mode: &str) -> Command {
        let mut command = self.program("pg_ctl");
        command.args([action, "--wait", "--silent", "--mode", mode]);
        command.arg("--pgdata").arg(self.data());
        command.arg("--log").arg(self.directory.join("log"));
        command
    }

    #[track_caller]
    pub(crate) fn succeed(&self, command: &mut Command) {
        match command.output() {
            Err(fault) => panic!("{command:?}: {fault}"),
            Ok(output) if !output.status.success() => {
                let complaint = String::from_utf8_lossy(&output.stderr);
                let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
                panic!("{command:?} failed:\n{complaint}{log}");
            }
            Ok(_) => {}
        }
    }
}

/// Returns a new directory for a server of the caller alone.
fn new_directory(run: &Run) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    run.clusters.join(format!("own-{}-{count}", std::process::id()))
}

/// Only the cluster of [`Cluster::own`] is dropped: the shared one is in a `static`.
impl Drop for Cluster {
    fn drop(&mut self) {
        // The test may have stopped the server, or frozen it.
        self.signal("CONT");
        let _ = self.pg_ctl("stop", "immediate").output();
        let _ = fs::remove_dir_all(&self.directory);
    }
}
