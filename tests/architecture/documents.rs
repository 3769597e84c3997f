//! Documents are true about themselves and about the code: a table of contents lists the sections, a glossary has each term
//! once, `` `name` in `file.rs` `` is defined in that file, and each metric has its row.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use regex_lite::Regex;

use crate::expect_none;
use crate::workspace::{TextFile, root, text_files};

/// Returns whether the code names of a document must be defined where it says: the guides at the root and those of crates.
fn is_guide(path: &Path) -> bool {
    ["ARCHITECTURE.md", "CONTRIBUTING.md"].iter().any(|guide| path == Path::new(guide))
        || (path.ends_with("README.md")
            && (path.starts_with("engine") || path.starts_with("server")))
}

/// Returns the faults of a table of contents, whose rows begin with links such as `[2](#2-the-check)`, by the numbered
/// headings of the second level. A document without such rows has none.
fn faults_of_contents(document: &TextFile) -> Vec<String> {
    let row = |line: &str| Some(line.strip_prefix("| ")?.split_once(" |")?.0.to_owned());
    let is_link = |cell: &String| cell.starts_with('[') && cell.contains("](#");
    let listed: Vec<String> = document.text.lines().filter_map(row).filter(is_link).collect();
    let sections = document.text.lines().filter_map(|line| line.strip_prefix("## "));
    let sections: Vec<String> = sections.filter_map(link).collect();
    if listed.is_empty() || listed == sections {
        return Vec::new();
    }
    let missing = sections.iter().filter(|section| !listed.contains(section));
    let wrong = listed.iter().filter(|row| !sections.contains(row));
    let path = document.path.display();
    let mut faults: Vec<String> =
        missing.map(|section| format!("{path}: the contents lack {section}")).collect();
    faults.extend(
        wrong.map(|row| format!("{path}: the contents have {row}, which is not a section")),
    );
    if faults.is_empty() {
        faults.push(format!("{path}: the contents have the sections in another order, or twice"));
    }
    faults
}

/// Returns the link to a numbered heading such as `2. The check`.
fn link(heading: &str) -> Option<String> {
    let (number, _) = heading.split_once(". ")?;
    number.parse::<u32>().ok()?;
    let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-'].contains(c);
    let anchor: String = heading.to_lowercase().chars().filter(is_kept).collect();
    Some(format!("[{number}](#{})", anchor.replace(' ', "-")))
}

/// Returns the terms that the table `| Term | Meaning |` has twice.
fn faults_of_terms(document: &TextFile) -> Vec<String> {
    let mut known = BTreeSet::new();
    let rows = document.text.lines().skip_while(|line| *line != "| Term | Meaning |").skip(2);
    let rows = rows.take_while(|line| line.starts_with("| "));
    let terms = rows.filter_map(|row| row.split(" | ").next());
    let twice = terms.filter(|term| !known.insert(term.trim_start_matches("| ").to_lowercase()));
    let path = document.path.display();
    twice.map(|term| format!("{path}: the term `{}` stands twice", &term[2..])).collect()
}

/// Returns the names of a guide that are not defined where it says, and the files that do not exist. A file is named by
/// the end of its path.
fn faults_of_names(guide: &TextFile, sources: &[TextFile]) -> Result<Vec<String>> {
    let text = guide.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let file =
        Regex::new(r"(?:`([A-Za-z_][A-Za-z0-9_]*)(?:\(\))?` (?:in|of) )?`([A-Za-z0-9_./-]+\.rs)`")?;
    let mut faults = Vec::new();
    for found in file.captures_iter(&text) {
        let named = found.get(2).map_or("", |path| path.as_str());
        let files: Vec<_> = sources.iter().filter(|source| source.path.ends_with(named)).collect();
        if files.is_empty() {
            faults.push(format!("{}: there is no file `{named}`", guide.path.display()));
        }
        let Some(name) = found.get(1).map(|name| name.as_str()) else { continue };
        let definition =
            format!(r"\b(fn|const|static|struct|enum|trait|type|mod|macro_rules!) {name}\b");
        let definition = Regex::new(&definition)?;
        if !files.is_empty() && !files.iter().any(|source| definition.is_match(&source.text)) {
            faults.push(format!("{}: `{named}` does not define `{name}`", guide.path.display()));
        }
    }
    Ok(faults)
}

