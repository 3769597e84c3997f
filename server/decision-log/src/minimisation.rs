//! Attributes that a record leaves out or hashes: the tenant's settings name them, and the writer applies it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use portcullis_model::decision::{HASHED, Treatment};
use serde_json::{Map, Value, json};
use sha2::Sha256;

/// Bytes of a hash that are kept: two of a billion values are equal by chance once in 10^20.
const HASH_BYTES: usize = 16;
/// The namespaces of the attributes that a request carries.
const SENT: [&str; 4] = ["user", "resource", "action", "context"];

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

    fn treatment(&self, namespace: &str, name: &str) -> Treatment {
        let names = self.treatments.get(namespace);
        names.and_then(|names| names.get(name)).copied().unwrap_or(Treatment::Keep)
    }

    /// Applies `drop` and `hash` to the JSON text of a record. `None` if the text is not a record.
    pub(crate) fn apply(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut record: Map<String, Value> = serde_json::from_slice(text).ok()?;
        let mut dropped = BTreeSet::new();
        for place in ["attributes", "directory"] {
            for namespace in SENT {
                let members = record.get_mut(place).and_then(|place| place.get_mut(namespace));
                self.apply_to(members, namespace, &mut dropped);
            }
        }
        self.apply_to_roles(record.get_mut("directory"), &mut dropped);
        self.apply_to(record.get_mut("token"), "token", &mut dropped);
        if let Some(Value::Object(resolved)) = record.get_mut("resolved") {
            for (namespace, answer) in resolved {
                self.apply_to(answer.get_mut("values"), namespace, &mut dropped);
            }
        }
        if !dropped.is_empty() {
            record.insert("dropped".to_owned(), json!(dropped));
        }
        serde_json::to_vec(&record).ok()
    }

    fn apply_to(
        &self,
        members: Option<&mut Value>,
        namespace: &str,
        dropped: &mut BTreeSet<String>,
    ) {
        let Some(Value::Object(members)) = members else { return };
        members.retain(|name, value| match self.treatment(namespace, name) {
            Treatment::Keep | Treatment::Reads => true,
            Treatment::Hash => {
                self.hash(value);
                true
            }
            Treatment::Drop => {
                dropped.insert(format!("{namespace}.{name}"));
                false
            }
        });
    }

    /// Applies the treatment of `user.roles` to the roles that the directory or the token supplied.
    fn apply_to_roles(&self, directory: Option<&mut Value>, dropped: &mut BTreeSet<String>) {
        let Some(Value::Object(directory)) = directory else { return };
        let Some(roles) = directory.get_mut("roles") else { return };
        match self.treatment("user", "roles") {
            Treatment::Keep | Treatment::Reads => {}
            Treatment::Hash => self.hash(roles),
            Treatment::Drop => {
                directory.remove("roles");
                directory.remove("own_roles");
                dropped.insert("user.roles".to_owned());
            }
        }
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
