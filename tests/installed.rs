//! Packages of PyPI and npm for tests, installed once for each state of their list.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::process::finish;

/// Makes the folder `name` with the lists of packages of `source`, and installs by these commands if the list `wanted` is
/// not installed there yet.
pub(crate) fn installed(source: &Path, name: &str, wanted: &str, commands: &[&[&str]]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&target).unwrap();
    // Another test process may be at it.
    let lock = File::create(target.join("lock")).unwrap();
    lock.lock().unwrap();
    for file in ["package.json", "package-lock.json", "requirements.txt"] {
        if source.join(file).exists() {
            std::fs::copy(source.join(file), target.join(file)).unwrap();
        }
    }
    let read = |path: PathBuf| std::fs::read(path).ok();
    let (done, wanted) = (target.join("installed"), read(source.join(wanted)));
    if read(done.clone()) != wanted {
        for command in commands {
            let mut process = Command::new(command[0]);
            process.args(&command[1..]).current_dir(&target).stdin(Stdio::null());
            let ended = finish(process);
            assert_eq!(ended.code, Some(0), "{command:?}: {}\n{}", ended.out, ended.err);
        }
        std::fs::write(done, wanted.unwrap()).unwrap();
    }
    target
}
