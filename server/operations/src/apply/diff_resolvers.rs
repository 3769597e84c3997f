//! The changes of resolvers.

use portcullis_model::apply::{FieldChange, ObjectKind};
use portcullis_model::resolver::StoredResolver;
use portcullis_storage::bulk::RecordWrite;

use super::content;
use super::context::PlanContext;
use super::draft::Draft;
use super::named_kind::NamedKind;
use super::ready::ReadyResolver;
use crate::content::tenant_content::TenantContent;

pub(super) const RESOLVERS: NamedKind<StoredResolver> = NamedKind {
    kind: ObjectKind::Resolver,
    name: |resolver| &resolver.manifest.namespace,
    managed_by: |resolver| resolver.managed_by.as_deref(),
};

/// Returns the writes that replace the owner's resolvers with the resolvers of the context.
pub(super) fn diff(
    draft: &mut Draft<'_>,
    state: &TenantContent,
    context: &PlanContext<'_>,
) -> Vec<RecordWrite<StoredResolver>> {
    let find = RESOLVERS.by_name(&state.resolvers, |one: &ReadyResolver| &one.manifest.namespace);
    let create = |draft: &Draft<'_>, wanted: &ReadyResolver| {
        let (id, record) = (context.ids.next(context.by.at), wanted.record.clone());
        let new = StoredResolver::new(id, context.tenant, &wanted.manifest, record, context.by);
        StoredResolver { enabled: wanted.enabled, managed_by: draft.managed_by(), ..new }
    };
    let update = |draft: &Draft<'_>, old: &StoredResolver, wanted: &ReadyResolver| {
        let mut new = StoredResolver {
            manifest: wanted.manifest.without_secrets(),
            enabled: wanted.enabled,
            module: wanted.record.clone(),
            updated_by: Some(context.by.actor.clone()),
            updated_at: Some(context.by.at),
            managed_by: draft.managed_by(),
            ..old.clone()
        };
        let mut fields = content::from_resolver(old).changes(&content::from_resolver(&new));
        let has_secrets_field = fields.iter().any(|field| field.path == "/secrets");
        if wanted.secrets_change && !has_secrets_field {
            fields.push(FieldChange::new("/secrets".to_owned(), None, None));
        }
        // The owner of a resolver does not change its answers, which the version tells apart.
        if !fields.is_empty() {
            new.version += 1;
        }
        Some((new, fields))
    };
    let lists = (&*state.resolvers, context.resolvers, context.prune);
    RESOLVERS.diff(draft, lists, find, create, update)
}
