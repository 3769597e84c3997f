//! Failed authentications, by address.
//!
//! A credential that proves a caller is never refused for the failures of others. So a request beyond the limit is still
//! verified, and its answer differs only if it fails. That costs little for an admin key, which is compared, and for a
//! token, whose signature takes about as long as the request itself. A service key or a session is looked up in the store.
//! Beyond the limit, an address may have a few lookups at a time, unless the credential was good before.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ahash::RandomState;

use crate::address::counted;
use crate::bounded::BoundedMap;
use crate::metrics::RefusalReason;
use crate::rate::{Bucket, BucketLevel, Moment, Rate};
use crate::rates::{RateLevel, RateLevels, RateRefusal};

/// The failures of one address: a person who mistypes stays below, and a guess at a key of 128 bits does not get nearer.
pub(crate) const DEFAULT_RATE: Rate = Rate::new(60, 60);
/// Most addresses that are counted: about 10 MiB. Beyond it, the addresses without a recent failure start anew.
const MAX_ADDRESSES: usize = 65_536;
/// Most service keys that are known to be good.
const MAX_KEYS: usize = 65_536;
/// Most lookups of service keys at a time for one address beyond its limit. A lookup takes less than a millisecond, and
/// the store serves more than this at a time.
const MAX_LOOKUPS: u32 = 2;

/// The failed authentications of each address.
#[derive(Debug)]
pub struct FailedAuthentications {
    rate: Option<Rate>,
    addresses: BoundedMap<IpAddr, AddressFailures>,
    /// The hashes of keys that were good.
    good_keys: BoundedMap<u64, ()>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct AddressFailures {
    bucket: Bucket,
    lookups: Arc<AtomicU32>,
}

/// The permission to look a service key up. It ends when it is dropped.
#[derive(Debug)]
pub struct KeyLookup(Option<Arc<AtomicU32>>);

impl Drop for KeyLookup {
    fn drop(&mut self) {
        if let Some(lookups) = &self.0 {
            lookups.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl FailedAuthentications {
    pub(crate) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            addresses: BoundedMap::new(MAX_ADDRESSES),
            good_keys: BoundedMap::new(MAX_KEYS),
            hasher: RandomState::new(),
        }
    }

    /// Returns the names of the maps in memory, and the number of entries of each.
    pub(crate) fn entries(&self) -> [(&'static str, usize); 2] {
        [("failure_addresses", self.addresses.len()), ("good_service_keys", self.good_keys.len())]
    }

    /// Counts a failed authentication of `address`.
    ///
    /// # Errors
    /// The address is beyond its limit.
    pub fn count(&self, address: IpAddr, now: Moment) -> Result<(), Box<RateRefusal>> {
        let Some(rate) = &self.rate else { return Ok(()) };
        let address = counted(address);
        let failures = self.addresses.get_or_add(&address, || address, AddressFailures::default);
        failures.bucket.take(rate, now, 1).map(|_| ()).map_err(|level| refusal(*rate, level))
    }

    /// Returns the permission to look up `key` for `address`.
    ///
    /// # Errors
    /// The address is beyond its limit, has its greatest number of lookups, and `key` is not known to be good.
    pub fn lookup(
        &self,
        address: IpAddr,
        key: &str,
        now: Moment,
    ) -> Result<KeyLookup, Box<RateRefusal>> {
        let free = Ok(KeyLookup(None));
        let Some(rate) = &self.rate else { return free };
        // `get` adds no entry: a lookup alone does not make an address known.
        let Some(failures) = self.addresses.get(&counted(address)) else { return free };
        let level = failures.bucket.level(rate, now);
        if level.remaining > 0 || self.good_keys.get(&self.hash(key)).is_some() {
            return free;
        }
        let lookups = &failures.lookups;
        let counted = lookups.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |lookups| {
            (lookups < MAX_LOOKUPS).then_some(lookups + 1)
        });
        match counted {
            Ok(_) => Ok(KeyLookup(Some(Arc::clone(lookups)))),
            Err(_) => Err(refusal(*rate, level)),
        }
    }

    /// Takes note that `key` proved a caller.
    pub fn proved(&self, key: &str) {
        if self.rate.is_some() {
            let hash = self.hash(key);
            self.good_keys.get_or_add(&hash, || hash, || ());
        }
    }

    /// Returns the hash of a key. A wrong key with the hash of a good one is looked up and refused, no more.
    fn hash(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }
}

fn refusal(rate: Rate, level: BucketLevel) -> Box<RateRefusal> {
    let refused = RateLevel { name: "address-failures", rate, level };
    let levels = RateLevels::from_iter([refused]);
    Box::new(RateRefusal { reason: RefusalReason::Failures, refused, levels })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn failures(rate: Option<Rate>) -> FailedAuthentications {
        FailedAuthentications::new(rate)
    }

    fn now() -> Moment {
        Moment::from_time(chrono::DateTime::UNIX_EPOCH)
    }

    fn v4(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn an_address_has_a_number_of_failures_per_minute() {
        let failures = failures(Some(DEFAULT_RATE));
        assert!((0..60).all(|_| failures.count(v4(1), now()).is_ok()));
        let refused = failures.count(v4(1), now()).unwrap_err();
        let wait = refused.refused.level.next_in;
        assert_eq!((refused.refused.name, wait), ("address-failures", Duration::from_secs(1)));
        assert!(failures.count(v4(2), now()).is_ok(), "others are not counted with it");
        assert!(failures.count(v4(1), now() + wait).is_ok());
    }

    #[test]
    fn without_a_rate_nothing_is_limited() {
        let failures = failures(None);
        assert!((0..10_000).all(|_| failures.count(v4(1), now()).is_ok()));
        assert!(failures.lookup(v4(1), "pck_1", now()).is_ok());
    }

    #[test]
    fn a_flood_of_addresses_takes_bounded_memory() {
        let failures = failures(Some(DEFAULT_RATE));
        for number in 0..300_000_u128 {
            let address = IpAddr::V6((number << 64 | 7).into());
            assert!(failures.count(address, now()).is_ok());
        }
        let entries = failures.entries();
        assert!(entries.iter().all(|(_, entries)| *entries <= MAX_ADDRESSES), "{entries:?}");
    }

    #[test]
    fn keys_are_looked_up_beyond_the_limit_a_few_at_a_time() {
        let failures = failures(Some(Rate::new(1, 60)));
        let lookups: Vec<_> =
            (0..10).map(|_| failures.lookup(v4(1), "guess", now()).unwrap()).collect();
        drop(lookups);
        assert!(failures.count(v4(1), now()).is_ok());
        let first = failures.lookup(v4(1), "guess", now()).unwrap();
        let _second = failures.lookup(v4(1), "guess", now()).unwrap();
        assert!(failures.lookup(v4(1), "new", now()).is_err());
        failures.proved("good");
        assert!(failures.lookup(v4(1), "good", now()).is_ok(), "it never pays for others");
        assert!(failures.lookup(v4(2), "new", now()).is_ok());
        drop(first);
        assert!(failures.lookup(v4(1), "new", now()).is_ok());
    }
}
