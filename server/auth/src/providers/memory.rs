//! The providers in memory, by issuer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use portcullis_model::provider::ProviderRecord;
use tokio::time::Instant;
use uuid::Uuid;

use crate::token::Verifier;

/// Most providers in memory. Each takes some 2 KiB, and its key set some 6 KiB.
const MAX: usize = 10_000;
/// Most issuers in memory that nobody registered. Everybody can invent issuers.
const MAX_UNKNOWN: usize = 4_096;
/// Longest issuer in memory that nobody registered, in bytes: real ones are shorter.
const MAX_UNKNOWN_BYTES: usize = 512;
/// The time for which an issuer that nobody registered stays so. A registration here ends it at once, and one elsewhere
/// with the next read of the stream.
const UNKNOWN_AGE: Duration = Duration::from_secs(10);
/// Rounds of a minute without a use after which a provider is forgotten: an hour.
const IDLE_ROUNDS: u32 = 60;
/// Rounds between two notes of the use of a provider in the store: an hour.
const NOTE_ROUNDS: u32 = 60;

/// The providers that tokens named of late, and issuers that nobody registered. Readers take no lock.
#[derive(Debug, Default)]
pub(super) struct ProviderMemory {
    providers: papaya::HashMap<Arc<str>, Arc<Provider>, ahash::RandomState>,
    unknown: papaya::HashMap<Arc<str>, Instant, ahash::RandomState>,
    /// Held while providers are added or removed.
    bookkeeping: Mutex<Bookkeeping>,
}

#[derive(Debug, Default)]
struct Bookkeeping {
    /// The issuers in memory of each tenant.
    by_tenant: HashMap<String, Vec<Arc<str>>>,
    /// The number of times that a provider may have changed without the knowledge of a read that runs.
    changes: u64,
}

/// A registered provider.
#[derive(Debug)]
pub(super) struct Provider {
    pub(super) record: ProviderRecord,
    /// `None` while the tenant is closed: its key set is not fetched then. A changed record gets another verifier.
    pub(super) verifier: Option<Arc<Verifier>>,
    /// Whether a token needed the provider in this round.
    is_used: AtomicBool,
    /// Rounds since the last use.
    idle: AtomicU32,
    /// Rounds until the next use is noted in the store.
    until_note: AtomicU32,
}

impl Provider {
    pub(super) fn new(record: ProviderRecord, verifier: Option<Arc<Verifier>>) -> Self {
        let (is_used, idle, until_note) =
            (AtomicBool::new(true), AtomicU32::new(0), AtomicU32::new(0));
        Self { record, verifier, is_used, idle, until_note }
    }

    /// Notes a use. Threads share no write while the provider is in use.
    fn note_use(&self) {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
    }

    /// Ends a round. Returns whether its use should be noted in the store.
    fn end_round(&self) -> bool {
        let relaxed = Ordering::Relaxed;
        let until_note = self.until_note.load(relaxed);
        self.until_note.store(until_note.saturating_sub(1), relaxed);
        if !self.is_used.swap(false, relaxed) {
            self.idle.fetch_add(1, relaxed);
            return false;
        }
        self.idle.store(0, relaxed);
        let is_due = until_note == 0;
        if is_due {
            self.until_note.store(NOTE_ROUNDS, relaxed);
        }
        is_due
    }
}

impl ProviderMemory {
    /// Returns the provider of `issuer`, or `Some(None)` if nobody registered it. `None` if that is not in memory.
    pub(super) fn find(&self, issuer: &str) -> Option<Option<Arc<Provider>>> {
        if let Some(provider) = self.providers.pin().get(issuer) {
            provider.note_use();
            return Some(Some(Arc::clone(provider)));
        }
        let since = self.unknown.pin().get(issuer).copied()?;
        (since.elapsed() < UNKNOWN_AGE).then_some(None)
    }

    /// Returns whether the provider of `issuer` is in memory and `holds` for it.
    pub(super) fn with(&self, issuer: &str, holds: impl FnOnce(&Provider) -> bool) -> bool {
        let providers = self.providers.pin();
        providers.get(issuer).is_some_and(|provider| {
            provider.note_use();
            holds(provider)
        })
    }

    /// Returns the number of changes so far. A read of the store begins after it.
    pub(super) fn changes(&self) -> u64 {
        self.bookkeeping.lock().changes
    }

