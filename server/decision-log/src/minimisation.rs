//! Attributes that a record leaves out or hashes: the tenant's settings name them.

use std::collections::BTreeMap;
use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use portcullis_model::decision::{HASHED, Treatment};
use serde_json::{Value, json};
use sha2::Sha256;

/// Bytes of a hash that are kept: two of a billion values are equal by chance once in 10^20.
const HASH_BYTES: usize = 16;

/// The secret of the hashes of one tenant.
#[derive(Clone)]
pub struct HashKey(Hmac<Sha256>);

impl HashKey {
    /// Derives the key of `tenant` from the secret of the service: equal values of two tenants have different hashes.
    pub fn for_tenant(secret: &[u8; 32], tenant: &str) -> Self {
        let mut key = Self::new(secret).0;
        key.update(b"decision log\0");
        key.update(tenant.as_bytes());
        Self::new(&key.finalize().into_bytes())
    }

    fn new(secret: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length (RFC 2104)")]
        Self(Hmac::new_from_slice(secret).expect("a key of any length"))
    }

    /// Returns the hash of a text, in hexadecimal digits.
    pub fn hash(&self, text: &str) -> String {
        let mut hash = self.0.clone();
        hash.update(text.as_bytes());
        hex::encode(&hash.finalize().into_bytes()[..HASH_BYTES])
    }
}

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey")
    }
}

/// The treatments of a tenant's attributes.
#[derive(Debug)]
pub struct Minimisation {
    key: HashKey,
    /// By namespace and name. An attribute without an entry is kept.
    treatments: BTreeMap<String, BTreeMap<String, Treatment>>,
}

impl Minimisation {
    /// Takes the treatments by path, such as `user.pin`. `None` if every attribute is kept.
    pub fn new<'t>(
        key: HashKey,
        treatments: impl IntoIterator<Item = (&'t str, Treatment)>,
    ) -> Option<Self> {
        let mut by_namespace = BTreeMap::<String, BTreeMap<String, Treatment>>::new();
        for (path, treatment) in treatments {
            let Some((namespace, name)) = path.split_once('.') else { continue };
            if treatment != Treatment::Keep {
                let names = by_namespace.entry(namespace.to_owned()).or_default();
                names.insert(name.to_owned(), treatment);
            }
        }
        (!by_namespace.is_empty()).then_some(Self { key, treatments: by_namespace })
    }

    /// Returns whether the attribute is recorded only if the plan looked at it.
    pub(crate) fn only_if_read(&self, namespace: &str, name: &str) -> bool {
        self.treatment(namespace, name) == Treatment::Reads
    }

    /// Returns whether some attribute is recorded only if the plan looked at it.
    pub(crate) fn depends_on_plan(&self) -> bool {
        let treatments = self.treatments.values().flat_map(BTreeMap::values);
        treatments.into_iter().any(|treatment| *treatment == Treatment::Reads)
    }

    /// Returns what a record has of the attribute.
    pub(crate) fn treatment(&self, namespace: &str, name: &str) -> Treatment {
        let names = self.treatments.get(namespace);
        names.and_then(|names| names.get(name)).copied().unwrap_or(Treatment::Keep)
    }

    /// Returns the JSON text of an attribute in which each scalar is its hash, and lowers `left` by the items of lists. `None` if
    /// there are more of them, or if the text is not JSON.
    pub(crate) fn hashed(&self, text: &[u8], left: &mut usize) -> Option<Vec<u8>> {
        let mut value: Value = serde_json::from_slice(text).ok()?;
        *left = left.checked_sub(items(&value))?;
        self.hash(&mut value);
        serde_json::to_vec(&value).ok()
    }

    /// Replaces a scalar by its hash, and each item of a list by its own: membership can be decided again.
    fn hash(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.hash(item)),
            // Nobody has the value.
            Value::Null => {}
            other => *other = json!({ HASHED: self.key.hash(&canonical(other)) }),
        }
    }
}

/// Returns the number of the items of a list, with the items of lists in it.
fn items(value: &Value) -> usize {
    let Value::Array(own) = value else { return 0 };
    own.iter().map(|item| 1 + items(item)).sum()
}

/// Returns one text for all spellings of a value: `1` and `1.0` are equal.
fn canonical(value: &Value) -> String {
    /// The doubles up to it are exact integers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.as_f64() {
        Some(double) if value.is_f64() && double.fract() == 0.0 && double.abs() < EXACT => {
            format!("{double:.0}")
        }
        _ => value.to_string(),
    }
}
