//! The forms in which findings are written.

use std::io::{self, Write};

use serde::Serialize;

use super::code::Severity;
use super::finding::Finding;

/// A form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LintFormat {
    /// Two lines for each finding, and a line with the numbers.
    #[default]
    Text,
    /// One line of JSON.
    Json,
    /// Annotations of GitHub Actions.
    Github,
}

/// The numbers of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct FindingCounts {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
}

impl FindingCounts {
    pub(super) fn new(findings: &[Finding]) -> Self {
        let mut counts = Self::default();
        for finding in findings {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }
}

#[derive(Serialize)]
struct Report<'f> {
    findings: &'f [Finding],
    counts: FindingCounts,
}

impl LintFormat {
    /// Writes the findings about `folders` tenant folders.
    pub(super) fn write(
        self,
        findings: &[Finding],
        folders: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let counts = FindingCounts::new(findings);
        match self {
            Self::Text => text(findings, counts, folders, out),
            Self::Json => {
                let report = serde_json::to_string(&Report { findings, counts })?;
                writeln!(out, "{report}")
            }
            Self::Github => findings.iter().try_for_each(|finding| annotation(finding, out)),
        }
    }
}

fn text(
    findings: &[Finding],
    counts: FindingCounts,
    folders: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    for Finding { code, severity, file, line, column, message, advice, .. } in findings {
        writeln!(out, "{file}:{line}:{column}: {} {code}: {message}", severity.into_str())?;
        writeln!(out, "    {advice}")?;
    }
    let FindingCounts { errors, warnings, notes } = counts;
    let folders = counted(folders, "folder");
    let (errors, warnings) = (counted(errors, "error"), counted(warnings, "warning"));
    writeln!(out, "{errors}, {warnings}, {} in {folders}", counted(notes, "note"))
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn annotation(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let Finding { code, severity, file, line, column, message, advice, .. } = finding;
    let command = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let file = property(file);
    let text = data(&format!("{message}; {advice}"));
    writeln!(out, "::{command} file={file},line={line},col={column},title={code}::{text}")
}

/// Escapes the text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn property(text: &str) -> String {
    // A `,` would end the property, and `::` all of them.
    data(text).replace(':', "%3A").replace(',', "%2C")
}