    /// Keeps what a read found about `issuer` that began after `changes` changes. Does nothing if that may have changed
    /// since.
    pub(super) fn keep(&self, changes: u64, issuer: &str, found: Option<&Arc<Provider>>) {
        let mut bookkeeping = self.bookkeeping.lock();
        if bookkeeping.changes != changes {
            return;
        }
        let Some(provider) = found else {
            if issuer.len() > MAX_UNKNOWN_BYTES {
                return;
            }
            let unknown = self.unknown.pin();
            if unknown.len() >= MAX_UNKNOWN {
                // To forget them all costs only reads of the store.
                unknown.clear();
            }
            unknown.insert(issuer.into(), Instant::now());
            return;
        };
        if self.providers.len() >= MAX {
            self.make_room(&mut bookkeeping);
        }
        let issuer: Arc<str> = issuer.into();
        if self.providers.pin().insert(Arc::clone(&issuer), Arc::clone(provider)).is_none() {
            let tenant = provider.record.tenant_id.clone();
            bookkeeping.by_tenant.entry(tenant).or_default().push(issuer);
        }
    }

    /// Returns which of `tenants` have providers in memory, for a comparison with the store. Reads that began before
    /// are not kept, and no issuer counts as unknown any more.
    pub(super) fn begin_comparison<'t>(&self, tenants: &[&'t str]) -> Vec<&'t str> {
        let mut bookkeeping = self.bookkeeping.lock();
        bookkeeping.changes += 1;
        self.unknown.pin().clear();
        tenants
            .iter()
            .copied()
            .filter(|tenant| bookkeeping.by_tenant.contains_key(*tenant))
            .collect()
    }

    /// Keeps the providers of `tenants` for which `is_same` holds. Returns the tenants of the others.
    pub(super) fn retain(
        &self,
        tenants: &[&str],
        is_same: impl Fn(&Provider) -> bool,
    ) -> Vec<String> {
        let mut bookkeeping = self.bookkeeping.lock();
        bookkeeping.changes += 1;
        let issuers = tenants
            .iter()
            .flat_map(|tenant| bookkeeping.by_tenant.get(*tenant).cloned().unwrap_or_default());
        let providers = self.providers.pin();
        let gone =
            issuers.filter(|issuer| providers.get(issuer).is_none_or(|found| !is_same(found)));
        let gone: Vec<Arc<str>> = gone.collect();
        self.remove(&mut bookkeeping, &gone)
    }

    /// Forgets everything. Returns the tenants of the forgotten providers.
    pub(super) fn clear(&self) -> Vec<String> {
        let mut bookkeeping = self.bookkeeping.lock();
        bookkeeping.changes += 1;
        self.unknown.pin().clear();
        self.providers.pin().clear();
        bookkeeping.by_tenant.drain().map(|(tenant, _)| tenant).collect()
    }

    /// Ends a round of a minute: forgets what nobody used for a while. Returns the tenants of the forgotten providers, and
    /// the ids of those whose use should be noted in the store.
    pub(super) fn tidy(&self) -> (Vec<String>, Vec<Uuid>) {
        let mut bookkeeping = self.bookkeeping.lock();
        self.unknown.pin().retain(|_, since| since.elapsed() < UNKNOWN_AGE);
        let (mut idle, mut used) = (Vec::new(), Vec::new());
        for (issuer, provider) in &self.providers.pin() {
            if provider.end_round() {
                used.push(provider.record.id);
            }
            if provider.idle.load(Ordering::Relaxed) >= IDLE_ROUNDS {
                idle.push(Arc::clone(issuer));
            }
        }
        (self.remove(&mut bookkeeping, &idle), used)
    }

    /// Forgets the tenth of the providers that nobody used for longest.
    fn make_room(&self, bookkeeping: &mut Bookkeeping) {
        let providers = self.providers.pin();
        let all = providers.iter().map(|(issuer, provider)| {
            // Rounds of a minute, with the present one.
            let idle = provider.idle.load(Ordering::Relaxed);
            let is_used = provider.is_used.load(Ordering::Relaxed);
            (if is_used { 0 } else { idle + 1 }, issuer)
        });
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        let oldest: Vec<_> =
            all.iter().take(MAX / 10).map(|(_, issuer)| Arc::clone(issuer)).collect();
        self.remove(bookkeeping, &oldest);
    }

    /// Removes the providers of `issuers`. Returns their tenants.
    fn remove(&self, bookkeeping: &mut Bookkeeping, issuers: &[Arc<str>]) -> Vec<String> {
        let providers = self.providers.pin();
        let mut tenants = Vec::new();
        for issuer in issuers {
            let Some(removed) = providers.remove(issuer) else { continue };
            let tenant = &removed.record.tenant_id;
            if let Some(own) = bookkeeping.by_tenant.get_mut(tenant) {
                own.retain(|known| known != issuer);
                if own.is_empty() {
                    bookkeeping.by_tenant.remove(tenant);
                }
            }
            tenants.push(tenant.clone());
        }
        tenants
    }

    /// Returns the number of issuers in memory, registered or not.
    pub(super) fn len(&self) -> usize {
        self.providers.len() + self.unknown.len()
    }
}
