//! The cache of answers of resolvers. The time, since any instant, is a parameter.
//!
//! A key says what an answer depends on, and is compared in full: which bound resolver (by a number that none had
//! before, so that whatever replaces it finds nothing of it), the tenant, the attribute, and the inputs that the
//! resolver was shown, written so that no two inputs are the same bytes. Failures are never kept.

use std::sync::Arc;
use std::time::{Duration, Instant};

use equivalent::Equivalent;
use moka::Expiry;
use moka::sync::Cache;
use portcullis_engine::Json;
use portcullis_resolver_host::{Input, Request, Value};

/// The longest that an answer is used, whatever a module or a manifest says.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest inputs, in bytes, of which an answer is kept: few checks are that large, and none comes twice.
const MAX_INPUTS: usize = 16 << 10;
/// Bytes of an entry without its texts: the key, the value, and moka's own records.
const OVERHEAD: usize = 256;

/// Answers in memory, bounded by the bytes that they take.
#[derive(Debug)]
pub(crate) struct Attributes(Cache<Key, CachedAnswer>);

/// The times for which the answers of a resolver are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Caps what the module says.
    pub(crate) ttl: Option<Duration>,
    /// For how much longer an answer may serve while the source is unavailable.
    pub(crate) stale: Duration,
}

/// The resolver, the tenant and the inputs of a lookup.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct Scope<'k> {
    /// The generation of the binding.
    pub(crate) generation: u64,
    pub(crate) tenant: &'k str,
    /// The inputs that the resolver was shown, by [`inputs`]; the answers of one call share them.
    pub(crate) inputs: &'k Arc<[u8]>,
}

/// A cached answer for an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// The value, or that there is none.
    Fresh(Option<Json<'static>>),
    /// A value beyond its time to live. It serves only while the source is unavailable.
    Stale(Option<Json<'static>>),
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    generation: u64,
    tenant: Box<str>,
    inputs: Arc<[u8]>,
    attribute: Box<str>,
}

/// Looks a key up without making one. The same fields in the same order have the same hash.
#[derive(Hash)]
struct KeyRef<'k> {
    scope: Scope<'k>,
    attribute: &'k str,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        let Scope { generation, tenant, inputs } = self.scope;
        generation == key.generation
            && *tenant == *key.tenant
            && *self.attribute == *key.attribute
            && **inputs == *key.inputs
    }
}

#[derive(Clone, Debug)]
struct CachedAnswer {
    value: Option<Json<'static>>,
    fresh_until: Duration,
    usable_until: Duration,
    /// From when it was put here.
    keep: Duration,
}

impl Attributes {
    pub(crate) fn new(max_bytes: u64) -> Self {
        let cache = Cache::builder().max_capacity(max_bytes).weigher(bytes_of);
        Self(cache.expire_after(Housekeeping).build())
    }

    /// Returns the number of answers, those included that expired since the last cleaning.
    pub(crate) fn entries(&self) -> usize {
        usize::try_from(self.0.entry_count()).unwrap_or(usize::MAX)
    }

    /// Returns the answer for `attribute` that may be used at `now`.
    pub(crate) fn get(&self, scope: Scope<'_>, attribute: &str, now: Duration) -> Option<Known> {
        let entry = self.0.get(&KeyRef { scope, attribute })?;
        if now < entry.fresh_until {
            Some(Known::Fresh(entry.value))
        } else if now < entry.usable_until {
            Some(Known::Stale(entry.value))
        } else {
            None
        }
    }

    /// Keeps an answer that was asked for at `now`, if `ttl`, as the module gives it, and `terms` allow that.
    pub(crate) fn put(
        &self,
        scope: Scope<'_>,
        attribute: &str,
        value: Option<Json<'static>>,
        ttl: Duration,
        terms: Terms,
        now: Duration,
    ) {
        let ttl = terms.ttl.map_or(ttl, |cap| ttl.min(cap)).min(LONGEST);
        // Without a time to live the answer is for this check alone, and does not serve as a stale one either.
        if ttl.is_zero() || scope.inputs.len() > MAX_INPUTS {
            return;
        }
        let keep = ttl + terms.stale.min(LONGEST);
        let key = Key {
            generation: scope.generation,
            tenant: scope.tenant.into(),
            inputs: Arc::clone(scope.inputs),
            attribute: attribute.into(),
        };
        let entry = CachedAnswer { value, fresh_until: now + ttl, usable_until: now + keep, keep };
        self.0.insert(key, entry);
    }
}

/// Drops what nobody may use any more; whether it may be used is not for moka's clock to say.
struct Housekeeping;

impl Expiry<Key, CachedAnswer> for Housekeeping {
    fn expire_after_create(&self, _: &Key, entry: &CachedAnswer, _: Instant) -> Option<Duration> {
        Some(entry.keep)
    }

    fn expire_after_update(
        &self,
        _: &Key,
        entry: &CachedAnswer,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(entry.keep)
    }
}

/// Returns the bytes that an answer takes, as moka counts them.
fn bytes_of(key: &Key, answer: &CachedAnswer) -> u32 {
    let key = key.tenant.len() + key.attribute.len() + key.inputs.len();
    let value = answer.value.as_ref().map_or(0, weight);
    u32::try_from(OVERHEAD + key + value).unwrap_or(u32::MAX)
}

/// Bytes of a value on the heap.
fn weight(value: &Json<'_>) -> usize {
    match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| size_of::<Json<'_>>() + weight(item)).sum(),
        _ => 0,
    }
}

/// Returns the inputs of `request` as bytes. Each text and list is preceded by its length, each value by its kind, so that
/// what is shown can be read back, and two requests that differ are different bytes.
pub(crate) fn inputs(request: &Request) -> Arc<[u8]> {
    let mut bytes = Vec::new();
    for text in [&request.subject, &request.domain, &request.resource, &request.action] {
        push_text(&mut bytes, text);
    }
    push_all(&mut bytes, &request.roles, |bytes, role| push_text(bytes, role));
    push_all(&mut bytes, &request.user, push_input);
    push_all(&mut bytes, &request.resource_attributes, push_input);
    push_all(&mut bytes, &request.ext, |bytes, (name, value)| {
        push_text(bytes, name);
        push_text(bytes, value);
    });
    bytes.into()
}

fn push_input(bytes: &mut Vec<u8>, input: &Input) {
    push_text(bytes, &input.name);
    match &input.value {
        Value::Text(text) => {
            bytes.push(0);
            push_text(bytes, text);
        }
        Value::Number(number) => {
            bytes.push(1);
            push_number(bytes, number);
        }
        Value::Boolean(value) => bytes.extend([2, u8::from(*value)]),
        Value::Texts(texts) => {
            bytes.push(3);
            push_all(bytes, texts, |bytes, text| push_text(bytes, text));
        }
        Value::Numbers(numbers) => {
            bytes.push(4);
            push_all(bytes, numbers, push_number);
        }
    }
}

fn push_all<T>(bytes: &mut Vec<u8>, items: &[T], push: impl Fn(&mut Vec<u8>, &T)) {
    push_length(bytes, items.len());
    items.iter().for_each(|item| push(bytes, item));
}

fn push_text(bytes: &mut Vec<u8>, text: &str) {
    push_length(bytes, text.len());
    bytes.extend(text.as_bytes());
}

fn push_number(bytes: &mut Vec<u8>, number: &f64) {
    // By its bits: a module can tell `-0.0` from `0.0`.
    bytes.extend(number.to_bits().to_le_bytes());
}

fn push_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend((length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests;
