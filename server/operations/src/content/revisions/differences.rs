//! The difference of a record between two revisions: its members, and a sentence.

use std::collections::BTreeMap;
use std::mem::swap;

use portcullis_model::apply::{FieldChange, ObjectKind, PlannedAction, PlannedChange};
use portcullis_model::revision::RecordChange;
use portcullis_storage::revision_changes::ChangedRecord;
use serde_json::Value;
use serde_json::value::RawValue;

/// The members of records that say who wrote them and when, and those that never change.
const NOT_SHOWN: [&str; 7] =
    ["id", "tenant_id", "created_by", "created_at", "updated_by", "updated_at", "version"];
/// Longest value in a sentence, in characters.
const MAX_WORD: usize = 60;
/// Most members in a sentence.
const MAX_MEMBERS: usize = 5;

/// Two revisions, of which either may be the later one.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    pub from: u64,
    pub to: u64,
}

impl Sides {
    /// Returns the earlier revision and the later one.
    pub(super) fn in_order(self) -> (u64, u64) {
        (self.from.min(self.to), self.from.max(self.to))
    }

    /// Returns a difference between the earlier and the later revision as one from `from` to `to`.
    pub(super) fn directed(self, mut changed: ChangedRecord) -> ChangedRecord {
        if self.from > self.to {
            swap(&mut changed.before, &mut changed.after);
        }
        changed
    }
}

/// Returns the change as the API shows it.
pub(crate) fn change(changed: &ChangedRecord) -> RecordChange {
    let [before, after] = [&changed.before, &changed.after].map(|text| members(text.as_deref()));
    let action = match (&changed.before, &changed.after) {
        (None, _) => PlannedAction::Create,
        (_, None) => PlannedAction::Delete,
        _ => PlannedAction::Update,
    };
    let (kind, fields) = (changed.kind, fields(&before, &after));
    let known = changed.after.as_deref().or(changed.before.as_deref()).unwrap_or_default();
    let name = name(kind, known);
    let words = words(kind, &name, action, &fields);
    let change = PlannedChange { kind, name, action, fields };
    RecordChange { record: changed.record.clone(), change, words }
}

/// The members of a record by JSON pointer. Of cases, each one is a member.
type Members = BTreeMap<String, Box<RawValue>>;

fn members(text: Option<&str>) -> Members {
    let mut members = Members::new();
    let stored: Option<Members> = text.and_then(|text| serde_json::from_str(text).ok());
    for (name, value) in stored.unwrap_or_default() {
        match named_items(&name, &value) {
            Some(items) => members.extend(items),
            // A member that is `null` and one that is absent say the same.
            None if NOT_SHOWN.contains(&&*name) || value.get() == "null" => {}
            None => _ = members.insert(format!("/{}", escaped(&name)), value),
        }
    }
    members
}

/// Returns the items of the list `cases` by their names.
fn named_items(list: &str, value: &RawValue) -> Option<Members> {
    if list != "cases" {
        return None;
    }
    let items: Vec<Box<RawValue>> = serde_json::from_str(value.get()).ok()?;
    let named = items.into_iter().filter_map(|item| {
        let case: Value = serde_json::from_str(item.get()).ok()?;
        Some((format!("/cases/{}", escaped(case.get("name")?.as_str()?)), item))
    });
    Some(named.collect())
}

/// Returns a name as a JSON pointer has it (RFC 6901, section 3).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the members that differ.
fn fields(before: &Members, after: &Members) -> Vec<FieldChange> {
    let new = after.keys().filter(|path| !before.contains_key(*path));
    let paths = before.keys().chain(new);
    let changes = paths.filter_map(|path| {
        let [old, new] = [before, after].map(|side| side.get(path).map(|value| value.get()));
        (old != new).then(|| FieldChange::new(path.clone(), old, new))
    });
    changes.collect()
}

