//! Every document and every section that code or documents cite exists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Result;
use regex_lite::Regex;

use crate::expect_none;
use crate::workspace::{TextFile, text_files};

/// The folders of the repository that hold documents. A citation may leave their name out.
const FOLDERS: [&str; 2] = ["", "docs"];

/// The documents of the repository with the headings of each.
type Documents = BTreeMap<PathBuf, Headings>;

#[derive(Default)]
struct Headings {
    /// The numbers before headings, such as `2` and `4.5`.
    sections: BTreeSet<String>,
    /// The names by which links lead to headings.
    anchors: BTreeSet<String>,
}

fn documents(files: &[TextFile]) -> Documents {
    let is_document = |file: &&TextFile| file.path.extension().is_some_and(|it| it == "md");
    files.iter().filter(is_document).map(|file| (file.path.clone(), headings(&file.text))).collect()
}

fn headings(text: &str) -> Headings {
    let mut headings = Headings::default();
    let lines = text.lines().filter(|line| line.starts_with('#'));
    for heading in lines.map(|line| line.trim_start_matches('#').trim()) {
        let number = heading.split(' ').next().unwrap_or_default().trim_end_matches('.');
        if number.starts_with(|c: char| c.is_ascii_digit()) {
            headings.sections.insert(number.to_owned());
        }
        let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        headings.anchors.insert(
            heading.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-"),
        );
    }
    headings
}

/// The patterns of citations.
struct Patterns {
    document: Regex,
    sections: Regex,
    number: Regex,
}

impl Patterns {
    fn new() -> Result<Self> {
        Ok(Self {
            document: Regex::new(r"([A-Za-z0-9_./:-]*[A-Za-z0-9_-]\.md)\b(?:#([a-z0-9_-]+))?")?,
            sections: Regex::new(r"^`?,? sections? ([0-9][0-9., andto]*)")?,
            number: Regex::new(r"[0-9]+(?:\.[0-9]+)*")?,
        })
    }

    /// Returns the citations of `file` that lead nowhere.
    fn faults(&self, file: &TextFile, documents: &Documents) -> Vec<String> {
        let mut faults = Vec::new();
        let text = joined(&file.text);
        for citation in self.document.captures_iter(&text) {
            let (Some(whole), Some(path)) = (citation.get(0), citation.get(1)) else { continue };
            if path.as_str().contains("//") {
                continue;
            }
            let cites = format!("{} cites `{}`", file.path.display(), path.as_str());
            let Some(headings) = find(path.as_str(), &file.path, documents) else {
                faults.push(format!("{cites}, which does not exist"));
                continue;
            };
            if let Some(anchor) =
                citation.get(2).filter(|anchor| !headings.anchors.contains(anchor.as_str()))
            {
                faults.push(format!("{cites}, which has no heading `{}`", anchor.as_str()));
            }
            let rest = text.get(whole.end()..).unwrap_or_default();
            let numbers = self
                .sections
                .captures(rest)
                .and_then(|captures| captures.get(1))
                .map_or("", |it| it.as_str());
            for number in self.number.find_iter(numbers).map(|number| number.as_str()) {
                if !headings.sections.contains(number) {
                    faults.push(format!("{cites}, section {number}, which does not exist"));
                }
            }
        }
        faults
    }
}

/// Joins the lines of a text, since a citation may go over the end of a line of a comment.
fn joined(text: &str) -> String {
    let marks =
        |line: &str| line.trim().trim_start_matches(['/', '!', '#']).trim_start().to_owned();
    text.lines().map(marks).collect::<Vec<_>>().join(" ")
}

/// Returns the document that `path` means in the file `from`. The path begins at the folder of that file, at the root, or
/// at the folder of documents.
fn find<'a>(path: &str, from: &Path, documents: &'a Documents) -> Option<&'a Headings> {
    let own = from.parent().unwrap_or(Path::new(""));
    let folders = FOLDERS.iter().map(Path::new).chain([own]);
    folders.into_iter().find_map(|folder| documents.get(&normal(&folder.join(path))))
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                normal.pop();
            }
            std::path::Component::Normal(name) => normal.push(name),
            _ => {}
        }
    }
    normal
}

#[test]
fn every_citation_leads_to_a_document_and_a_section() -> Result<()> {
    let files = text_files(&[
        "html", "md", "mjs", "py", "rs", "sh", "sql", "template", "toml", "wit", "yaml",
    ])?;
    let (documents, patterns) = (documents(&files), Patterns::new()?);
    // This file cites what does not exist, for its own test.
    let files = files.iter().filter(|file| !file.path.ends_with("architecture/citations.rs"));
    let found: Vec<String> = files.flat_map(|file| patterns.faults(file, &documents)).collect();
    expect_none(&found)
}

#[test]
fn a_citation_that_leads_nowhere_is_found() -> Result<()> {
    let document = TextFile {
        path: "docs/law.md".into(),
        text: "# Law\n## 2. Terms\n### 2.1 All words\n".to_owned(),
    };
    let documents = documents(&[document]);
    let cases = [
        ("//! Terms (`docs/law.md`, sections 2 and 2.1).", 0),
        ("//! Terms (`docs/law.md`,\n//! section 2.1).", 0),
        ("[words](../docs/law.md#21-all-words), [words](law.md)", 0),
        ("https://example.org/other.md", 0),
        ("// See docs/other.md.", 1),
        ("/// `docs/law.md`, section 2.2, says it", 1),
        ("/// (`docs/law.md`,\n    /// sections 2.1 to 3)", 1),
        ("[words](../docs/law.md#22-all-words)", 1),
    ];
    for (text, expected) in cases {
        let file = TextFile { path: "server/sample.rs".into(), text: text.to_owned() };
        let found = Patterns::new()?.faults(&file, &documents);
        anyhow::ensure!(found.len() == expected, "`{text}`: {found:?}");
    }
    Ok(())
}
