//! `deploy/verify`: a release is accepted, and one with a changed byte is not.

use std::path::Path;
use std::process::Command;

use super::{Packages, succeed};
use crate::support::openid::skip;
use crate::support::process::{Finished, finish, repository};

const SUMS: &str = "SHA256SUMS";
const SIGNATURE: &str = "SHA256SUMS.minisig";

fn verify(file: &Path, key: &Path) -> Finished {
    let mut verify = Command::new(repository().join("deploy/verify"));
    verify.arg("--key").arg(key).arg(file);
    finish(verify)
}

/// Changes one bit of the byte at this place.
fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Copies a file of the release with checksums and signature to an empty folder.
fn copied(packages: &Packages, name: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in [name, SUMS, SIGNATURE] {
        std::fs::copy(packages.path(name), directory.path().join(name)).unwrap();
    }
    directory
}

#[test]
fn a_flipped_byte_of_any_file_is_found() {
    let Some(packages) = Packages::shared() else { return };
    let key = packages.key("key.pub");
    let files = std::fs::read_dir(packages.directory.path()).unwrap();
    for file in files.map(|file| file.unwrap().file_name().into_string().unwrap()) {
        if [SUMS, SIGNATURE].contains(&&*file) {
            continue;
        }
        let directory = copied(packages, &file);
        let path = directory.path().join(&file);
        let done = verify(&path, &key);
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{file}");
        assert!(done.out.trim().ends_with(&format!(": portcullis {version}")), "{}", done.out);
        let middle = std::fs::metadata(&path).unwrap().len() / 2;
        flip(&path, usize::try_from(middle).unwrap());
        let done = verify(&path, &key);
        assert_eq!(done.code, Some(1), "{file}");
        assert!(done.err.contains(&format!("{file}` was changed")), "{}", done.err);
    }
}

#[test]
fn a_flipped_byte_of_the_checksums_the_signature_or_the_key_is_found() {
    let Some(packages) = Packages::shared() else { return };
    let text = std::fs::read_to_string(packages.path(SIGNATURE)).unwrap();
    let line = |number: usize| -> usize { text.lines().take(number).map(|it| it.len() + 1).sum() };
    let name = "portcullis-0.3.0.tgz".replace("0.3.0", env!("CARGO_PKG_VERSION"));
    // The second line is the signature, the third the trusted comment, and the fourth the signature of both.
    for (changed, at) in [
        (SUMS, 70),
        (SIGNATURE, line(1) + 30),
        (SIGNATURE, line(2) + "trusted comment: p".len()),
        (SIGNATURE, line(3) + 30),
    ] {
        let directory = copied(packages, &name);
        flip(&directory.path().join(changed), at);
        let done = verify(&directory.path().join(&name), &packages.key("key.pub"));
        assert_eq!(done.code, Some(1), "{changed} at {at}");
        assert!(done.err.contains(SIGNATURE), "{}", done.err);
    }
    // The key of the releases is another one than that of this test.
    let directory = copied(packages, &name);
    let published = repository().join("deploy/portcullis.pub");
    let done = verify(&directory.path().join(&name), &published);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("is not a signature by the key"), "{}", done.err);
    let other = directory.path().join("other.pub");
    std::fs::copy(packages.key("key.pub"), &other).unwrap();
    let length = std::fs::read(&other).unwrap().len();
    flip(&other, length - 10);
    assert_eq!(verify(&directory.path().join(&name), &other).code, Some(1));
}

#[test]
fn minisign_itself_accepts_the_signature() {
    let Some(packages) = Packages::shared() else { return };
    // Its `-v` prints the version; it knows no `--version`.
    if Command::new("minisign").arg("-v").output().is_err() {
        return skip("the format of signatures is judged by `minisign`");
    }
    let mut minisign = Command::new("minisign");
    minisign.arg("-Vm").arg(packages.path(SUMS)).arg("-p").arg(packages.key("key.pub"));
    assert!(succeed(&mut minisign).contains("Signature and comment signature verified"));
}