/// Returns what a record is called: the name, the tuple or the namespace.
fn name(kind: ObjectKind, record: &str) -> String {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let facts = kind.facts();
    let names = facts.names.iter().map(|path| record.pointer(path)?.as_str());
    match facts.names {
        [] => facts.list.to_owned(),
        _ => names.map(Option::unwrap_or_default).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the change in one sentence.
fn words(kind: ObjectKind, name: &str, action: PlannedAction, fields: &[FieldChange]) -> String {
    let kind = kind.into_str();
    // A tenant has one record of settings and one of cases, which need no name beside their kind.
    let what =
        if kind == name || kind == "case" { name.to_owned() } else { format!("{kind} `{name}`") };
    match action {
        PlannedAction::Create => return format!("{what} created"),
        PlannedAction::Delete => return format!("{what} deleted"),
        _ => {}
    }
    let mut parts: Vec<String> = fields.iter().take(MAX_MEMBERS).map(part).collect();
    let others = fields.len() - parts.len();
    if others > 0 {
        parts.push(format!("{others} others"));
    }
    format!("{what}: {}", parts.join("; "))
}

/// Returns the change of a member as a part of a sentence. Long values are left out.
fn part(field: &FieldChange) -> String {
    let member = field.path.trim_start_matches('/');
    match (field.before.as_deref(), field.after.as_deref()) {
        (None, after) => match after.and_then(short) {
            Some(after) => format!("`{member}` set to {after}"),
            None => format!("`{member}` added"),
        },
        (_, None) => format!("`{member}` removed"),
        (Some(before), Some(after)) => match short(before).zip(short(after)) {
            Some((before, after)) => format!("`{member}` from {before} to {after}"),
            None => format!("`{member}` changed"),
        },
    }
}

/// Returns the text of a value that fits into a sentence.
fn short(value: &RawValue) -> Option<&str> {
    Some(value.get()).filter(|text| text.chars().count() <= MAX_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_the_members_that_differ_and_a_sentence() {
        let long = format!("[\"{}\"]", "x".repeat(MAX_WORD));
        let of = |text: &str| Some(text.to_owned());
        let role = |includes: &str| {
            let at = includes.len();
            of(&format!(r#"{{"name":"a","includes":{includes},"updated_at":{at}}}"#))
        };
        for (kind, before, after, words, paths) in [
            (ObjectKind::Role, None, role("[]"), "role `a` created", &["/includes", "/name"][..]),
            (ObjectKind::Role, role("[]"), None, "role `a` deleted", &["/includes", "/name"]),
            (
                ObjectKind::Role,
                role("[]"),
                role("[1]"),
                "role `a`: `includes` from [] to [1]",
                &["/includes"],
            ),
            (
                ObjectKind::Role,
                role("[]"),
                role(&long),
                "role `a`: `includes` changed",
                &["/includes"],
            ),
            (
                ObjectKind::Rule,
                of(r#"{"sub":"s","dom":"d","obj":"o:r","act":"r","managed_by":null}"#),
                of(r#"{"sub":"s","dom":"d","obj":"o:r","act":"r","managed_by":"git"}"#),
                "rule `s, d, o:r, r`: `managed_by` set to \"git\"",
                &["/managed_by"],
            ),
            (
                ObjectKind::Case,
                of(r#"{"domain":"d","cases":[{"name":"a/b","x":1},{"name":"c"}],"users":[]}"#),
                of(r#"{"domain":"d","cases":[{"name":"a/b","x":2}],"users":[]}"#),
                "cases: `cases/a~1b` from {\"name\":\"a/b\",\"x\":1} to {\"name\":\"a/b\",\"x\":2}; `cases/c` removed",
                &["/cases/a~1b", "/cases/c"],
            ),
            (
                ObjectKind::Settings,
                of(r#"{"a":1}"#),
                of(r#"{"a":2}"#),
                "settings: `a` from 1 to 2",
                &["/a"],
            ),
        ] {
            let record = "r".to_owned();
            let shown = change(&ChangedRecord { kind, record, revision: 1, before, after });
            assert_eq!(shown.words, words);
            let found: Vec<&str> = shown.change.fields.iter().map(|field| &*field.path).collect();
            assert_eq!(found, paths, "{words}");
        }
    }
}
