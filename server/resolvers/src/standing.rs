//! How resolvers are doing in this process, for their records.

use std::time::Duration;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{BreakerState, Figures, Resolvers, Standing, Status, module_record};
use portcullis_model::resolver::{
    ActivityRecord, BreakerRecord, Doing, LastErrorRecord, LatencyRecord, ResolverRecord,
    ResolverState, StoredResolver,
};

/// How a tenant's resolver is doing.
pub fn of_tenant(resolvers: &Resolvers, stored: &StoredResolver) -> Doing {
    let tenant = &stored.tenant_id;
    let is_present = resolvers.knows(tenant, stored.reference());
    let status = resolvers.status(tenant, stored.id);
    let activity = status.as_ref().map(activity);
    let (state, error) = match status.filter(|_| is_present).map(|status| status.standing) {
        _ if !stored.enabled => (ResolverState::Disabled, None),
        None => (ResolverState::Loading, None),
        Some(Standing::Ready(_)) => (ResolverState::Ready, None),
        Some(Standing::Idle(why)) => (ResolverState::Failed, Some(why.to_string())),
    };
    Doing { state, error, activity }
}

/// The operator's resolvers, as `tenant` sees them, by id.
pub fn installed(resolvers: &Resolvers, tenant: &str) -> Vec<ResolverRecord> {
    let records = resolvers.installed().into_iter().map(|installed| {
        let status = resolvers.installed_status(tenant, &installed.namespace);
        let activity = status.as_ref().map(activity);
        let (state, error) = match status.map(|status| status.standing) {
            Some(Standing::Idle(why)) => (ResolverState::Failed, Some(why.to_string())),
            _ => (ResolverState::Ready, None),
        };
        ResolverRecord::of_operator(
            installed_id(&installed.namespace),
            tenant,
            installed.namespace,
            installed.description,
            module_record(&installed.module),
            Doing { state, error, activity },
        )
    });
    let mut records: Vec<_> = records.collect();
    records.sort_unstable_by_key(|record| record.id);
    records
}

/// The id of the operator's resolver of this namespace, the same on every replica. It is no UUIDv7: those begin with
/// the time, and this with 0.
fn installed_id(namespace: &str) -> Uuid {
    let mut bytes = [0; 16];
    bytes[6..].copy_from_slice(&Sha256::digest(namespace)[..10]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

fn activity(status: &Status) -> ActivityRecord {
    let Figures { calls, failures, cached, stale, latency, last_error } = status.figures.clone();
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    ActivityRecord {
        breaker: match status.standing {
            Standing::Ready(BreakerState::Closed) => Some(BreakerRecord::Closed),
            Standing::Ready(BreakerState::Open(_)) => Some(BreakerRecord::Open),
            Standing::Ready(BreakerState::HalfOpen) => Some(BreakerRecord::HalfOpen),
            Standing::Idle(_) => None,
        },
        calls,
        failures,
        cached,
        stale,
        latency_us: latency.map(|latency| LatencyRecord {
            p50: micros(latency.p50),
            p99: micros(latency.p99),
            max: micros(latency.max),
        }),
        last_error: last_error.map(|(at, message)| LastErrorRecord { at, message }),
    }
}
