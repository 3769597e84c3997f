//! The parts of a plan as the sections of a report.

use portcullis_engine::{Condition, Format, Policy, expression};
use portcullis_model::apply::{CaseDecision, PlanCounts, PlannedAction};
use serde_json::Value;

use super::answer::{
    AnsweredChange, ChangedField, OwnedObject, PlanAnswer, PlanWarning, TestCounts,
};
use crate::matrix;
use crate::report::{
    ConditionChange, Report, ReportEntry, Section, ShownActions, Sign, SignedLine, changed_parts,
    shortened,
};

/// The path of the owner of an object, which the sign of an adoption says already.
const OWNER: &str = "/managed_by";
/// The format and the member of the text of a condition that is not a tree.
const TEXTS: [(Format, &str); 2] =
    [(Format::Expression, "expression"), (Format::Casbin, "matcher")];

/// Returns the report about a plan, with these entries as its changes.
pub(super) fn report(
    report: Report,
    changes: Vec<ReportEntry>,
    plan: &PlanAnswer,
    actions: ShownActions,
) -> Report {
    let report = report
        .section(Section::apart("changes").with_entries(changes))
        .sentence(counts(&plan.counts))
        .section(conflicts(&plan.conflicts))
        .section(tests(&plan.tests));
    let report = match &plan.impact {
        Some(impact) => {
            let section = Section::new("impact").with_empty("no decision changes");
            report.section(matrix::impact_section(impact, section, actions))
        }
        None => report,
    };
    report.section(Section::new("warnings").with_lines(warnings(&plan.warnings)))
}

/// Returns an entry for each object that changes, with its fields.
pub(super) fn changes(changes: &[AnsweredChange]) -> Vec<ReportEntry> {
    changes.iter().map(entry).collect()
}

fn entry(change: &AnsweredChange) -> ReportEntry {
    let name = object(&change.kind, &change.name);
    let (sign, name) = match change.action {
        PlannedAction::Create => (Sign::Added, name),
        PlannedAction::Update => (Sign::Changed, name),
        PlannedAction::Delete => (Sign::Removed, name),
        // Nothing changes but the owner.
        PlannedAction::Adopt if content_fields(change).next().is_none() => {
            (Sign::Owner, format!("{name} (adopted{})", former_owner(change)))
        }
        PlannedAction::Adopt => {
            (Sign::Changed, format!("{name} (adopted{})", former_owner(change)))
        }
        PlannedAction::Release => (Sign::Owner, format!("{name} (released)")),
    };
    let fields = content_fields(change).flat_map(|field| {
        let ChangedField { path, before, after } = field;
        field_lines(path, [before, after], "", |before, after| format!("{before} → {after}"))
    });
    ReportEntry::new(sign, name).with_details(fields.collect())
}

/// Returns the fields of a change, except the owner.
pub(super) fn content_fields(change: &AnsweredChange) -> impl Iterator<Item = &ChangedField> {
    change.fields.iter().filter(|field| field.path != OWNER)
}

fn former_owner(change: &AnsweredChange) -> String {
    let owner = change.fields.iter().find(|field| field.path == OWNER);
    let former = owner.and_then(|field| field.before.as_str());
    former.map(|former| format!(" from {former}")).unwrap_or_default()
}

/// Returns the lines about a field: of conditions the parts that differ, with the first value as the removed side, which
/// `legend` explains; else both values, as `both` joins them.
pub(super) fn field_lines(
    path: &str,
    [old, new]: [&Value; 2],
    legend: &str,
    both: impl FnOnce(String, String) -> String,
) -> Vec<SignedLine> {
    if let (Some(old), Some(new)) = (condition(path, old), condition(path, new)) {
        let mut lines = vec![SignedLine::plain(format!("{path}:{legend}"))];
        lines.extend(ConditionChange::lines(&changed_parts(&old, &new)));
        return lines;
    }
    // Secrets have no values.
    let text = match old.is_null() && new.is_null() {
        true => "changed".to_owned(),
        false => both(field_value(path, old), field_value(path, new)),
    };
    vec![SignedLine::plain(format!("{path}: {text}"))]
}

/// Returns the value of the field at `path` on one line: a condition as an expression, anything else as JSON.
fn field_value(path: &str, side: &Value) -> String {
    let text = condition(path, side).map(|condition| expression::print(&condition));
    shortened(&match side {
        Value::Null => "absent".to_owned(),
        side => text.unwrap_or_else(|| side.to_string()),
    })
}

/// Returns the condition that a field has.
fn condition(path: &str, side: &Value) -> Option<Condition> {
    match (path, side) {
        ("/when", Value::String(text)) => expression::parse(text).ok(),
        ("/rule_data", side) => {
            let named = TEXTS.into_iter().find(|(_, member)| side.get(member).is_some());
            let format = named.map_or(Format::Json, |(format, _)| format);
            Policy::stored_condition(format, &side.to_string()).ok()
        }
        _ => None,
    }
}

pub(super) fn object(kind: &str, name: &str) -> String {
    format!("{kind} `{name}`")
}

/// Returns the line with the numbers of changes.
fn counts(counts: &PlanCounts) -> String {
    let PlanCounts { create, update, delete, adopt, unchanged } = counts;
    format!(
        "{create} to create, {update} to update, {delete} to delete, {adopt} to adopt, {unchanged} unchanged"
    )
}

/// Returns the section about objects of other owners.
pub(super) fn conflicts(conflicts: &[OwnedObject]) -> Section {
    let lines = conflicts.iter().map(|one| {
        let owner = one.managed_by.as_deref().unwrap_or("another owner");
        format!("{} belongs to {owner}", object(&one.kind, &one.name))
    });
    Section::new("conflicts").with_lines(lines)
}

/// Returns the section about cases: their numbers, if there are any, and those that fail or are skipped.
pub(super) fn tests(tests: &TestCounts) -> Section {
    // Services of earlier versions send the lists alone.
    let failed = tests.failed_count.max(tests.failed.len() as u64);
    let skipped = tests.skipped_count.max(tests.skipped.len() as u64);
    let passed = tests.passed;
    if passed + failed + skipped == 0 {
        return Section::default();
    }
    let failed_lines = tests.failed.iter().map(|one| {
        let (expected, actual) = (decision(&one.expected), decision(&one.actual));
        format!("FAILED `{}`: expected {expected}, not {actual}: {}", one.case, one.reason)
    });
    let skipped_lines =
        tests.skipped.iter().map(|one| format!("skipped `{}`: {}", one.case, one.reason));
    Section::new("tests")
        .with_summary(format!("{passed} passed, {failed} failed, {skipped} skipped"))
        .with_lines(failed_lines.chain(skipped_lines))
}

fn decision(CaseDecision { decision, rule }: &CaseDecision) -> String {
    match rule {
        Some(rule) => format!("{decision} by `{rule}`"),
        None => decision.clone(),
    }
}

/// Returns the lines about warnings.
fn warnings(warnings: &[PlanWarning]) -> impl Iterator<Item = String> {
    warnings.iter().map(|one| {
        let what = if one.message.is_empty() { &one.code } else { &one.message };
        match &one.path {
            Some(path) if !path.is_empty() => format!("{what} (at `{path}`)"),
            _ => what.clone(),
        }
    })
}

/// Returns whether the plan changes anything. A key that may not read gets the numbers of changes alone.
pub(super) fn has_changes(plan: &PlanAnswer) -> bool {
    let PlanCounts { create, update, delete, adopt, .. } = plan.counts;
    !plan.changes.is_empty() || create + update + delete + adopt > 0
}
