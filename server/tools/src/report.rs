//! Reports for people: one content, written for a terminal, or as the comment of a pull request in Markdown.

mod arguments;
mod changed_condition;
mod signed_line;
mod visible;

use std::fmt::Write;

pub use arguments::{ReportArguments, ReportFormat, ShownActions, TableArguments};
pub(crate) use changed_condition::{ConditionChange, changed_parts, list_changes};
pub(crate) use signed_line::{Sign, SignedLine};
pub(crate) use visible::{shortened, visible};

/// The most lines of a section, unless all are wanted.
const MAX_LINES: usize = 20;
/// The largest comment, in bytes. GitHub takes 65,536 characters.
const MAX_COMMENT: usize = 60_000;

/// The content of a report. Only its entries, notes and title may have texts of a tenant.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The first line; none if it is empty.
    title: String,
    /// The heading of a comment.
    heading: String,
    parts: Vec<ReportPart>,
}

#[derive(Debug)]
enum ReportPart {
    Sentence(String),
    Section(Section),
}

/// Entries under a title. A section without anything to say is left out.
#[derive(Debug, Default)]
pub(crate) struct Section {
    title: &'static str,
    layout: Layout,
    /// The words behind the title.
    summary: Option<String>,
    pub(crate) entries: Vec<ReportEntry>,
    pub(crate) notes: Vec<String>,
    /// The words in place of entries.
    empty: &'static str,
}

/// The place of the entries on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Layout {
    /// Under the title.
    #[default]
    Titled,
    /// Without the title.
    Main,
    /// Without the title, behind an empty line.
    Apart,
}

/// A line, and lines about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportEntry {
    pub(crate) line: SignedLine,
    pub(crate) details: Vec<SignedLine>,
}

/// The form of the lines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Terminal,
    /// A block of Markdown with the colours of a diff.
    Diff,
}

impl Report {
    /// Makes a report with this first line, and the heading of its comment.
    pub(crate) fn new(title: impl Into<String>, heading: impl Into<String>) -> Self {
        Self { title: title.into(), heading: heading.into(), parts: Vec::new() }
    }

    pub(crate) fn sentence(mut self, text: String) -> Self {
        self.parts.push(ReportPart::Sentence(text));
        self
    }

    pub(crate) fn section(mut self, section: Section) -> Self {
        self.parts.push(ReportPart::Section(section));
        self
    }

    /// Returns the report in this form, with `json` as its form for programs.
    pub(crate) fn shown(
        &self,
        arguments: ReportArguments,
        json: impl FnOnce() -> String,
    ) -> String {
        match arguments.format {
            ReportFormat::Text => self.text(arguments.all),
            ReportFormat::Json => json(),
            ReportFormat::Markdown => self.markdown(arguments.all),
        }
    }

    /// Returns the report as lines for a terminal.
    pub(crate) fn text(&self, all: bool) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            line(&mut out, &visible(&self.title));
        }
        for part in &self.parts {
            match part {
                ReportPart::Sentence(text) => line(&mut out, &format!("\n{text}")),
                ReportPart::Section(section) => section.write_text(all, &mut out),
            }
        }
        out
    }

    /// Returns the report as a comment. Texts of a tenant stand in code alone, where nothing is markup.
    fn markdown(&self, all: bool) -> String {
        let mut out = format!("### {}\n", self.heading);
        if !self.title.is_empty() {
            let title = visible(&self.title);
            let fence = fence(&[title.as_str()], 1);
            line(&mut out, &format!("\n{fence} {title} {fence}"));
        }
        for part in &self.parts {
            match part {
                ReportPart::Sentence(text) => line(&mut out, &format!("\n{text}")),
                ReportPart::Section(section) => section.write_markdown(all, &mut out),
            }
        }
        out
    }
}

impl Section {
    pub(crate) fn new(title: &'static str) -> Self {
        Self { title, ..Self::default() }
    }

    /// Makes a section whose entries are what a terminal shows first.
    pub(crate) fn main(title: &'static str, empty: &'static str) -> Self {
        Self { layout: Layout::Main, empty, ..Self::new(title) }
    }

    /// Makes a section whose entries stand behind an empty line on a terminal.
    pub(crate) fn apart(title: &'static str) -> Self {
        Self { layout: Layout::Apart, ..Self::new(title) }
    }

    pub(crate) fn with_empty(self, empty: &'static str) -> Self {
        Self { empty, ..self }
    }

    pub(crate) fn with_summary(self, summary: String) -> Self {
        Self { summary: Some(summary), ..self }
    }

    pub(crate) fn with_entries(self, entries: Vec<ReportEntry>) -> Self {
        Self { entries, ..self }
    }

    pub(crate) fn with_lines(mut self, lines: impl IntoIterator<Item = String>) -> Self {
        self.entries.extend(lines.into_iter().map(|text| ReportEntry::new(Sign::Plain, text)));
        self
    }

