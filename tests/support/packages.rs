//! Packages of npm and PyPI for tests, installed under `target` once for each state of their list. Where the programs that
//! install are missing, a test says so and passes, except under `CI=true`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::openid::{available, say, skip};
use super::process::{finish, repository};

/// The commands that install the packages of `requirements.txt` into an environment of Python.
const PYPI: [&[&str]; 2] = [
    &["python3", "-m", "venv", "--clear", "venv"],
    &["venv/bin/pip", "install", "--quiet", "-r", "requirements.txt"],
];

/// Returns the folder of the installation `name`.
pub(crate) fn target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns the folder with `files` of `tests/{name}` and the packages that its lock file names. `None` where they cannot be
/// installed.
#[track_caller]
pub(crate) fn from_npm(name: &str, files: &[&str]) -> Option<PathBuf> {
    let source = format!("tests/{name}");
    from_npm_as(name, &source, &[&["package-lock.json", "package.json"], files].concat())
}

/// Returns the folder `name` with `files` of `source`, the first of which is the lock file of its packages. `None` where they
/// cannot be installed.
#[track_caller]
pub(crate) fn from_npm_as(name: &str, source: &str, files: &[&str]) -> Option<PathBuf> {
    if !available("node") || !available("npm") {
        skip(&format!("`{source}` needs `node` and `npm`"));
        return None;
    }
    let npm = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"];
    Some(installed(name, source, files, &[&npm]))
}

/// Returns the folder `name` in which `venv` is an environment of Python with the packages that `requirements.txt` of `source`
/// names. `None` where they cannot be installed.
#[track_caller]
pub(crate) fn from_pypi(name: &str, source: &str) -> Option<PathBuf> {
    if !available("python3") {
        skip(&format!("`{source}` needs `python3` with pip"));
        return None;
    }
    Some(installed(name, source, &["requirements.txt"], &PYPI))
}

/// Returns the folder of the packages of `tests/{name}`, which PyPI has, and those of its `package.json`, which npm has.
pub(crate) fn from_both(name: &str) -> PathBuf {
    let npm: &[&str] = &["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"];
    let [venv, pip] = PYPI;
    let files = ["requirements.txt", "package.json"];
    installed(name, &format!("tests/{name}"), &files, &[venv, pip, npm])
}

/// Returns the folder `name` with `files` of `source`. Runs the commands in it if they have not run yet for the first file, the
/// list of packages, as it is.
fn installed(name: &str, source: &str, files: &[&str], commands: &[&[&str]]) -> PathBuf {
    let (source, target) = (repository().join(source), target(name));
    std::fs::create_dir_all(&target).expect("a directory");
    // Another test may be at it.
    let lock = File::create(target.join("lock")).expect("a lock file");
    lock.lock().expect("the lock");
    let read = |path: PathBuf| std::fs::read(path).ok();
    for file in files {
        // Left alone where it is right: a running Node may be reading it.
        if read(target.join(file)) != read(source.join(file)) {
            std::fs::copy(source.join(file), target.join(file)).expect("a copy");
        }
    }
    let (done, wanted) = (target.join("installed"), read(source.join(files[0])));
    if read(done.clone()) != wanted {
        say(&format!("installing packages into {}", target.display()));
        for command in commands {
            let mut process = Command::new(command[0]);
            process.args(&command[1..]).current_dir(&target).stdin(Stdio::null());
            let ended = finish(process);
            assert_eq!(ended.code, Some(0), "{command:?}: {}\n{}", ended.out, ended.err);
        }
        std::fs::write(done, wanted.expect("a list of packages")).expect("a note of that");
    }
    target
}
