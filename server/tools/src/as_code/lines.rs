//! The parts of a plan as lines, for every form of output.

use portcullis_bundle::matrix::Impact;
use serde_json::Value;

use super::answer::{
    AnsweredChange, ChangeAction, ChangeCounts, ChangedField, OwnedObject, PlanAnswer, PlanWarning,
    TestCounts, TestDecision,
};
use super::shown::{value, visible};
use crate::matrix;

/// The sign before an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Added,
    Changed,
    Removed,
    /// Only its owner changes.
    Owner,
    /// A line about the object before it.
    Detail,
}

/// A line with its sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SignedLine {
    pub(super) sign: Sign,
    pub(super) text: String,
}

impl SignedLine {
    pub(super) fn new(sign: Sign, text: String) -> Self {
        Self { sign, text }
    }
}

/// The path of the owner of an object, which the sign of an adoption says already.
const OWNER: &str = "/managed_by";

/// Returns the lines about changes: one for each object, and one for each of its fields.
pub(super) fn changes(changes: &[AnsweredChange]) -> Vec<SignedLine> {
    let mut lines = Vec::new();
    for change in changes {
        let name = object(&change.kind, &change.name);
        let (sign, name) = match change.action {
            ChangeAction::Create => (Sign::Added, name),
            ChangeAction::Update => (Sign::Changed, name),
            ChangeAction::Delete => (Sign::Removed, name),
            ChangeAction::Adopt if content_fields(change).next().is_none() => {
                (Sign::Owner, format!("{name} (adopted{})", former_owner(change)))
            }
            ChangeAction::Adopt => {
                (Sign::Changed, format!("{name} (adopted{})", former_owner(change)))
            }
            ChangeAction::Release => (Sign::Owner, format!("{name} (released)")),
        };
        lines.push(SignedLine::new(sign, name));
        lines.extend(content_fields(change).map(|field| {
            let text = format!("{}: {}", visible(&field.path), before_and_after(field));
            SignedLine::new(Sign::Detail, text)
        }));
    }
    lines
}

/// Returns the fields of a change, except the owner.
pub(super) fn content_fields(change: &AnsweredChange) -> impl Iterator<Item = &ChangedField> {
    change.fields.iter().filter(|field| field.path != OWNER)
}

fn former_owner(change: &AnsweredChange) -> String {
    let owner = change.fields.iter().find(|field| field.path == OWNER);
    let former = owner.and_then(|field| field.before.as_str());
    former.map(|former| format!(" from {}", visible(former))).unwrap_or_default()
}

fn before_and_after(field: &ChangedField) -> String {
    // Secrets have no values.
    if field.before.is_null() && field.after.is_null() {
        return "changed".to_owned();
    }
    let shown = |side: &Value| field_value(&field.path, side);
    format!("{} → {}", shown(&field.before), shown(&field.after))
}

/// Returns the value of the field at `path`. An expression stands without quotes.
pub(super) fn field_value(path: &str, side: &Value) -> String {
    match side {
        Value::Null => "absent".to_owned(),
        Value::String(text) if path == "/when" => visible(text),
        side => value(side),
    }
}

pub(super) fn object(kind: &str, name: &str) -> String {
    format!("{} `{}`", visible(kind), visible(name))
}

/// Returns the line with the numbers of changes.
pub(super) fn counts(counts: &ChangeCounts) -> String {
    let ChangeCounts { create, update, delete, adopt, unchanged } = counts;
    format!(
        "{create} to create, {update} to update, {delete} to delete, {adopt} to adopt, {unchanged} unchanged"
    )
}

/// Returns the lines about objects of other owners.
pub(super) fn conflicts(conflicts: &[OwnedObject]) -> Vec<String> {
    let line = |one: &OwnedObject| {
        let owner = visible(one.managed_by.as_deref().unwrap_or("another owner"));
        format!("{} belongs to {owner}", object(&one.kind, &one.name))
    };
    conflicts.iter().map(line).collect()
}

/// Returns the line with the numbers of cases; `None` if there are none.
pub(super) fn test_counts(tests: &TestCounts) -> Option<String> {
    // Services of earlier versions send the lists alone.
    let failed = tests.failed_count.max(tests.failed.len() as u64);
    let skipped = tests.skipped_count.max(tests.skipped.len() as u64);
    let passed = tests.passed;
    let any = passed > 0 || failed > 0 || skipped > 0;
    any.then(|| format!("{passed} passed, {failed} failed, {skipped} skipped"))
}

/// Returns the lines about cases that fail or are skipped.
pub(super) fn tests(tests: &TestCounts) -> Vec<String> {
    let failed = tests.failed.iter().map(|one| {
        let (expected, actual) = (decision(&one.expected), decision(&one.actual));
        format!("FAILED `{}`: expected {expected}, not {actual}", visible(&one.name))
    });
    let skipped = tests
        .skipped
        .iter()
        .map(|one| format!("skipped `{}`: {}", visible(&one.name), visible(&one.reason)));
    failed.chain(skipped).collect()
}

fn decision(decision: &TestDecision) -> String {
    match &decision.rule {
        Some(rule) => format!("{} by `{}`", visible(&decision.decision), visible(rule)),
        None => visible(&decision.decision),
    }
}

/// Returns the lines about decisions that change.
pub(super) fn impact(impact: &Impact) -> Vec<String> {
    let mut lines: Vec<String> = impact.changes.iter().map(matrix::sentence).collect();
    lines.extend(impact.note.as_ref().map(|note| format!("note: {}", visible(note))));
    if lines.is_empty() {
        lines.push("no decision changes".to_owned());
    }
    lines
}

/// Returns the lines about warnings.
pub(super) fn warnings(warnings: &[PlanWarning]) -> Vec<String> {
    let line = |one: &PlanWarning| {
        let what = visible(if one.message.is_empty() { &one.code } else { &one.message });
        match &one.path {
            Some(path) if !path.is_empty() => format!("{what} (at `{}`)", visible(path)),
            _ => what,
        }
    };
    warnings.iter().map(line).collect()
}

/// Returns whether the plan changes anything. A key that may not read gets the numbers of changes alone.
pub(super) fn has_changes(plan: &PlanAnswer) -> bool {
    let ChangeCounts { create, update, delete, adopt, .. } = plan.counts;
    !plan.changes.is_empty() || create + update + delete + adopt > 0
}
