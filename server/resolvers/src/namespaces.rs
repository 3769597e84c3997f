//! The namespaces that the policies of a tenant may read, and the policies that read them.

use portcullis_engine::condition::ResolverAttribute;
use portcullis_engine::{AttributeKind, Namespaces, Policy};
use uuid::Uuid;

use crate::operator::OperatorResolver;
use portcullis_model::resolver::StoredResolver;
use portcullis_storage::{StoreError, Tx, policies, resolvers};

/// Returns the namespaces that policies of the transaction's tenant may read. The tenant's own resolvers take
/// precedence over the operator resolvers.
pub async fn for_tenant(
    tx: &mut Tx,
    operator: &[OperatorResolver],
) -> Result<Namespaces, StoreError> {
    Ok(collect(&resolvers::list(tx).await?, operator))
}

/// Returns the namespaces of the resolvers of a tenant, and then of the operator's resolvers.
pub fn collect<'r>(
    own: impl IntoIterator<Item = &'r StoredResolver>,
    operator: &[OperatorResolver],
) -> Namespaces {
    let mut namespaces = Namespaces::default();
    for own in own {
        let attributes = own.module.attributes.iter();
        let attributes = attributes.map(|declared| (declared.name.clone(), declared.kind));
        namespaces.insert(&own.manifest.namespace, attributes);
    }
    for resolver in operator {
        let attributes = &resolver.module.descriptor.attributes;
        let attributes = attributes.iter().map(|spec| (spec.name.clone(), spec.kind.into()));
        namespaces.insert(&resolver.namespace, attributes);
    }
    namespaces
}

/// Returns the ids of the enabled policies that read `namespace`.
pub async fn readers(tx: &mut Tx, namespace: &str) -> Result<Vec<Uuid>, StoreError> {
    readers_of(tx, |policy| resolved(policy).iter().any(|one| *one.namespace == *namespace)).await
}

/// Returns the ids of the enabled policies that read attributes of `old` that `new` does not answer, or answers with
/// another kind.
pub async fn readers_without(
    tx: &mut Tx,
    old: &StoredResolver,
    new: &StoredResolver,
) -> Result<Vec<Uuid>, StoreError> {
    readers_of(tx, |policy| {
        resolved(policy).into_iter().any(|attribute| {
            let before = kind_of(attribute, old);
            before.is_some() && before != kind_of(attribute, new)
        })
    })
    .await
}

/// Returns the kind with which the resolver answers an attribute; `None` if it does not answer it.
fn kind_of(attribute: &ResolverAttribute, resolver: &StoredResolver) -> Option<AttributeKind> {
    if *attribute.namespace != *resolver.manifest.namespace {
        return None;
    }
    let mut all = resolver.module.attributes.iter();
    all.find(|declared| declared.name == *attribute.name).map(|declared| declared.kind)
}

async fn readers_of(
    tx: &mut Tx,
    is_one: impl Fn(&Policy) -> bool,
) -> Result<Vec<Uuid>, StoreError> {
    let policies = policies::for_every_plan(tx).await?;
    Ok(policies.iter().filter(|policy| is_one(policy)).map(|policy| policy.id).collect())
}

fn resolved(policy: &Policy) -> Vec<&ResolverAttribute> {
    policy.condition.as_ref().map(|condition| condition.resolved_attributes()).unwrap_or_default()
}
