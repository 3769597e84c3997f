//! Programs of the tests that npm installs under `target`. They need Node and npm; where these are missing a test says so
//! and passes, except under `CI=true`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use super::openid::{available, say, skip};
use super::process::{finish, repository};

/// Returns the folder of the installation of `tests/{name}`.
pub(crate) fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns the folder with `files` of `tests/{name}` and what its lock file names: installs that first where it was not
/// done yet. `None` where it cannot be done.
#[track_caller]
pub(crate) fn installed(name: &str, files: &[&str]) -> Option<PathBuf> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if !available("node") || !available("npm") {
        skip(&format!("`tests/{name}` needs `node` and `npm`"));
        return None;
    }
    let (source, target) = (repository().join("tests").join(name), target(name));
    std::fs::create_dir_all(&target).expect("a directory");
    // Another test process may be at it.
    let lock = File::create(target.join("lock")).expect("a lock file");
    lock.lock().expect("the lock");
    let read = |path: PathBuf| std::fs::read(path).ok();
    for file in ["package.json", "package-lock.json"].iter().chain(files) {
        // Left alone where it is right: a running Node may be reading it.
        if read(target.join(file)) != read(source.join(file)) {
            std::fs::copy(source.join(file), target.join(file)).expect("a copy");
        }
    }
    let (done, wanted) = (target.join("installed"), read(source.join("package-lock.json")));
    if read(done.clone()) != wanted {
        install(&target);
        std::fs::write(done, wanted.expect("a lock file of npm")).expect("a note of that");
    }
    Some(target)
}

fn install(target: &Path) {
    say(&format!("installing what npm brings into {}", target.display()));
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
    npm.current_dir(target).stdin(Stdio::null());
    let npm = finish(npm);
    assert_eq!(npm.code, Some(0), "npm ci: {}\n{}", npm.out, npm.err);
}
