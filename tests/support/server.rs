//! `portcullis serve` with a database of its own.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, Weak};

use tempfile::TempDir;

use super::Provider;
use super::process::{Finished, Process, finish, portcullis};

/// What a server is started with: a directory that lives as long as anybody needs it, and variables.
#[derive(Clone)]
pub(crate) struct Settings {
    directory: Arc<TempDir>,
    variables: BTreeMap<&'static str, String>,
}

impl Settings {
    /// For the tokens of `provider`, whose key set is found by discovery.
    pub(crate) fn of(provider: &Provider) -> Self {
        Self::without_provider().set("AUTH_SERVER_URL", provider.issuer())
    }

    /// Everything but a provider.
    pub(crate) fn without_provider() -> Self {
        let directory = Arc::new(tempfile::tempdir().expect("a temporary directory"));
        let database = directory.path().join("portcullis.db");
        Self { directory, variables: BTreeMap::new() }
            .set("DATABASE_URL", format!("sqlite://{}", database.display()))
            .set("LISTEN_ADDR", "127.0.0.1:0")
            .set("ENCRYPTION_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
    }

    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.insert(name, value.into());
        self
    }

    /// A path in the server's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts it, and waits until it serves.
    #[track_caller]
    pub(crate) fn start(&self) -> Server {
        self.start_with(&["serve"])
    }

    /// Starts it by another command line.
    #[track_caller]
    pub(crate) fn start_with(&self, arguments: &[&str]) -> Server {
        let mut command = portcullis(arguments);
        command.envs(&self.variables).current_dir(self.directory.path());
        let process = Process::spawn(command);
        let Some(address) =
            process.err.wait_for(|lines| lines.iter().find_map(|line| listening(line)))
        else {
            panic!("the server does not start:\n{}", process.err.text());
        };
        Server { process, address, settings: self.clone() }
    }

    /// Runs a command that ends by itself, with these settings.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        let mut command = portcullis(arguments);
        command.envs(&self.variables).current_dir(self.directory.path());
        finish(command)
    }
}

fn listening(line: &str) -> Option<SocketAddr> {
    let (_, address) = line.split_once("listening on http://")?;
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
            let server = Arc::new(Settings::of(Provider::shared()).start());
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
