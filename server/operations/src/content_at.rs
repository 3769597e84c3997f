//! The content of a tenant at an earlier revision (`docs/semantics.md`, section 16).

use std::collections::BTreeMap;

use portcullis_model::apply::ObjectKind;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::resource::ResourceRecord;
use portcullis_model::role::RoleRecord;
use portcullis_model::rule::RuleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_runtime::error::OperationError;
use portcullis_storage::revision_changes::ChangedRecord;
use portcullis_storage::tenant_cases::StoredCases;
use portcullis_storage::{StoreError, Tx, revision_changes, revisions};
use serde::de::DeserializeOwned;

use crate::content_bound::must_be_within;
use crate::stored_guards::StoredGuards;
use crate::stored_settings;
use crate::tenant_content::TenantContent;

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
    let mut before = Before::default();
    let (mut last, mut bytes) = ((String::new(), String::new()), 0);
    loop {
        let (sides, after) = ((revision, content.revision), (&*last.0, &*last.1));
        let page = revision_changes::between(tx, sides, after, PAGE).await?;
        for changed in page.records {
            bytes += changed.before.as_ref().map_or(0, String::len);
            last = (changed.kind.into_str().to_owned(), changed.record.clone());
            before.note(changed)?;
        }
        must_be_within(i64::try_from(bytes).unwrap_or(i64::MAX))?;
        if !page.more {
            break;
        }
    }
    before.put_into(&mut content)?;
    content.revision = revision;
    Ok(content)
}

/// The records that changed since a revision, by id or name, as they were at it; `None` if they were not there.
#[derive(Debug, Default)]
struct Before {
    resources: BTreeMap<String, Option<ResourceRecord>>,
    rules: BTreeMap<String, Option<RuleRecord>>,
    roles: BTreeMap<String, Option<RoleRecord>>,
    types: BTreeMap<String, Option<TypeRecord>>,
    policies: BTreeMap<String, Option<PolicyRecord>>,
    resolvers: BTreeMap<String, Option<StoredResolver>>,
    settings: Option<Option<String>>,
    cases: Option<StoredCases>,
}

impl Before {
    fn note(&mut self, changed: ChangedRecord) -> Result<(), StoreError> {
        let ChangedRecord { kind, record, before, .. } = changed;
        let text = before.as_deref();
        match kind {
            ObjectKind::Resource => _ = self.resources.insert(record, read(text)?),
            ObjectKind::Rule => _ = self.rules.insert(record, read(text)?),
            ObjectKind::Role => _ = self.roles.insert(record, read(text)?),
            ObjectKind::Type => _ = self.types.insert(record, read(text)?),
            ObjectKind::Policy => _ = self.policies.insert(record, read(text)?),
            ObjectKind::Resolver => _ = self.resolvers.insert(record, read(text)?),
            ObjectKind::Settings => self.settings = Some(before),
            ObjectKind::Case => {
                let cases = text.map(StoredCases::from_json).transpose().map_err(|_| CORRUPT)?;
                self.cases = Some(cases.unwrap_or_default());
            }
            ObjectKind::Webhook => {}
        }
        Ok(())
    }

    fn put_into(self, content: &mut TenantContent) -> Result<(), StoreError> {
        put(&mut content.resources, self.resources, |resource| resource.id.to_string());
        put(&mut content.rules, self.rules, |rule| rule.id.to_string());
        put(&mut content.roles, self.roles, |role| role.name.clone());
        put(&mut content.types, self.types, |declared| declared.kind.clone());
        put(&mut content.policies, self.policies, |policy| policy.id.to_string());
        put(&mut content.resolvers, self.resolvers, |resolver| resolver.id.to_string());
        if let Some(settings) = self.settings {
            content.settings = stored_settings::read(settings.as_deref())?;
        }
        if let Some(cases) = self.cases {
            content.guards = StoredGuards::of(cases)?;
        }
        Ok(())
    }
}

const CORRUPT: StoreError = StoreError::Corrupt { what: "revision_values.value" };

fn read<T: DeserializeOwned>(text: Option<&str>) -> Result<Option<T>, StoreError> {
    text.map(serde_json::from_str).transpose().map_err(|_| CORRUPT)
}

/// Puts `before` in the place of the records with its names. The order is that of the names.
fn put<T>(records: &mut Vec<T>, before: BTreeMap<String, Option<T>>, name: impl Fn(&T) -> String) {
    if before.is_empty() {
        return;
    }
    let present = std::mem::take(records).into_iter();
    let mut all: BTreeMap<String, T> = present.map(|record| (name(&record), record)).collect();
    for (name, record) in before {
        match record {
            Some(record) => _ = all.insert(name, record),
            None => _ = all.remove(&name),
        }
    }
    *records = all.into_values().collect();
}

#[cfg(test)]
mod tests;
