//! Plans as lines for people.

use std::fmt::Write;

use super::answer::PlanAnswer;
use super::lines::{self, Sign, SignedLine};

/// Returns the plan as text under the line `title`.
pub(super) fn plan(title: &str, plan: &PlanAnswer) -> String {
    write(title, &lines::changes(&plan.changes), plan)
}

/// Returns the plan as text under the line `title`, without the objects that are new.
pub(super) fn short_plan(title: &str, plan: &PlanAnswer) -> String {
    let mut changes = lines::changes(&plan.changes);
    changes.retain(|line| line.sign != Sign::Added);
    write(title, &changes, plan)
}

fn write(title: &str, changes: &[SignedLine], plan: &PlanAnswer) -> String {
    let mut out = format!("{title}\n");
    if !changes.is_empty() {
        out.push('\n');
        signed(changes, &mut out);
    }
    let _ = writeln!(out, "\n{}", lines::counts(&plan.counts));
    section("conflicts", &lines::conflicts(&plan.conflicts), &mut out);
    if let Some(counts) = lines::test_counts(&plan.tests) {
        section(&format!("tests: {counts}"), &lines::tests(&plan.tests), &mut out);
    }
    if let Some(impact) = &plan.impact {
        section("impact", &lines::impact(impact), &mut out);
    }
    section("warnings", &lines::warnings(&plan.warnings), &mut out);
    out
}

/// Writes a line for each change.
pub(super) fn signed(changes: &[SignedLine], out: &mut String) {
    for SignedLine { sign, text } in changes {
        let _ = match sign {
            Sign::Added => writeln!(out, "+ {text}"),
            Sign::Changed => writeln!(out, "~ {text}"),
            Sign::Removed => writeln!(out, "- {text}"),
            Sign::Owner => writeln!(out, "= {text}"),
            Sign::Detail => writeln!(out, "    {text}"),
        };
    }
}

/// Writes a title and its lines. Only a title that has a colon stands without lines.
fn section(title: &str, lines: &[String], out: &mut String) {
    if lines.is_empty() && !title.contains(':') {
        return;
    }
    let colon = if title.contains(':') { "" } else { ":" };
    let _ = writeln!(out, "{title}{colon}");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
}
