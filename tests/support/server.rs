//! `portcullis serve` with its own database.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, Weak};

use portcullis_test_postgres::{Cluster, Database};
use portcullis_test_s3::S3Server;
use tempfile::TempDir;

use super::Provider;
use super::process::{Finished, Process, finish, portcullis};
use crate::setup;

/// The operator's key, in `saas` mode.
pub(crate) const ADMIN_KEY: &str = "the-operators-key-of-the-black-box-tests";

/// The settings of a server: a place that lives as long as anybody needs it, and variables.
/// The address by which clients reach the servers of the tests.
pub(crate) const PUBLIC_URL: &str = "https://authz.example";

#[derive(Clone)]
pub(crate) struct Settings {
    place: Arc<Place>,
    variables: BTreeMap<&'static str, String>,
}

/// The place where a server stores its data.
struct Place {
    directory: TempDir,
    /// The database of PostgreSQL, dropped with the value.
    database: Option<Database>,
}

impl Settings {
    /// For the tokens of `provider`: in `selfhost` mode its key set is found by discovery, in `saas` mode it
    /// is registered with each tenant.
    pub(crate) fn new(provider: &Provider) -> Self {
        let settings = Self::without_provider();
        if !setup::is_saas() {
            return settings.set("AUTH_SERVER_URL", provider.issuer());
        }
        settings
            .set("MODE", "saas")
            .set("ADMIN_API_KEY", ADMIN_KEY)
            .set("EGRESS_ALLOW_HTTP", "true")
            .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
    }

    /// Everything but a provider.
    pub(crate) fn without_provider() -> Self {
        if setup::is_postgres() { Self::on(migrated_database()) } else { Self::on_sqlite() }
    }