    fn write_text(&self, all: bool, out: &mut String) {
        if self.is_silent() {
            return;
        }
        let indent = if self.layout == Layout::Titled { "  " } else { "" };
        match (self.layout, &self.summary) {
            (Layout::Main, _) => {}
            (Layout::Apart, _) => out.push('\n'),
            (Layout::Titled, Some(summary)) => line(out, &format!("{}: {summary}", self.title)),
            (Layout::Titled, None) => line(out, &format!("{}:", self.title)),
        }
        for text in self.lines(Style::Terminal, self.fitting(all), "`--all` prints them") {
            line(out, &format!("{indent}{text}"));
        }
    }

    fn write_markdown(&self, all: bool, out: &mut String) {
        if self.is_silent() {
            return;
        }
        let mut title = capital(self.title);
        if let Some(summary) = &self.summary {
            title = format!("{title}: {summary}");
        }
        if self.entries.is_empty() && self.notes.is_empty() {
            let text = if self.empty.is_empty() { title } else { capital(self.empty) };
            return line(out, &format!("\n{text}"));
        }
        if self.summary.is_none() {
            title = format!("{title} ({})", self.entries.len());
        }
        line(out, &format!("\n<details><summary>{title}</summary>"));
        // The number of entries is halved until the text fits, so there are few attempts.
        let mut shown = self.fitting(all);
        let mut more = "`--all` prints them";
        let lines = loop {
            let lines = self.lines(Style::Diff, shown, more);
            // Each line has a break behind it.
            let length: usize = lines.iter().map(|line| line.len() + 1).sum();
            if shown == 0 || out.len() + length <= MAX_COMMENT {
                break lines;
            }
            // A comment has room for no more, whatever the arguments.
            (shown, more) = (shown / 2, "`--format json` has them");
        };
        let fence = fence(&lines.iter().map(String::as_str).collect::<Vec<_>>(), 3);
        line(out, &format!("\n{fence}diff\n{}\n{fence}\n\n</details>", lines.join("\n")));
    }

    fn is_silent(&self) -> bool {
        let says_nothing = self.summary.is_none() && self.empty.is_empty();
        self.entries.is_empty() && self.notes.is_empty() && says_nothing
    }

    /// Returns the number of entries that are shown: as many as fit, and at least one.
    fn fitting(&self, all: bool) -> usize {
        let mut lines = 0;
        let fitting = self.entries.iter().take_while(|entry| {
            lines += 1 + entry.details.len();
            all || lines <= MAX_LINES
        });
        // One entry is shown even if it alone has too many lines.
        fitting.count().max(1).min(self.entries.len())
    }

    /// Returns the lines of the first `shown` entries, a line about the others, which says how to see them, and the notes.
    fn lines(&self, style: Style, shown: usize, how: &str) -> Vec<String> {
        let entries = self.entries.iter().take(shown);
        let mut lines: Vec<String> = entries.flat_map(|entry| entry.lines(style)).collect();
        let plain = style.prefix(Sign::Plain);
        if self.entries.is_empty() && !self.empty.is_empty() {
            lines.push(format!("{plain}{}", self.empty));
        }
        let more = self.entries.len().saturating_sub(shown);
        if more > 0 {
            lines.push(format!("{plain}and {more} more ({how})"));
        }
        lines.extend(self.notes.iter().map(|note| format!("{plain}note: {}", visible(note))));
        lines
    }
}

impl ReportEntry {
    pub(crate) fn new(sign: Sign, text: String) -> Self {
        Self { line: SignedLine::new(sign, text), details: Vec::new() }
    }

    pub(crate) fn with_details(self, details: Vec<SignedLine>) -> Self {
        Self { details, ..self }
    }

    fn lines(&self, style: Style) -> Vec<String> {
        let mut lines =
            vec![format!("{}{}", style.prefix(self.line.sign), visible(&self.line.text))];
        lines.extend(self.details.iter().map(|SignedLine { sign, text }| {
            let (prefix, text) = (style.prefix(*sign), visible(text));
            match style {
                Style::Terminal => format!("    {prefix}{text}"),
                // The colour depends on the first character of the line.
                Style::Diff => format!("{prefix}  {text}"),
            }
        }));
        lines
    }
}

impl Style {
    fn prefix(self, sign: Sign) -> &'static str {
        match (sign, self) {
            (Sign::Added, _) => "+ ",
            (Sign::Removed, _) => "- ",
            (Sign::Owner, _) => "= ",
            (Sign::Changed, Self::Terminal) => "~ ",
            (Sign::Changed, Self::Diff) => "! ",
            (Sign::Plain, Self::Terminal) => "",
            (Sign::Plain, Self::Diff) => "  ",
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// Returns a row of backticks that is longer than every one in the lines, and than `least` - 1.
fn fence(lines: &[&str], least: usize) -> String {
    // A fence must be longer than every run of backticks inside it.
    let rows = lines.iter().flat_map(|line| line.split(|c| c != '`').map(str::len));
    "`".repeat(least.max(rows.max().unwrap_or_default() + 1))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests;
