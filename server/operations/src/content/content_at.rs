//! The content of a tenant at an earlier revision (`docs/semantics.md`, section 16).

use std::collections::{BTreeMap, HashMap};

use portcullis_model::apply::ObjectKind;
use portcullis_runtime::error::OperationError;
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, revision_changes, revisions};

use super::bound::must_be_within;
use super::kinds::{ContentRecord, each_kind};
use super::stored_guards::StoredGuards;
use super::stored_settings;
use super::tenant_content::TenantContent;

/// Changes that are read at once.
const PAGE: i64 = 500;

/// Returns the content of the transaction's tenant at `revision`: the present one with all later changes undone. Webhooks
/// have no history, so they are the present ones.
///
/// # Errors
/// The revision is not kept, the content or what changed since is larger than 256 MiB, or the store failed.
pub async fn content_at(tx: &mut Tx, revision: u64) -> Result<TenantContent, OperationError> {
    if revisions::find(tx, revision).await?.is_none() {
        return Err(OperationError::NotFound("revision"));
    }
    let mut content = TenantContent::load(tx).await?;
    let mut before: HashMap<ObjectKind, Before> = HashMap::new();
    let (mut last, mut bytes) = ((String::new(), String::new()), 0);
    loop {
        let (sides, after) = ((revision, content.revision), (&*last.0, &*last.1));
        let page = revision_changes::between(tx, sides, after, PAGE).await?;
        for changed in page.records {
            bytes += changed.before.as_ref().map_or(0, String::len);
            last = (changed.kind.into_str().to_owned(), changed.record.clone());
            before.entry(changed.kind).or_default().insert(changed.record, changed.before);
        }
        // After each page, so that what is in memory stays bounded.
        must_be_within(i64::try_from(bytes).unwrap_or(i64::MAX))?;
        if !page.more {
            break;
        }
    }
    undo(before, &mut content)?;
    content.revision = revision;
    Ok(content)
}

/// The records that changed since a revision, by id or name, as they were at it; `None` if they were not there.
type Before = BTreeMap<String, Option<String>>;

macro_rules! undo_records {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        /// Puts the records of each kind into `content` as they were before.
        fn undo_records(
            before: &mut HashMap<ObjectKind, Before>,
            content: &mut TenantContent,
        ) -> Result<(), StoreError> {
            $(put(&mut content.$list, before.remove(&<$record>::KIND).unwrap_or_default())?;)*
            Ok(())
        }
    };
}

each_kind!(undo_records);

/// Puts the records, the settings and the cases into `content` as they were before.
fn undo(
    mut before: HashMap<ObjectKind, Before>,
    content: &mut TenantContent,
) -> Result<(), StoreError> {
    undo_records(&mut before, content)?;
    // A tenant has one of each.
    let [settings, cases] = [ObjectKind::Settings, ObjectKind::Case]
        .map(|kind| before.remove(&kind)?.into_values().next());
    if let Some(settings) = settings {
        content.settings = stored_settings::read(settings.as_deref())?;
    }
    if let Some(cases) = cases {
        let cases = cases.as_deref().map(StoredCases::from_json).transpose();
        content.guards = StoredGuards::new(cases.map_err(|_| CORRUPT)?.unwrap_or_default())?;
    }
    Ok(())
}

const CORRUPT: StoreError = StoreError::Corrupt { what: "revision_values.value" };

/// Puts `before` in the place of the records with its keys. The records are in the order of the keys.
fn put<R: ContentRecord>(records: &mut Vec<R>, before: Before) -> Result<(), StoreError> {
    if before.is_empty() {
        return Ok(());
    }
    let present = std::mem::take(records).into_iter();
    let mut all: BTreeMap<String, R> =
        present.map(|record| (record.key().to_string(), record)).collect();
    for (key, text) in before {
        match text {
            Some(text) => {
                _ = all.insert(key, R::from_history(&text).ok_or(CORRUPT)?);
            }
            None => _ = all.remove(&key),
        }
    }
    *records = all.into_values().collect();
    Ok(())
}

#[cfg(test)]
mod tests;