    fn on_sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = format!("sqlite://{}", directory.path().join("portcullis.db").display());
        Self::at(Place { directory, database: None }, url)
    }

    fn on(database: Database) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = database.url().to_owned();
        Self::at(Place { directory, database: Some(database) }, url)
    }

    fn at(place: Place, database_url: String) -> Self {
        Self { place: Arc::new(place), variables: BTreeMap::new() }
            .set("DATABASE_URL", database_url)
            .set("LISTEN_ADDR", "127.0.0.1:0")
            // Tests send more bad credentials than a client does.
            .set("RATE_LIMIT_FAILURES", "off")
            .set("PUBLIC_URL", PUBLIC_URL)
            .set("ENCRYPTION_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
    }

    /// Starts a server on a database that is still empty.
    pub(crate) fn on_an_empty_database(self) -> Self {
        if setup::is_postgres() { self.on_database(cluster().database()) } else { self }
    }

    /// Starts a server on another database of PostgreSQL.
    pub(crate) fn on_database(self, database: Database) -> Self {
        let other = Self::on(database);
        let url = other.variables["DATABASE_URL"].clone();
        Self { place: other.place, ..self }.set("DATABASE_URL", url)
    }

    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.insert(name, value.into());
        self
    }

    /// Keeps a record of decisions, in the server's directory.
    pub(crate) fn recording(self) -> Self {
        let url = format!("file://{}", self.path("decisions").display());
        self.set("DECISION_LOG_URL", url)
    }

    /// Keeps a record of decisions, in a bucket.
    pub(crate) fn recording_in(self, bucket: &S3Server) -> Self {
        let of_bucket = self.set("DECISION_LOG_URL", bucket.url("acme/log"));
        bucket.variables().into_iter().fold(of_bucket, |all, (name, value)| all.set(name, value))
    }

    /// A path in the server's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.directory.path().join(name)
    }

    /// The database of PostgreSQL; `None` on SQLite.
    pub(crate) fn database(&self) -> Option<&Database> {
        self.place.database.as_ref()
    }

    /// Starts it, and waits until it serves.
    #[track_caller]
    pub(crate) fn start(&self) -> Server {
        self.start_with(&["serve"])
    }

    /// Starts it by another command line.
    #[track_caller]
    pub(crate) fn start_with(&self, arguments: &[&str]) -> Server {
        self.start_by(portcullis(arguments))
    }

    /// Starts it in a process that may open so many files.
    #[track_caller]
    pub(crate) fn start_with_files(&self, files: usize) -> Server {
        let mut shell = Command::new("sh");
        let command = portcullis(&["serve"]);
        shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" serve")]);
        shell.arg(command.get_program()).env_clear().stdin(Stdio::null());
        self.start_by(shell)
    }

    /// Starts it in a network namespace.
    #[track_caller]
    pub(crate) fn start_in_namespace(&self, name: &str) -> Server {
        let command = portcullis(&["serve"]);
        let mut inside = Command::new("nsenter");
        inside.arg(format!("--net=/run/netns/{name}")).arg(command.get_program()).arg("serve");
        inside.env_clear().stdin(Stdio::null());
        self.start_by(inside)
    }

    /// Starts it where the system resolves names with the name server at `address`. Needs the rights of root.
    #[track_caller]
    pub(crate) fn start_with_name_server(&self, address: &str) -> Server {
        let file = self.place.directory.path().join("resolv.conf");
        std::fs::write(&file, format!("nameserver {address}\n")).expect("a file");
        let mut inside = Command::new("unshare");
        let mount = "mount --bind \"$1\" /etc/resolv.conf && exec \"$0\" serve";
        inside.args(["--mount", "sh", "-c", mount]).arg(portcullis(&["serve"]).get_program());
        inside.arg(file).env_clear().stdin(Stdio::null());
        self.start_by(inside)
    }

    /// Starts it by a command that ends with `serve`.
    #[track_caller]
    pub(crate) fn start_by(&self, mut command: Command) -> Server {
        command.envs(&self.variables).current_dir(self.place.directory.path());
        let process = Process::spawn(command);
        let Some(address) =
            process.err.wait_for(|lines| lines.iter().find_map(|line| listening(line)))
        else {
            panic!("the server does not start:\n{}", process.err.text());
        };
        Server { process, address, settings: self.clone() }
    }

    /// Starts it with standard error that is read up to its address, and then by nobody. Who drops the rest closes it.
    pub(crate) fn start_unread(&self) -> (Child, BufReader<ChildStderr>, SocketAddr) {
        let mut command = portcullis(&["serve"]);
        command.envs(&self.variables).current_dir(self.place.directory.path());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("the process starts");
        let mut log = BufReader::new(child.stderr.take().expect("piped"));
        let address = log.by_ref().lines().map_while(Result::ok).find_map(|line| listening(&line));
        let address = address.expect("the server starts");
        (child, log, address)
    }

    /// Runs a command that ends by itself, with these settings.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        let mut command = portcullis(arguments);
        command.envs(&self.variables).current_dir(self.place.directory.path());
        finish(command)
    }
}

/// The PostgreSQL of the run. Where there is none, the whole binary is skipped: the crate has said so.
fn cluster() -> &'static Cluster {
    Cluster::shared().unwrap_or_else(|| std::process::exit(0))
}

/// A database that is migrated already, so that a start takes no longer than on SQLite.
fn migrated_database() -> Database {
    cluster().database_from("blackbox", |draft| migrate(draft.url()))
}

/// Migrates the database at `url`.
pub(crate) fn migrate(url: &str) {
    let mut command = portcullis(&["migrate"]);
    command.env("DATABASE_URL", url);
    let done = finish(command);
    assert_eq!(done.code, Some(0), "{}", done.err);
}

fn listening(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once("listening on http")?;
    let (_, address) = url.split_once("://")?;
    // Whatever the log format puts behind it.
    let end = address.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':');
    address[..end.unwrap_or(address.len())].parse().ok()
}

/// A running server, killed when it is dropped.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    settings: Settings,
}

impl Server {
    /// The server that tests share which need nothing but a tenant of their own. It runs while one of
    /// them does.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        // Whoever failed to start it has said so; the next one tries again.
        let mut shared = SHARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Settings::new(Provider::shared()).start());
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Stops it as a supervisor does, and gives its exit status.
    #[track_caller]
    pub(crate) fn stop(mut self) -> ExitStatus {
        self.process.terminate();
        self.process.wait().expect("the server stops when it is told to")
    }

    /// Kills it, and starts another one on the same database.
    #[track_caller]
    pub(crate) fn crash_and_restart(mut self) -> Self {
        self.process.kill();
        self.settings.start()
    }
}
