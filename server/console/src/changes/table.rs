//! The table of what changed: a row for each member of a record.

use askama::Template;
use portcullis_engine::excerpt::excerpt;
use portcullis_engine::{Condition, Json};
use portcullis_model::apply::{PlannedAction, PlannedChange};
use portcullis_model::revision::RecordChange;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conditions;

/// Longest value in a cell, in characters. The API has the whole.
const MAX_VALUE: usize = 2_000;

#[derive(Template)]
#[template(path = "changes_table.html")]
pub(crate) struct ChangeTable {
    /// The changes in sentences; none of a plan.
    words: Vec<String>,
    rows: Vec<ChangeRow>,
}

struct ChangeRow {
    record: String,
    field: String,
    before: String,
    after: String,
}

impl ChangeTable {
    /// Returns the table of what a revision or a diff changed.
    pub(crate) fn of_revision(changes: &[RecordChange]) -> Self {
        Self {
            words: changes.iter().map(|one| one.words.clone()).collect(),
            rows: changes.iter().flat_map(|one| rows(&one.change)).collect(),
        }
    }

    /// Returns the table of what a plan changes.
    pub(crate) fn of_plan(changes: &[PlannedChange]) -> Self {
        Self { words: Vec::new(), rows: changes.iter().flat_map(rows).collect() }
    }

    /// Returns the table of a plan as a proposal keeps it.
    pub(crate) fn of_stored(plan: &Value) -> Self {
        let changes = plan["changes"].as_array().into_iter().flatten();
        let rows = changes.flat_map(|change| {
            let record = format!("{} {}", text(&change["kind"]), text(&change["name"]));
            let action = text(&change["action"]);
            let fields = change["fields"].as_array().cloned().unwrap_or_default();
            let rows = fields.iter().map(|field| ChangeRow {
                record: record.clone(),
                field: named(&text(&field["path"])),
                before: shown(&field["before"].to_string()),
                after: shown(&field["after"].to_string()),
            });
            let rows: Vec<_> = rows.collect();
            if rows.is_empty() { vec![whole(record.clone(), &action)] } else { rows }
        });
        Self { words: Vec::new(), rows: rows.collect() }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns the rows of a change.
fn rows(change: &PlannedChange) -> Vec<ChangeRow> {
    let kind: &'static str = change.kind.into_str();
    let record = format!("{kind} {}", change.name);
    let rows = change.fields.iter().map(|field| ChangeRow {
        record: record.clone(),
        field: named(&field.path),
        before: shown_or_dash(field.before.as_deref()),
        after: shown_or_dash(field.after.as_deref()),
    });
    let rows: Vec<_> = rows.collect();
    // A record that is made or deleted as a whole has no members beside each other.
    if rows.is_empty() { vec![whole(record, word(change.action))] } else { rows }
}

fn shown_or_dash(value: Option<&RawValue>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| shown(value.get()))
}

fn word(action: PlannedAction) -> &'static str {
    match action {
        PlannedAction::Create => "create",
        PlannedAction::Update => "update",
        PlannedAction::Delete => "delete",
        PlannedAction::Adopt => "adopt",
        PlannedAction::Release => "release",
    }
}

/// Returns the row of a change of a whole record.
fn whole(record: String, action: &str) -> ChangeRow {
    ChangeRow { record, field: action.to_owned(), before: String::new(), after: String::new() }
}

/// Returns the name of a member: its JSON pointer without the slash.
fn named(path: &str) -> String {
    match path.strip_prefix('/') {
        Some(name) => name.to_owned(),
        None => "all".to_owned(),
    }
}

/// Returns the text of a value in JSON: a string without its quotes, a condition as its expression, and a dash for `null`.
fn shown(json: &str) -> String {
    let text = match serde_json::from_str(json) {
        Ok(Json::String(text)) => text.into_owned(),
        Ok(Json::Null) => "–".to_owned(),
        Ok(value @ Json::Object(_)) => conditions::text(Condition::parse(&value), json),
        _ => json.to_owned(),
    };
    excerpt(text, MAX_VALUE)
}
