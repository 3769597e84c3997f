//! Which namespaces the policies of a tenant may read, and which policies read what.

use portcullis_engine::condition::ResolverAttribute;
use portcullis_engine::{Namespaces, Policy};
use uuid::Uuid;

use super::Installed;
use portcullis_model::resolver::StoredResolver;
use portcullis_storage::{StoreError, Tx, policies, resolvers};

/// What policies of the transaction's tenant may read: the tenant's own resolvers, then the operator's.
pub async fn of_tenant(tx: &mut Tx, installed: &[Installed]) -> Result<Namespaces, StoreError> {
    let mut namespaces = Namespaces::default();
    for own in resolvers::list(tx).await? {
        let attributes = own.module.attributes.into_iter();
        let attributes = attributes.map(|declared| (declared.name, declared.kind));
        namespaces.insert(&own.manifest.namespace, attributes);
    }
    for installed in installed {
        let attributes = &installed.module.descriptor().attributes;
        let attributes = attributes.iter().map(|spec| (spec.name.clone(), spec.kind.into()));
        namespaces.insert(&installed.namespace, attributes);
    }
    Ok(namespaces)
}

/// The enabled policies that read `namespace`.
pub async fn readers(tx: &mut Tx, namespace: &str) -> Result<Vec<Uuid>, StoreError> {
    let reads = |attribute: &ResolverAttribute| *attribute.namespace == *namespace;
    readers_of(tx, |policy| resolved(policy).into_iter().any(reads)).await
}

/// The enabled policies that read what `old` answers, and `new`, which takes its place, does not: attributes that are
/// gone, or of a kind with which their conditions do not work.
pub async fn readers_without(
    tx: &mut Tx,
    old: &StoredResolver,
    new: &StoredResolver,
) -> Result<Vec<Uuid>, StoreError> {
    let namespace = &*old.manifest.namespace;
    let kind = |resolver: &StoredResolver, attribute: &ResolverAttribute| {
        let mut all = resolver.module.attributes.iter();
        let found = all.find(|declared| declared.name == *attribute.name);
        found.map(|declared| declared.kind).filter(|_| resolver.manifest.namespace == namespace)
    };
    let loses = |attribute: &ResolverAttribute| {
        let before = kind(old, attribute).filter(|_| *attribute.namespace == *namespace);
        before.is_some() && before != kind(new, attribute)
    };
    readers_of(tx, |policy| resolved(policy).into_iter().any(loses)).await
}

async fn readers_of(
    tx: &mut Tx,
    is_one: impl Fn(&Policy) -> bool,
) -> Result<Vec<Uuid>, StoreError> {
    let policies = policies::of_every_plan(tx).await?;
    Ok(policies.iter().filter(|policy| is_one(policy)).map(|policy| policy.id).collect())
}

fn resolved(policy: &Policy) -> Vec<&ResolverAttribute> {
    policy.condition.as_ref().map(|condition| condition.resolved_attributes()).unwrap_or_default()
}