/// Returns the metrics that a source registers, and of which the table `| Series, …` of the guide has no row.
fn faults_of_metrics(guide: &str, source: &TextFile) -> Result<Vec<String>> {
    let registered = Regex::new(r#"registry\.register\(\s*"([a-z_]+)""#)?;
    let rows = guide.lines().skip_while(|line| !line.starts_with("| Series, ")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with("| ")).collect();
    let names = registered.captures_iter(&source.text).filter_map(|found| found.get(1));
    let missing = names.map(|name| name.as_str()).filter(|name| {
        let series = [format!("`{name}`"), format!("`{name}_total`")];
        !rows.iter().any(|row| series.iter().any(|one| row.contains(one)))
    });
    let path = source.path.display();
    Ok(missing.map(|name| format!("{path}: docs/operations.md has no row for `{name}`")).collect())
}

#[test]
fn the_guide_has_every_metric() -> Result<()> {
    let guide = std::fs::read_to_string(root().join("docs/operations.md"))?;
    let mut found = Vec::new();
    for source in text_files(&["rs"])?.iter().filter(|file| file.path.starts_with("server")) {
        found.extend(faults_of_metrics(&guide, source)?);
    }
    expect_none(&found)
}

#[test]
fn a_metric_without_a_row_is_found() -> Result<()> {
    let guide = "`lost`\n| Series, after `p_` | Labels |\n|---|---|\n| `checks_total`, `bytes` | |\n\n`lost`\n";
    for (code, expected) in [
        (
            r#"registry.register("checks", help, checks); registry.register("bytes", help, bytes);"#,
            0,
        ),
        ("registry.register(\n    \"bytes\",", 0),
        (r#"registry.register("lost", help, lost);"#, 1),
        (r#"registry.register("check", help, check);"#, 1),
    ] {
        let found = faults_of_metrics(guide, &file("server/src/metrics.rs", code))?;
        anyhow::ensure!(found.len() == expected, "{code}: {found:?}");
    }
    Ok(())
}

#[test]
fn documents_say_what_they_and_the_code_have() -> Result<()> {
    let (documents, sources) = (text_files(&["md"])?, text_files(&["rs"])?);
    let mut found: Vec<String> = documents.iter().flat_map(faults_of_contents).collect();
    found.extend(documents.iter().flat_map(faults_of_terms));
    let guides: Vec<_> = documents.iter().filter(|document| is_guide(&document.path)).collect();
    anyhow::ensure!(guides.len() > 2, "{} guides", guides.len());
    for guide in guides {
        found.extend(faults_of_names(guide, &sources)?);
    }
    expect_none(&found)
}

fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.into(), text: text.to_owned() }
}

/// Whoever comes first reads one screen: the rest is in `docs/README.md`.
#[test]
fn the_first_page_has_700_words_at_most() -> Result<()> {
    let words = std::fs::read_to_string(root().join("README.md"))?.split_whitespace().count();
    anyhow::ensure!(words <= 700, "README.md has {words} words");
    Ok(())
}

#[test]
fn contents_that_differ_from_the_sections_are_found() -> Result<()> {
    let sections = "## 1. Terms\n### 1.1 All\n## 2. The check\n## Notes\n";
    for (contents, expected) in [
        ("", 0),
        ("| [1](#1-terms) | x |\n| [2](#2-the-check) | y |\n", 0),
        ("| [1](#1-terms) | x |\n", 1),
        ("| [1](#1-terms) | x |\n| [2](#2-a-check) | y |\n", 2),
        ("| [2](#2-the-check) | y |\n| [1](#1-terms) | x |\n", 1),
        ("| [1](#1-terms) | x |\n| [2](#2-the-check) | y |\n| [2](#2-the-check) | y |\n", 1),
    ] {
        let found =
            faults_of_contents(&file("docs/semantics.md", &format!("{contents}\n{sections}")));
        anyhow::ensure!(found.len() == expected, "{contents}: {found:?}");
    }
    Ok(())
}

#[test]
fn a_term_that_stands_twice_is_found() -> Result<()> {
    let rows = |rows: &str| {
        let text =
            format!("| Term | Meaning |\n|---|---|\n{rows}\n| Not | But |\n|---|---|\n| a | b |\n");
        faults_of_terms(&file("docs/glossary.md", &text))
    };
    anyhow::ensure!(rows("| a | x |\n| b | a |\n").is_empty());
    for twice in ["| a | x |\n| b | y |\n| a | z |\n", "| kid | x |\n| Kid | y |\n"] {
        anyhow::ensure!(rows(twice).len() == 1, "{twice}");
    }
    Ok(())
}

#[test]
fn a_name_that_its_file_does_not_define_is_found() -> Result<()> {
    let sources = [
        file("server/src/a.rs", "pub(crate) fn read() {}\nconst MAX: u8 = 1;\n"),
        file("server/src/b.rs", "use crate::a::read; // fn and read\n"),
    ];
    for (text, expected) in [
        ("a line in `read` in `server/src/a.rs`, `MAX` of `src/a.rs`", 0),
        ("`read()` in\n   `a.rs`", 0),
        ("its name in `b.rs`, and `read` too", 0),
        ("`read` in `server/src/b.rs`", 1),
        ("`rea` in `a.rs`", 1),
        ("`read` in `c.rs`", 1),
        ("rows in `a.rs` and `server/a.rs`", 1),
    ] {
        let found = faults_of_names(&file("CONTRIBUTING.md", text), &sources)?;
        anyhow::ensure!(found.len() == expected, "`{text}`: {found:?}");
    }
    Ok(())
}
