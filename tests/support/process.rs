//! `portcullis` as a child process: its output read line by line, killed when it is dropped.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A process that has not done by then what it was waited for never will.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that runs the built binary, or the one that `PORTCULLIS_BIN` names, with an empty environment.
pub(crate) fn portcullis(arguments: &[&str]) -> Command {
    let other = std::env::var_os("PORTCULLIS_BIN");
    let mut command =
        Command::new(other.unwrap_or_else(|| env!("CARGO_BIN_EXE_portcullis").into()));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// The repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the repository")
}

/// A process that ended by itself.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command to its end. One that should end and does not is killed, and then has no exit code.
pub(crate) fn finish(command: Command) -> Finished {
    let mut process = Process::spawn(command);
    let code = process.wait().and_then(|status| status.code());
    Finished { code, out: process.out.text(), err: process.err.text() }
}

/// A running process.
pub(crate) struct Process {
    child: Child,
    pub(crate) out: Arc<Output>,
    pub(crate) err: Arc<Output>,
}

impl Process {
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the process starts");
        let out = Output::follow(child.stdout.take().expect("piped"));
        let err = Output::follow(child.stderr.take().expect("piped"));
        Self { child, out, err }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, as a supervisor does.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &kill]).status().expect("a shell");
        assert!(sent.success(), "the process is gone already");
    }

    /// Ends it at once, as a power cut would.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits until it ends by itself; kills it and gives `None` if it does not.
    pub(crate) fn wait(&mut self) -> Option<ExitStatus> {
        let ended = self.err.wait_for_end() && self.out.wait_for_end();
        if !ended {
            self.kill();
            return None;
        }
        Some(self.child.wait().expect("a child"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The output of a process so far.
#[derive(Default)]
pub(crate) struct Output {
    state: Mutex<(Vec<String>, bool)>,
    changed: Condvar,
}

impl Output {
    fn follow(stream: impl Read + Send + 'static) -> Arc<Self> {
        let output = Arc::new(Self::default());
        let own = Arc::clone(&output);
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                own.state.lock().expect("unpoisoned").0.push(line);
                own.changed.notify_all();
            }
            own.state.lock().expect("unpoisoned").1 = true;
            own.changed.notify_all();
        });
        output
    }

    /// Returns the result of `find` in the lines, now or later; `None` when the process ends without.
    pub(crate) fn wait_for<T>(&self, find: impl Fn(&[String]) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.state.lock().expect("unpoisoned");
        loop {
            let found = find(&state.0);
            let left = deadline.saturating_duration_since(Instant::now());
            if found.is_some() || state.1 || left.is_zero() {
                return found;
            }
            state = self.changed.wait_timeout(state, left).expect("unpoisoned").0;
        }
    }

    fn wait_for_end(&self) -> bool {
        self.wait_for(|_| None::<()>);
        self.state.lock().expect("unpoisoned").1
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.state.lock().expect("unpoisoned").0.clone()
    }

    pub(crate) fn text(&self) -> String {
        self.lines().join("\n")
    }
}
