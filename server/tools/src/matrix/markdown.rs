//! Tables and changes as Markdown.

use std::io::{self, Write};

use portcullis_bundle::matrix::{CellDecision, MatrixTable};
use portcullis_engine::rbac::WILDCARD;

use super::MatrixDiff;
use super::text::{bare_condition, depending, one_line, who};

/// Writes the outcomes of a folder as a table.
pub(super) fn table(table: &MatrixTable, out: &mut dyn Write) -> io::Result<()> {
    row(&["Role", "Resource", "Action", "Domain", "Decision"].map(str::to_owned), out)?;
    row(&["---"; 5].map(str::to_owned), out)?;
    for cell in &table.cells {
        let (action, domain) = (any(cell.action.as_deref()), any(cell.domain.as_deref()));
        let role = plain(&who(cell.role.as_deref()));
        row(&[role, code(&cell.resource), action, domain, shown(&cell.outcome)], out)?;
    }
    note(table.note.as_deref(), out)
}

/// Writes what changes from one folder to another: a table of cells, and one of cases.
pub(super) fn diff(diff: &MatrixDiff, out: &mut dyn Write) -> io::Result<()> {
    if diff.impact.changes.is_empty() {
        writeln!(out, "No decision changes.")?;
    } else {
        row(&["Role", "Resource", "Action", "Domain", "Before", "After"].map(str::to_owned), out)?;
        row(&["---"; 6].map(str::to_owned), out)?;
    }
    for change in &diff.impact.changes {
        let (action, domain) = (any(change.action.as_deref()), any(change.domain.as_deref()));
        let role = plain(&who(change.role.as_deref()));
        let (before, after) = (shown(&change.before), shown(&change.after));
        row(&[role, code(&change.resource), action, domain, before, after], out)?;
    }
    note(diff.impact.note.as_deref(), out)?;
    cases(diff, out)
}

fn cases(diff: &MatrixDiff, out: &mut dyn Write) -> io::Result<()> {
    if !diff.cases.changed.is_empty() {
        writeln!(out)?;
        row(&["Case", "Before", "After"].map(str::to_owned), out)?;
        row(&["---"; 3].map(str::to_owned), out)?;
    }
    for change in &diff.cases.changed {
        let [before, after] = [&change.before, &change.after]
            .map(|it| format!("{} by {}", it.decision, code(&it.rule)));
        row(&[plain(&change.case), before, after], out)?;
    }
    for skipped in &diff.cases.skipped {
        writeln!(out, "\nThe case {} is not compared: {}.", code(&skipped.case), skipped.reason)?;
    }
    Ok(())
}

fn row(cells: &[String], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {} |", cells.join(" | "))
}

fn note(note: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    note.map_or(Ok(()), |note| writeln!(out, "\nNote: {}.", plain(note)))
}

fn shown(outcome: &CellDecision) -> String {
    match (outcome, bare_condition(outcome)) {
        (CellDecision::Allow, _) => "allow".to_owned(),
        (CellDecision::Deny, _) => "deny".to_owned(),
        (CellDecision::Depends { .. }, Some(condition)) => code(&condition),
        (CellDecision::Depends { .. }, None) => format!("depends{}", plain(&depending(outcome))),
    }
}

fn any(name: Option<&str>) -> String {
    match name {
        Some(WILDCARD) => "any".to_owned(),
        Some(name) => plain(name),
        None => "any other".to_owned(),
    }
}

/// Returns a text that no character of Markdown or HTML changes.
fn plain(text: &str) -> String {
    let escaped = |c: char| match c {
        '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '&' | '@' => {
            format!("\\{c}")
        }
        c => c.to_string(),
    };
    one_line(text).chars().map(escaped).collect()
}

/// Returns a text as code. A fence longer than any in the text holds it.
fn code(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
