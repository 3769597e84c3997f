//! Plans as comments of pull requests. Everything that a tenant chose is in blocks of code, so that it is only text.

use std::fmt::Write;

use super::answer::PlanAnswer;
use super::lines::{self, Sign, SignedLine};

/// The largest comment, in bytes. GitHub takes 65,536 characters.
const MAX_COMMENT: usize = 60_000;

/// Returns the plan as a comment under the title.
pub(super) fn plan(title: &str, owner: &str, plan: &PlanAnswer) -> String {
    let mut comment = Comment { text: format!("### {title}\n") };
    comment.line(&lines::counts(&plan.counts));
    let mut changes = vec![format!("# {owner}, revision {}", plan.revision)];
    changes.extend(signed(&lines::changes(&plan.changes)));
    if changes.len() > 1 {
        comment.block("diff", &changes);
    }
    comment.section("Conflicts", &lines::conflicts(&plan.conflicts));
    if let Some(counts) = lines::test_counts(&plan.tests) {
        comment.line(&format!("**Tests**: {counts}"));
        comment.section("", &lines::tests(&plan.tests));
    }
    if let Some(impact) = &plan.impact {
        comment.section("Decisions that change", &lines::impact(impact));
    }
    comment.section("Warnings", &lines::warnings(&plan.warnings));
    comment.text
}

/// Returns drift as a comment.
pub(super) fn drift(title: &str, changes: &[SignedLine]) -> String {
    let mut comment = Comment { text: format!("### {title}\n") };
    if !changes.is_empty() {
        comment.block("diff", &signed(changes));
    }
    comment.text
}

/// Returns the lines with the signs that the colours of a diff need.
fn signed(changes: &[SignedLine]) -> Vec<String> {
    let line = |SignedLine { sign, text }: &SignedLine| match sign {
        Sign::Added => format!("+ {text}"),
        Sign::Changed => format!("! {text}"),
        Sign::Removed => format!("- {text}"),
        Sign::Owner => format!("= {text}"),
        Sign::Detail => format!("    {text}"),
    };
    changes.iter().map(line).collect()
}

/// A comment so far.
struct Comment {
    text: String,
}

impl Comment {
    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "\n{line}");
    }

    fn section(&mut self, title: &str, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        if !title.is_empty() {
            self.line(&format!("**{title}**"));
        }
        self.block("text", lines);
    }

    /// Adds lines as code, as many as there is room for.
    fn block(&mut self, language: &str, lines: &[String]) {
        let fence = fence(lines);
        let _ = writeln!(self.text, "\n{fence}{language}");
        for (index, line) in lines.iter().enumerate() {
            if self.text.len() + line.len() > MAX_COMMENT {
                let _ = writeln!(self.text, "… and {} more lines", lines.len() - index);
                break;
            }
            let _ = writeln!(self.text, "{line}");
        }
        let _ = writeln!(self.text, "{fence}");
    }
}

/// Returns a fence that is longer than every row of backticks in the lines.
fn fence(lines: &[String]) -> String {
    let longest = |line: &String| line.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let longest = lines.iter().map(longest).max().unwrap_or_default();
    "`".repeat(3.max(longest + 1))
}
