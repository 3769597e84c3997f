//! The changes of resolvers.

use std::collections::{HashMap, HashSet};

use portcullis_model::apply::{FieldChange, ObjectKind};
use portcullis_model::resolver::StoredResolver;
use portcullis_storage::bulk::RecordWrite;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use super::ready::ReadyResolver;
use crate::tenant_content::TenantContent;

const KIND: ObjectKind = ObjectKind::Resolver;

/// Returns the writes that make the resolvers of the owner those of the context.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<StoredResolver>> {
    let stored: HashMap<&str, &StoredResolver> =
        state.resolvers.iter().map(|one| (&*one.manifest.namespace, one)).collect();
    let mut writes = Vec::new();
    for wanted in context.resolvers {
        let namespace = &*wanted.manifest.namespace;
        match stored.get(namespace) {
            Some(old) => writes.extend(update_existing(draft, old, wanted, context)),
            None => {
                draft.create(KIND, namespace.to_owned());
                writes.push(RecordWrite::Insert(new_record(draft, wanted, context)));
            }
        }
    }
    let names: HashSet<&str> =
        context.resolvers.iter().map(|wanted| &*wanted.manifest.namespace).collect();
    for old in state.resolvers.iter().filter(|_| context.prune) {
        let is_named = names.contains(&*old.manifest.namespace);
        if draft.is_own(old.managed_by.as_deref()) && !is_named {
            draft.delete(KIND, old.manifest.namespace.clone());
            writes.push(RecordWrite::Delete(old.clone()));
        }
    }
    writes
}

fn update_existing(
    draft: &mut Draft<'_>,
    old: &StoredResolver,
    wanted: &ReadyResolver,
    context: &PlanContext<'_>,
) -> Option<RecordWrite<StoredResolver>> {
    let (namespace, managed_by) = (&old.manifest.namespace, old.managed_by.as_deref());
    if !draft.may_change(KIND, namespace, managed_by) {
        return None;
    }
    let mut new = StoredResolver {
        manifest: wanted.manifest.without_secrets(),
        enabled: wanted.enabled,
        module: wanted.record.clone(),
        ..old.clone()
    };
    let mut fields = content::of_resolver(old).changes(&content::of_resolver(&new));
    let has_secrets_field = fields.iter().any(|field| field.path == "/secrets");
    if wanted.secrets_change && !has_secrets_field {
        fields.push(FieldChange::new("/secrets".to_owned(), None, None));
    }
    // Who owns a resolver is no matter of its answers, which the version tells apart.
    if !fields.is_empty() {
        new.version += 1;
    }
    new.updated_by = Some(context.by.actor.clone());
    new.updated_at = Some(context.by.at);
    new.managed_by = draft.managed_by();
    let is_written = draft.meet(KIND, namespace.clone(), managed_by, fields);
    is_written.then(|| RecordWrite::Update { old: old.clone(), new })
}

fn new_record(
    draft: &Draft<'_>,
    wanted: &ReadyResolver,
    context: &PlanContext<'_>,
) -> StoredResolver {
    let (id, record) = (context.ids.next(context.by.at), wanted.record.clone());
    let new = StoredResolver::new(id, context.tenant, &wanted.manifest, record, context.by);
    StoredResolver { enabled: wanted.enabled, managed_by: draft.managed_by(), ..new }
}
