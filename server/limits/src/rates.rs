//! Rates of authenticated requests: of each tenant, each credential and each address.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;

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

/// One bucket for each kind of request.
#[derive(Debug, Default)]
struct KindBuckets {
    checks: Bucket,
    reads: Bucket,
    writes: Bucket,
}

impl KindBuckets {
    fn for_kind(&self, kind: RequestKind) -> &Bucket {
        match kind {
            RequestKind::Check => &self.checks,
            RequestKind::Read => &self.reads,
            RequestKind::Write => &self.writes,
        }
    }
}

/// A subject or a service key of a tenant.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Credential {
    tenant: Box<str>,
    actor: Box<str>,
}

/// Looks a [`Credential`] up without allocating one.
struct CredentialRef<'c> {
    tenant: &'c str,
    actor: &'c str,
}

impl Hash for CredentialRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tenant.hash(state);
        self.actor.hash(state);
    }
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

    /// Counts a request of `actor`, and returns the levels of the rates that it counts for. `address` is only needed where
    /// [`RateLimits::for_kind`] has a rate for addresses.
    ///
    /// The narrowest rate comes first: a credential beyond its own rate takes nothing from its tenant.
    ///
    /// # Errors
    /// A rate refuses the request.
    pub fn count(
        &self,
        kind: RequestKind,
        tenant: &str,
        actor: &str,
        address: Option<IpAddr>,
        now: Moment,
    ) -> Result<RateLevels, Box<RateRefusal>> {
        self.count_many(kind, (tenant, actor), address, now, 1)
    }

    /// Counts `requests` of `actor` as [`RateLimits::count`] counts one: all or none of a rate.
    ///
    /// # Errors
    /// A rate refuses that many.
    pub fn count_many(
        &self,
        kind: RequestKind,
        (tenant, actor): (&str, &str),
        address: Option<IpAddr>,
        now: Moment,
        requests: u32,
    ) -> Result<RateLevels, Box<RateRefusal>> {
        let rates = self.for_kind(kind);
        let mut levels = RateLevels::new();
        if let (Some(rate), Some(address)) = (rates.address, address.map(counted)) {
            let buckets = self.addresses.get_or_add(&address, || address, KindBuckets::default);
            let name = name(kind, ["address-checks", "address-reads", "address-writes"]);
            take(
                &mut levels,
                name,
                rate,
                (buckets.for_kind(kind), requests),
                RefusalReason::AddressRate,
                now,
            )?;
        }
        if let Some(rate) = rates.credential {
            let key = CredentialRef { tenant, actor };
            let own = || Credential { tenant: tenant.into(), actor: actor.into() };
            let buckets = self.credentials.get_or_add(&key, own, KindBuckets::default);
            let name = name(kind, ["credential-checks", "credential-reads", "credential-writes"]);
            take(
                &mut levels,
                name,
                rate,
                (buckets.for_kind(kind), requests),
                RefusalReason::CredentialRate,
                now,
            )?;
        }
        if let Some(rate) = rates.tenant {
            let buckets = self.tenants.get_or_add(tenant, || tenant.into(), KindBuckets::default);
            let name = name(kind, ["tenant-checks", "tenant-reads", "tenant-writes"]);
            take(
                &mut levels,
                name,
                rate,
                (buckets.for_kind(kind), requests),
                RefusalReason::TenantRate,
                now,
            )?;
        }
        Ok(levels)
    }

    /// Counts `more` requests of a caller beside the one that was admitted, because it was as much work. Refuses nothing:
    /// the next requests find less.
    pub fn spend(
        &self,
        kind: RequestKind,
        (tenant, actor): (&str, &str),
        address: Option<IpAddr>,
        now: Moment,
        more: u32,
    ) {
        let rates = self.for_kind(kind);
        let spend =
            |rate: Rate, buckets: &KindBuckets| buckets.for_kind(kind).spend(&rate, more, now);
        if let (Some(rate), Some(address)) = (rates.address, address.map(counted)) {
            spend(rate, &self.addresses.get_or_add(&address, || address, KindBuckets::default));
        }
        if let Some(rate) = rates.credential {
            let key = CredentialRef { tenant, actor };
            let own = || Credential { tenant: tenant.into(), actor: actor.into() };
            spend(rate, &self.credentials.get_or_add(&key, own, KindBuckets::default));
        }
        if let Some(rate) = rates.tenant {
            spend(rate, &self.tenants.get_or_add(tenant, || tenant.into(), KindBuckets::default));
        }
    }
}

fn name(kind: RequestKind, [checks, reads, writes]: [&'static str; 3]) -> &'static str {
    match kind {
        RequestKind::Check => checks,
        RequestKind::Read => reads,
        RequestKind::Write => writes,
    }
}

/// Takes requests from a bucket, and adds its level to `levels`.
fn take(
    levels: &mut RateLevels,
    name: &'static str,
    rate: Rate,
    (bucket, requests): (&Bucket, u32),
    reason: RefusalReason,
    now: Moment,
) -> Result<(), Box<RateRefusal>> {
    let taken = bucket.take_many(&rate, now, requests);
    let level = RateLevel { name, rate, level: taken.unwrap_or_else(|level| level) };
    levels.push(level);
    match taken {
        Ok(_) => Ok(()),
        Err(_) => Err(Box::new(RateRefusal { reason, refused: level, levels: levels.clone() })),
    }
}

#[cfg(test)]
mod tests;
