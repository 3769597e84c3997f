//! The rows against the documents and the readers.

use std::fs;
use std::path::Path;

use super::*;
use crate::service::Config;
use crate::variables::Variables;

/// The line behind which both tables begin.
const HEAD: &str = "|---|---|---|\n";

/// Compares the table behind `title` with `rows`, which `BLESS=1` writes.
fn assert_table(document: &str, title: &str, rows: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let text = fs::read_to_string(&path).expect("a document");
    let title = text.find(title).expect("the title");
    let start = title + text[title..].find(HEAD).expect("a table") + HEAD.len();
    let end = start + text[start..].find("\n\n").expect("the end of the table") + 1;
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{}{rows}{}", &text[..start], &text[end..])).expect("writable");
        return;
    }
    assert!(text[start..end] == *rows, "{document}: run this test with BLESS=1");
}

#[test]
fn the_tables_of_the_documents_are_the_rows() {
    let row = |setting: &Setting, about: &str| {
        let default = setting.shown_default();
        format!("| `{}` | {default} | {about} |\n", setting.name).replace("|  |", "| |")
    };
    let law: String = SETTINGS.iter().map(|one| row(one, one.values)).collect();
    assert_table("semantics.md", "### 9.2 Configuration", &law);
    let guide = SETTINGS.iter().filter_map(|one| Some(row(one, one.guide?)));
    assert_table("operations.md", "| Variable | Default | Meaning |", &guide.collect::<String>());
}

/// Returns all settings with one set to `value`, as text.
fn read(name: &str, value: &str) -> String {
    let needed = [
        ("AUTH_SERVER_URL", "https://id.example"),
        ("ENCRYPTION_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ("DECISION_LOG_URL", "file:///decisions"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector.example:4318"),
    ];
    let entries = needed.into_iter().chain([(name, value)]);
    let entries = entries.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let variables = Variables(entries.collect());
    let config = Config::read(&variables).unwrap_or_else(|error| panic!("{name}: {error}"));
    let others = (variables.log_format(), variables.log_filter());
    format!("{config:?} {others:?}")
}

#[test]
fn a_default_is_as_if_it_were_set() {
    let absent = read("MODE", "");
    for setting in &SETTINGS {
        if let Value(value) = setting.default {
            assert_eq!(read(setting.name, value), absent, "{}", setting.name);
        }
    }
    assert_ne!(read("MAX_CHECKS", "1023"), absent, "the control");
}
