//! Tables and changes as sentences.

use std::io::{self, Write};

use portcullis_bundle::matrix::{CellChange, CellDecision, Impact, MatrixRow, MatrixTable};
use portcullis_engine::rbac::WILDCARD;

use super::cases::CaseChanges;
use super::difference::MatrixDiff;

/// Writes the outcomes of a folder, a line for each row.
pub(super) fn table(table: &MatrixTable, out: &mut dyn Write) -> io::Result<()> {
    for MatrixRow { role, domain, resource, action, outcome } in &table.cells {
        let place = place(resource, action.as_deref(), domain.as_deref());
        writeln!(out, "{} has {place}{}", who(role.as_deref()), condition(outcome))?;
    }
    if table.cells.is_empty() {
        writeln!(out, "everything is denied")?;
    }
    note(table.note.as_deref(), out)
}

/// Writes what changes from one folder to another.
pub(super) fn diff(diff: &MatrixDiff, out: &mut dyn Write) -> io::Result<()> {
    changes(&diff.impact, out)?;
    cases(&diff.cases, out)
}

/// Writes a sentence for each change, and the note about what is left out.
pub(super) fn changes(impact: &Impact, out: &mut dyn Write) -> io::Result<()> {
    for change in &impact.changes {
        writeln!(out, "{}", sentence(change))?;
    }
    if impact.changes.is_empty() {
        writeln!(out, "no decision changes")?;
    }
    note(impact.note.as_deref(), out)
}

fn cases(cases: &CaseChanges, out: &mut dyn Write) -> io::Result<()> {
    for change in &cases.changed {
        let (was, is) = (&change.before, &change.after);
        writeln!(
            out,
            "case `{}`: {} by `{}`, was {} by `{}`",
            one_line(&change.case),
            is.decision,
            one_line(&is.rule),
            was.decision,
            one_line(&was.rule)
        )?;
    }
    for skipped in &cases.skipped {
        writeln!(out, "case `{}` is not compared: {}", one_line(&skipped.case), skipped.reason)?;
    }
    Ok(())
}

fn note(note: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    note.map_or(Ok(()), |note| writeln!(out, "note: {}", one_line(note)))
}

/// Returns the sentence about one change.
pub(crate) fn sentence(change: &CellChange) -> String {
    use CellDecision::{Allow, Deny};
    let CellChange { role, domain, resource, action, before, after } = change;
    let (who, place) =
        (who(role.as_deref()), place(resource, action.as_deref(), domain.as_deref()));
    match (before, after) {
        (Allow, Deny) => format!("{who} loses {place}"),
        (_, Deny) => format!("{who} loses {place}{}", had(before)),
        (Deny, _) => format!("{who} gains {place}{}", condition(after)),
        (_, Allow) => format!("{who} has {place} without a condition{}", had(before)),
        _ => format!("{who} has {place}{}{}", condition(after), had(before)),
    }
}

/// Returns the subject of a sentence: the role, everybody, or everybody without a role that something names.
pub(super) fn who(role: Option<&str>) -> String {
    match role {
        Some(WILDCARD) => "everybody".to_owned(),
        Some(role) => one_line(role),
        None => "everybody else".to_owned(),
    }
}

/// Returns the object of a sentence: the resource, the action unless it is the verb, and the domain.
fn place(resource: &str, action: Option<&str>, domain: Option<&str>) -> String {
    let verb = resource.rsplit_once(':').map(|(_, verb)| verb);
    let action = match action {
        action if action == verb => String::new(),
        Some(WILDCARD) => " by any action".to_owned(),
        Some(action) => format!(" by the action `{}`", one_line(action)),
        None => " by any other action".to_owned(),
    };
    let domain = match domain {
        Some(WILDCARD) => String::new(),
        Some(domain) => format!(" in {}", one_line(domain)),
        None => " in any other domain".to_owned(),
    };
    format!("{}{action}{domain}", one_line(resource))
}

/// Returns the condition of an outcome, with a space before it.
fn condition(outcome: &CellDecision) -> String {
    match bare_condition(outcome) {
        Some(text) if text.starts_with("unless ") => format!(" {text}"),
        Some(text) => format!(" if {text}"),
        None => depending(outcome),
    }
}

/// Returns the policies on which an outcome depends, if its condition is too large.
pub(super) fn depending(outcome: &CellDecision) -> String {
    let CellDecision::Depends { policies, more_policies, .. } = outcome else {
        return String::new();
    };
    let named: Vec<_> = policies.iter().map(|name| format!("`{}`", one_line(name))).collect();
    let more = match more_policies {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(", as the policies {}{more} decide", named.join(", "))
}

/// Returns the condition of an outcome on one line, if it has one that is not too large.
pub(super) fn bare_condition(outcome: &CellDecision) -> Option<String> {
    match outcome {
        CellDecision::Depends { condition, .. } => condition.as_deref().map(one_line),
        CellDecision::Allow | CellDecision::Deny => None,
    }
}

/// Returns the condition that an outcome had before, in parentheses.
fn had(before: &CellDecision) -> String {
    match before {
        CellDecision::Depends { .. } => {
            let condition = condition(before);
            format!(" (before:{})", condition.strip_prefix(',').unwrap_or(&condition))
        }
        CellDecision::Allow => " (before: always)".to_owned(),
        CellDecision::Deny => String::new(),
    }
}

/// Returns a text of a folder without line breaks and other control characters, which a terminal would obey.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
