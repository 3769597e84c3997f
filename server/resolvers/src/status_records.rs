//! Renders the status of resolvers for their records.

use portcullis_model::resolver::{
    ActivityRecord, BreakerRecord, ResolverRecord, ResolverState, StatusRecord, StoredResolver,
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::breaker::BreakerState;
use crate::module_record::module_record;
use crate::operator::OperatorResolver;
use crate::registry::Registry;
use crate::status::{Availability, ResolverStatus};

/// Returns the status of a tenant's resolver.
pub(crate) fn for_tenant(registry: &Registry, stored: &StoredResolver) -> StatusRecord {
    let tenant = &stored.tenant_id;
    let is_known = registry.tenants.has(tenant, stored.reference());
    let status = registry.status(tenant, stored.id);
    let activity = status.as_ref().map(activity);
    // An older version says nothing about this one.
    let availability = status.filter(|_| is_known).map(|status| status.availability);
    let (state, error) = match availability {
        _ if !stored.enabled => (ResolverState::Disabled, None),
        None => (ResolverState::Loading, None),
        Some(Availability::Active(_)) => (ResolverState::Ready, None),
        Some(Availability::Unavailable(why)) => (ResolverState::Failed, Some(why.to_string())),
    };
    StatusRecord { state, error, activity }
}

/// Returns the records of the operator resolvers as `tenant` sees them, ordered by id.
pub(crate) fn operator_records(registry: &Registry, tenant: &str) -> Vec<ResolverRecord> {
    let resolvers = registry.operator.all().into_iter();
    let mut records: Vec<_> =
        resolvers.map(|resolver| operator_record(registry, tenant, resolver)).collect();
    records.sort_unstable_by_key(|record| record.id);
    records
}

fn operator_record(
    registry: &Registry,
    tenant: &str,
    resolver: OperatorResolver,
) -> ResolverRecord {
    let status = registry.operator_status(tenant, &resolver.namespace);
    let activity = status.as_ref().map(activity);
    let (state, error) = match status.map(|status| status.availability) {
        Some(Availability::Unavailable(why)) => (ResolverState::Failed, Some(why.to_string())),
        _ => (ResolverState::Ready, None),
    };
    ResolverRecord::for_operator(
        operator_id(&resolver.namespace),
        tenant,
        resolver.namespace,
        resolver.description,
        module_record(&resolver.module),
        StatusRecord { state, error, activity },
    )
}

/// Returns the id of the operator resolver of this namespace, which is the same on every replica.
///
/// It begins with zeros, where a UUIDv7 has the time, so the operator resolvers come first in every list.
fn operator_id(namespace: &str) -> Uuid {
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&Sha256::digest(namespace)[..10]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

fn activity(status: &ResolverStatus) -> ActivityRecord {
    ActivityRecord {
        breaker: match status.availability {
            Availability::Active(BreakerState::Closed) => Some(BreakerRecord::Closed),
            Availability::Active(BreakerState::Open(_)) => Some(BreakerRecord::Open),
            Availability::Active(BreakerState::HalfOpen) => Some(BreakerRecord::HalfOpen),
            Availability::Unavailable(_) => None,
        },
        ..status.measurements.clone()
    }
}
