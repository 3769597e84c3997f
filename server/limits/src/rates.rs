//! Rates of authenticated requests: of each tenant, each credential and each address.

use std::net::IpAddr;
use std::sync::Arc;

use arrayvec::ArrayVec;
use equivalent::Equivalent;

use crate::address::counted;
use crate::bounded::BoundedMap;
use crate::metrics::RefusalReason;
use crate::rate::{Bucket, BucketLevel, Moment, Rate};

/// Most tenants, credentials and addresses that are counted, each: 5 to 15 MiB. Beyond it, those that sent nothing for
/// the longest time start anew.
const MAX_COUNTED: usize = 65_536;

/// The kind of a request. Each kind has its own rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Check,
    Read,
    Write,
}

/// The rates of one kind of request; `None` where there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeRates {
    /// For all requests of a tenant.
    pub tenant: Option<Rate>,
    /// For all requests of a subject or a service key.
    pub credential: Option<Rate>,
    /// For all requests from an address.
    pub address: Option<Rate>,
}

/// The rates of all kinds of requests. By default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateSettings {
    pub checks: ScopeRates,
    pub reads: ScopeRates,
    pub writes: ScopeRates,
}

/// The level of one rate after a request.
#[derive(Clone, Copy, Debug)]
pub struct RateLevel {
    /// The name of the limit, such as `tenant-checks`.
    pub name: &'static str,
    pub rate: Rate,
    pub level: BucketLevel,
}

/// The levels of the rates that a request counts for.
pub type RateLevels = ArrayVec<RateLevel, 3>;

/// The refusal of a request by a rate.
#[derive(Debug)]
pub struct RateRefusal {
    pub reason: RefusalReason,
    /// The level of the rate that refused it.
    pub refused: RateLevel,
    /// The levels of the rates that were looked at, the refusing one included.
    pub levels: RateLevels,
}

/// One bucket for each [`RequestKind`], in their order.
type KindBuckets = [Bucket; 3];

/// The callers for whom a rate counts a request together.
#[derive(Clone, Copy)]
enum Scope {
    Address,
    Credential,
    Tenant,
}

/// The scopes, the narrowest first, each with the reason of its refusals and the names of its limits by kind.
const SCOPES: [(Scope, RefusalReason, [&str; 3]); 3] = [
    (
        Scope::Address,
        RefusalReason::AddressRate,
        ["address-checks", "address-reads", "address-writes"],
    ),
    (
        Scope::Credential,
        RefusalReason::CredentialRate,
        ["credential-checks", "credential-reads", "credential-writes"],
    ),
    (Scope::Tenant, RefusalReason::TenantRate, ["tenant-checks", "tenant-reads", "tenant-writes"]),
];

/// A subject or a service key of a tenant.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Credential {
    tenant: Box<str>,
    actor: Box<str>,
}

/// Looks a [`Credential`] up without allocating one. The same fields in the same order have the same hash.
#[derive(Hash)]
struct CredentialRef<'c> {
    tenant: &'c str,
    actor: &'c str,
}

impl Equivalent<Credential> for CredentialRef<'_> {
    fn equivalent(&self, key: &Credential) -> bool {
        *self.tenant == *key.tenant && *self.actor == *key.actor
    }
}

/// The rates of all tenants, credentials and addresses. Without settings, a request costs three comparisons.
#[derive(Debug)]
pub struct RateLimits {
    settings: RateSettings,
    tenants: BoundedMap<Box<str>, KindBuckets>,
    credentials: BoundedMap<Credential, KindBuckets>,
    addresses: BoundedMap<IpAddr, KindBuckets>,
}

impl RateLimits {
    pub(crate) fn new(settings: RateSettings) -> Self {
        Self {
            settings,
            tenants: BoundedMap::new(MAX_COUNTED),
            credentials: BoundedMap::new(MAX_COUNTED),
            addresses: BoundedMap::new(MAX_COUNTED),
        }
    }

    /// Returns the names of the maps in memory, and the number of entries of each.
    pub(crate) fn entries(&self) -> [(&'static str, usize); 3] {
        [
            ("rate_tenants", self.tenants.len()),
            ("rate_credentials", self.credentials.len()),
            ("rate_addresses", self.addresses.len()),
        ]
    }

    /// Returns whether there is any rate.
    pub fn are_limited(&self) -> bool {
        self.settings != RateSettings::default()
    }

    /// Returns the rates of `kind`.
    pub fn for_kind(&self, kind: RequestKind) -> &ScopeRates {
        match kind {
            RequestKind::Check => &self.settings.checks,
            RequestKind::Read => &self.settings.reads,
            RequestKind::Write => &self.settings.writes,
        }
    }

    /// Counts `requests` of `actor`, all or none of a rate, and returns the levels of the rates that they count for.
    /// `address` is only needed where [`RateLimits::for_kind`] has a rate for addresses.
    ///
    /// The narrowest rate comes first: a credential beyond its own rate takes nothing from its tenant.
    ///
    /// # Errors
    /// A rate refuses that many.
    pub fn count(
        &self,
        kind: RequestKind,
        of_caller: (&str, &str),
        address: Option<IpAddr>,
        now: Moment,
        requests: u32,
    ) -> Result<RateLevels, Box<RateRefusal>> {
        let mut levels = RateLevels::new();
        for (scope, reason, names) in SCOPES {
            let Some((rate, buckets)) = self.buckets(scope, kind, of_caller, address) else {
                continue;
            };
            // There is one bucket and one name for each kind.
            let taken = buckets[kind as usize].take(&rate, now, requests);
            let level = taken.unwrap_or_else(|level| level);
            let level = RateLevel { name: names[kind as usize], rate, level };
            levels.push(level);
            // The narrower rates have counted the request, and do not give it back.
            if taken.is_err() {
                return Err(Box::new(RateRefusal { reason, refused: level, levels }));
            }
        }
        Ok(levels)
    }

    /// Counts `more` requests of a caller beside the one that was admitted, because it was as much work. Refuses nothing:
    /// the next requests find less.
    pub fn spend(
        &self,
        kind: RequestKind,
        of_caller: (&str, &str),
        address: Option<IpAddr>,
        now: Moment,
        more: u32,
    ) {
        for (scope, ..) in SCOPES {
            if let Some((rate, buckets)) = self.buckets(scope, kind, of_caller, address) {
                buckets[kind as usize].spend(&rate, more, now);
            }
        }
    }

    /// Returns the rate of requests of `kind` in `scope`, and the buckets of the caller; `None` if there is no limit.
    fn buckets(
        &self,
        scope: Scope,
        kind: RequestKind,
        (tenant, actor): (&str, &str),
        address: Option<IpAddr>,
    ) -> Option<(Rate, Arc<KindBuckets>)> {
        let (rates, new) = (self.for_kind(kind), KindBuckets::default);
        Some(match scope {
            Scope::Address => {
                let (rate, address) = (rates.address?, counted(address?));
                (rate, self.addresses.get_or_add(&address, || address, new))
            }
            Scope::Credential => {
                let (rate, key) = (rates.credential?, CredentialRef { tenant, actor });
                let buckets = self.credentials.get_or_add(
                    &key,
                    || Credential { tenant: tenant.into(), actor: actor.into() },
                    new,
                );
                (rate, buckets)
            }
            Scope::Tenant => {
                (rates.tenant?, self.tenants.get_or_add(tenant, || tenant.into(), new))
            }
        })
    }
}

#[cfg(test)]
mod tests;
