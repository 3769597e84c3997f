//! The content of a tenant at an earlier revision (`docs/semantics.md`, section 16).

use std::collections::{BTreeMap, HashMap};

use portcullis_model::apply::ObjectKind;
use portcullis_runtime::error::OperationError;
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, revision_changes, revisions};
use serde::de::DeserializeOwned;

use super::bound::must_be_within;
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

/// Puts the records of each kind into `content` as they were before.
fn undo(
    mut before: HashMap<ObjectKind, Before>,
    content: &mut TenantContent,
) -> Result<(), StoreError> {
    let mut of = |kind| before.remove(&kind).unwrap_or_default();
    put(&mut content.resources, of(ObjectKind::Resource), |resource| resource.id.to_string())?;
    put(&mut content.rules, of(ObjectKind::Rule), |rule| rule.id.to_string())?;
    put(&mut content.roles, of(ObjectKind::Role), |role| role.name.clone())?;
    put(&mut content.types, of(ObjectKind::Type), |declared| declared.kind.clone())?;
    put(&mut content.policies, of(ObjectKind::Policy), |policy| policy.id.to_string())?;
    put(&mut content.resolvers, of(ObjectKind::Resolver), |resolver| resolver.id.to_string())?;
    // A tenant has one of each.
    if let Some(settings) = of(ObjectKind::Settings).into_values().next() {
        content.settings = stored_settings::read(settings.as_deref())?;
    }
    if let Some(cases) = of(ObjectKind::Case).into_values().next() {
        let cases = cases.as_deref().map(StoredCases::from_json).transpose();
        content.guards = StoredGuards::new(cases.map_err(|_| CORRUPT)?.unwrap_or_default())?;
    }
    Ok(())
}

const CORRUPT: StoreError = StoreError::Corrupt { what: "revision_values.value" };

/// Puts `before` in the place of the records with its names. The records are in the order of the names.
fn put<T: DeserializeOwned>(
    records: &mut Vec<T>,
    before: Before,
    name: impl Fn(&T) -> String,
) -> Result<(), StoreError> {
    if before.is_empty() {
        return Ok(());
    }
    let present = std::mem::take(records).into_iter();
    let mut all: BTreeMap<String, T> = present.map(|record| (name(&record), record)).collect();
    for (name, text) in before {
        match text {
            Some(text) => {
                _ = all.insert(name, serde_json::from_str(&text).map_err(|_| CORRUPT)?);
            }
            None => _ = all.remove(&name),
        }
    }
    *records = all.into_values().collect();
    Ok(())
}

#[cfg(test)]
mod tests;
