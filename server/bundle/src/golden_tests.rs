//! The bytes of content: what folders, plans and drafts of before have must stay as it is.

use std::fs;
use std::path::Path;

use portcullis_engine::json;

use super::exported_content::ExportedContent;
use super::folder_files::folder_files;
use super::kinds::tests::FILES;
use super::{Bundle, ModuleContent, SecretValues};

const TYPES: &str = "
- type: folder
  about: Of files
  properties: {size: {type: number}, kept: {type: boolean, about: Not deleted, from: directory}}
  relations:
    parent: {from: '[folder]', request: parent}
    viewer: '[user] || parent.viewer'
- {type: group, relations: {member: {from: '[user]', claim: groups, renamed_from: in}}}
- {type: team, relations: {member: {from: '[user]', claim: {name: teams, absent: nobody}}}}
- {type: context}
";

/// Compares `text` with a file beside this one, which `BLESS=1` writes.
#[track_caller]
fn assert_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("writable");
    }
    let expected = fs::read_to_string(&path).expect("a golden file");
    assert_eq!(text, expected, "{name}");
}

/// Returns the files of content in the form of an export, in the order of their names.
fn files_of(content: &str) -> String {
    let kinds = json::parse(content.as_bytes()).expect("JSON");
    let descriptors: Vec<_> = ["hr", "z"]
        .map(|namespace| (namespace.to_owned(), json::parse(br#"{"name": "x"}"#).expect("JSON")))
        .into();
    let content = ExportedContent { tenant: "acme", kinds: &kinds, descriptors: &descriptors };
    let mut files = folder_files(&content).expect("writable");
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let files = files.into_iter();
    files.map(|file| format!("=== {}\n{}", file.name, file.text)).collect()
}

#[test]
fn every_member_of_a_folder_is_sent_and_written_with_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let tenant = folder.path().join("acme");
    fs::create_dir(&tenant).expect("writable");
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies/resolvers");
    std::os::unix::fs::symlink(samples, folder.path().join("resolvers")).expect("writable");
    for (name, text) in FILES {
        // The policies read attributes that the types among the files do not declare.
        let text = if name == "types.yaml" { TYPES } else { text };
        fs::write(tenant.join(name), text).expect("writable");
    }
    let bundle = Bundle::read_folder(&tenant).expect("sound");
    let module = ModuleContent { sha256: "00ff".to_owned(), bytes: None };
    let secrets = SecretValues::from([("HOOK_SECRET".to_owned(), "hunter2".to_owned())]);
    let sent = bundle.content(&secrets, &[module]).to_string();
    assert_golden("sent.json", &sent.replace("},{", "},\n{"));
    assert_golden("files.txt", &files_of(&sent));
}

#[test]
fn members_of_exports_are_written_in_one_order_and_without_defaults() {
    assert_golden("exported.txt", &files_of(include_str!("golden/exported.json")));
}
