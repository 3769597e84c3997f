//! The writes that bring back the content of a tenant at an earlier revision (`docs/semantics.md`, section 16).

use portcullis_model::apply::{PlanCounts, PlannedAction, PlannedChange};
use portcullis_model::policy::PolicyRecord;
use portcullis_model::resolver::{SentSecrets, StoredResolver, WantedResolver};
use portcullis_model::rule::RuleRecord;
use portcullis_model::{Authorship, SignedRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::RecordWrite;

use super::applied_record::{AppliedRecord, writes_back};
use super::plan::ApplyPlan;
use super::writes::Writes;
use crate::changes::deletions::Deletions;
use crate::content::kinds::each_kind;
use crate::content::tenant_content::TenantContent;

/// Returns the plan that turns `present` into the records of `past`, with their ids. Settings and cases are not in it.
///
/// # Errors
/// A resolver cannot come back.
pub(super) fn plan(
    present: &TenantContent,
    past: &TenantContent,
    by: &Authorship,
) -> Result<ApplyPlan, OperationError> {
    let writes = restored(present, past, by)?;
    let changes = writes.changes();
    let counts = counts(&changes, present);
    Ok(ApplyPlan {
        // The plan follows from the two contents alone.
        fingerprint: format!("revision:{}:{}", past.revision, present.revision),
        conflicts: Vec::new(),
        // A restoration may delete everything.
        deletions: Deletions::new(0, 0, 100),
        warnings: Vec::new(),
        changes,
        counts,
        writes,
    })
}

macro_rules! restored {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        fn restored(
            present: &TenantContent,
            past: &TenantContent,
            by: &Authorship,
        ) -> Result<Writes, OperationError> {
            Ok(Writes { $($list: <$record>::restored(present, past, by)?,)* })
        }
    };
}

each_kind!(restored);

/// Returns the writes without an update that changes a tuple: two rules may swap theirs, and no moment may have one twice.
pub(super) fn apart(writes: Vec<RecordWrite<RuleRecord>>) -> Vec<RecordWrite<RuleRecord>> {
    let mut all = Vec::with_capacity(writes.len());
    for write in writes {
        match write {
            RecordWrite::Update { old, new } if old.tuple != new.tuple => {
                all.extend([RecordWrite::Delete(old), RecordWrite::Insert(new)]);
            }
            write => all.push(write),
        }
    }
    all
}

/// Returns the writes of resolvers: their manifests come back, never a secret or a module that is gone.
pub(super) fn resolvers(
    present: &TenantContent,
    past: &TenantContent,
    by: &Authorship,
) -> Result<Vec<RecordWrite<StoredResolver>>, OperationError> {
    let mut writes = writes_back(&present.resolvers, &past.resolvers, |one| StoredResolver {
        // Resolvers that differ in nothing but their versions are equal, too.
        version: 0,
        ..one.signed(by)
    });
    for write in &mut writes {
        let (old, new) = match write {
            RecordWrite::Insert(new) => (None, new),
            RecordWrite::Update { old, new } => (Some(&*old), new),
            RecordWrite::Delete(_) => continue,
        };
        must_come_back(present, old, new)?;
        // Later than any version that the resolver had: each revision raised it by one at most.
        new.version = old.map_or(present.revision, |old| old.version).saturating_add(1);
    }
    Ok(writes)
}

fn must_come_back(
    present: &TenantContent,
    old: Option<&StoredResolver>,
    new: &StoredResolver,
) -> Result<(), OperationError> {
    let (namespace, sha256) = (&new.manifest.namespace, &new.module.sha256);
    let has_module = present.resolvers.iter().any(|one| one.module.sha256 == *sha256);
    if !has_module {
        let what = format!(
            "the module of the resolver `{namespace}` is not stored any more (SHA-256 `{sha256}`); create the \
             resolver with it, then restore"
        );
        return Err(OperationError::Conflict(what));
    }
    let secrets = old.map(|old| &old.manifest.secrets).cloned().unwrap_or_default();
    // The history has the names of secrets alone, so that names are all that can be compared.
    if secrets != new.manifest.secrets {
        let what = format!(
            "the resolver `{namespace}` had other secrets at this revision, and no restoration brings a secret; \
             give it secrets of the same names, then restore"
        );
        return Err(OperationError::Conflict(what));
    }
    Ok(())
}

/// Returns the resolvers of `past` that differ from the resolvers of `present`, as a bundle has them.
pub(super) fn wanted_resolvers(
    present: &TenantContent,
    past: &TenantContent,
) -> Vec<WantedResolver> {
    let differing = past.resolvers.iter().filter(|one| {
        present.resolvers.iter().all(|known| {
            (known.id, &known.manifest, known.enabled, &known.module, &known.managed_by)
                != (one.id, &one.manifest, one.enabled, &one.module, &one.managed_by)
        })
    });
    let wanted = differing.map(|one| {
        let is_known = present.resolvers.iter().any(|known| known.id == one.id);
        WantedResolver {
            manifest: one.manifest.clone().with_secrets(one.manifest.secrets.unread()),
            secrets: if is_known { SentSecrets::Kept } else { SentSecrets::Given },
            sha256: one.module.sha256.clone(),
            module: None,
            enabled: one.enabled,
        }
    });
    wanted.collect()
}

/// Counts the changes, and the records that stay as they are.
fn counts(changes: &[PlannedChange], present: &TenantContent) -> PlanCounts {
    let [create, update, delete] =
        [PlannedAction::Create, PlannedAction::Update, PlannedAction::Delete]
            .map(|action| changes.iter().filter(|change| change.action == action).count() as u64);
    // A restoration leaves webhooks as they are.
    let all = present.objects() - present.webhooks.len();
    PlanCounts {
        create,
        update,
        delete,
        adopt: 0,
        unchanged: (all as u64).saturating_sub(update + delete),
    }
}

/// The records that a restoration puts back keep their ids.
pub(super) fn new_policies(writes: &Writes) -> Vec<uuid::Uuid> {
    let new = writes.policies.iter().filter(|write| write.before().is_none());
    new.filter_map(|write: &RecordWrite<PolicyRecord>| write.after()).map(|one| one.id).collect()
}
