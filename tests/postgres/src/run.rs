//! A test run: the directory that its processes share, the lock that orders them, the watchdog that cleans up.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::programs;

/// The folder of the runs. It is not `TMPDIR`, because the path of a unix socket must fit into 104 bytes, and an
/// unprivileged user must be able to read it when the tests run as root.
const TEMPORARY: &str = "/tmp";

/// A file system in memory, on Linux. It makes a database in a tenth of the time.
const MEMORY: &str = "/dev/shm";

/// The memory that must be free there, in KiB: a cluster takes 100 MB, a database 8. Containers often have 64 MB.
const ENOUGH_MEMORY: u64 = 1 << 20;

/// An account of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// The run that this process belongs to.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) directory: PathBuf,
    /// The directory of the clusters.
    pub(crate) clusters: PathBuf,
    /// The user of the servers, if the tests run as root: PostgreSQL refuses to run as root.
    pub(crate) server_user: Option<User>,
    programs: Result<PathBuf, String>,
}

impl Run {
    /// Enters the run. The first process makes its directory, starts the watchdog and finds PostgreSQL.
    pub(crate) fn current() -> &'static Self {
        static CURRENT: OnceLock<Run> = OnceLock::new();
        CURRENT.get_or_init(Self::enter)
    }

    fn enter() -> Self {
        let runner = runner();
        let name = format!("portcullis-pg-{}", identity(runner));
        let directory = Path::new(TEMPORARY).join(&name);
        let root = enter_directory(&directory) == 0;
        let _alone = lock(&directory.join("lock"));
        let clusters = directory.join("clusters");
        once(&directory.join("watched"), || {
            let place = if has_enough_memory() {
                Path::new(MEMORY).join(&name)
            } else {
                directory.join("data")
            };
            watch(runner, &[&directory, &place]);
            enter_directory(&place);
            symlink(&place, &clusters).expect("a link in the directory of the run");
        });
        let programs = remembered(&directory).unwrap_or_else(|| find_programs(&directory, root));
        if let Err(missing) = &programs {
            say(&format!("no PostgreSQL, tests that need one are SKIPPED: {missing}"));
        }
        // This comes last, because the package that was installed may have added the user.
        let server_user = (root && programs.is_ok()).then(unprivileged_user);
        Self { directory, clusters, server_user, programs }
    }

    /// Returns the folder of the programs. `None` means that there is no PostgreSQL and that tests may be skipped.
    pub(crate) fn programs(&self) -> Option<&Path> {
        match &self.programs {
            Ok(programs) => Some(programs),
            Err(missing) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => {
                panic!("no PostgreSQL, and under CI=true no test is skipped: {missing}")
            }
            Err(_) => None,
        }
    }

    /// Returns the command of a program of PostgreSQL, with the user of the servers.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/").stdin(Stdio::null());
        if let Some(user) = self.server_user {
            command.uid(user.uid).gid(user.gid);
        }
        command
    }
}

/// Waits for the lock of a file and makes the file if it does not exist. The lock ends with the value.
pub(crate) fn lock(path: &Path) -> File {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.unwrap_or_else(|fault| panic!("cannot open `{}`: {fault}", path.display()));
    file.lock().expect("a lock");
    file
}

/// Calls `act` unless the file `done` exists, and then makes the file. The caller holds a lock.
pub(crate) fn once(done: &Path, act: impl FnOnce()) {
    if !done.exists() {
        act();
        File::create(done).expect("a file in the directory of the run");
    }
}

/// Writes a line for the developer. The test harness hides the output of `eprintln!` when the test passes.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "portcullis-test-postgres: {text}");
}

/// Returns the process whose end is the end of the run. The parent is the runner only if cargo or nextest started
/// this test. A test that a person started, or whose parent has ended, is a separate run.
fn runner() -> u32 {
    let started_by_runner =
        ["CARGO", "NEXTEST"].iter().any(|name| std::env::var_os(name).is_some());
    match parent_id() {
        parent if started_by_runner && parent != 1 => parent,
        _ => std::process::id(),
    }
}

/// Returns the process id with the time of its start, if the system has it, because ids are used again.
fn identity(process: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the process is in parentheses and may contain anything. Field 3 follows it; see proc(5).
    let started = status.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(19));
    started.map_or_else(|| process.to_string(), |started| format!("{process}-{started}"))
}

/// Makes the directory unless it exists, and returns the id of the own user.
fn enter_directory(directory: &Path) -> u32 {
    // Other users may enter it but not list it: the servers may have another user, and have their own directories
    // in it.
    match DirBuilder::new().mode(0o711).create(directory) {
        Err(fault) if fault.kind() != ErrorKind::AlreadyExists => {
            panic!("cannot make `{}`: {fault}", directory.display())
        }
        _ => {}
    }
    let id = Command::new("id").arg("-u").output().expect("`id` runs").stdout;
    let id = String::from_utf8_lossy(&id).trim().parse().expect("the id of the user");
    let owner = fs::symlink_metadata(directory).expect("it is there").uid();
    assert_eq!(owner, id, "`{}` belongs to somebody else", directory.display());
    id
}

fn has_enough_memory() -> bool {
    let report = Command::new("df").args(["-Pk", MEMORY]).output();
    let report = report.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let line = report.as_ref().ok().and_then(|report| report.lines().nth(1));
    let free = line.and_then(|line| line.split_whitespace().nth(3)?.parse::<u64>().ok());
    free.is_some_and(|free| free >= ENOUGH_MEMORY)
}

/// Starts the process that outlives this one and cleans up. It has its own process group, so that neither Ctrl-C nor
/// a runner that ends the group of a test ends it. It has no stream that another process waits for.
#[expect(clippy::zombie_processes, reason = "it outlives this process")]
fn watch(runner: u32, directories: &[&Path]) {
    let mut watchdog = Command::new("sh");
    watchdog.args(["-c", include_str!("watchdog.sh"), "portcullis-test-postgres"]);
    watchdog.arg(runner.to_string()).args(directories).current_dir("/").process_group(0);
    watchdog.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    watchdog.spawn().expect("a shell");
}

/// Returns what another process of the run found.
fn remembered(directory: &Path) -> Option<Result<PathBuf, String>> {
    let found = fs::read_to_string(directory.join("found")).ok().map(|path| Ok(path.into()));
    found.or_else(|| fs::read_to_string(directory.join("missing")).ok().map(Err))
}

/// Finds PostgreSQL and stores the result for all processes: an installation in each would take minutes.
fn find_programs(directory: &Path, root: bool) -> Result<PathBuf, String> {
    let found = programs::find(root);
    let (name, text) = match &found {
        Ok(programs) => ("found", programs.to_str().expect("a path in UTF-8")),
        Err(missing) => ("missing", missing.as_str()),
    };
    fs::write(directory.join(name), text).expect("a file in the directory of the run");
    found
}

fn unprivileged_user() -> User {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let account = |name: &str| {
        let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let account = fields.into_iter().find(|fields| fields.first() == Some(&name))?;
        Some(User { uid: account.get(2)?.parse().ok()?, gid: account.get(3)?.parse().ok()? })
    };
    account("postgres").or_else(|| account("nobody")).expect(
        "PostgreSQL does not run as root, and /etc/passwd names neither `postgres` nor `nobody`",
    )
}
