//! The plain archive: unpacked, used, and deleted.

use std::process::Command;
use std::time::Instant;

use super::{Packages, first_decision, succeed};

#[test]
fn the_archive_is_used_where_it_is_unpacked() {
    let Some(packages) = Packages::shared() else { return };
    let (since, directory) = (Instant::now(), tempfile::tempdir().unwrap());
    let archive = packages.file(".tar.gz");
    succeed(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(directory.path()));
    let name = archive.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.gz").unwrap();
    let root = directory.path().join(name);
    assert!(root.join("man/portcullis-serve.1").exists() && root.join("LICENSE").exists());
    let command = |arguments: &[&str]| {
        let mut command = Command::new(root.join("portcullis"));
        command.args(arguments).env_clear();
        command
    };
    let folder = directory.path().join("first");
    first_decision(since, command, folder.to_str().unwrap());
    let mut kept: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept, ["first", name], "data is where the commands said, and nowhere else");
}
