//! `portcullis schema`: the JSON Schemas of files (`docs/schemas.md`).

use serde_json::Value;

use crate::support::process::{finish, portcullis, repository};

#[test]
fn the_binary_prints_and_writes_the_schemas_of_the_samples() {
    let samples = repository().join("policies/schemas");
    let read = |file: std::path::PathBuf| std::fs::read_to_string(file).unwrap();
    let printed = finish(portcullis(&["schema", "policies"]));
    assert_eq!((printed.code, &*printed.err), (Some(0), ""));
    assert_eq!(printed.out, read(samples.join("policies.schema.json")).trim_end());
    let schema: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");

    let folder = tempfile::tempdir().unwrap();
    let mut command = portcullis(&["schema", "--out", "new"]);
    command.current_dir(folder.path());
    assert_eq!(finish(command).code, Some(0));
    for entry in std::fs::read_dir(&samples).unwrap() {
        let name = entry.unwrap().file_name();
        assert_eq!(read(folder.path().join("new").join(&name)), read(samples.join(&name)));
    }
    let unknown = finish(portcullis(&["schema", "polices"]));
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("a similar value exists: 'policies'"), "{}", unknown.err);
}
