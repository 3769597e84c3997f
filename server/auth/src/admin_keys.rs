//! The keys of the operator (`docs/semantics.md`, section 6.9).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use sha2::{Digest, Sha256};

/// The keys of the operator. Each may have a name, so that one can be replaced while the others serve.
#[derive(Default)]
pub struct AdminKeys(Vec<AdminKey>);

struct AdminKey {
    /// Empty if the key has none.
    name: String,
    /// A comparison of digests takes the same time for keys of every length.
    digest: [u8; 32],
}

impl AdminKeys {
    /// Adds a key. False if there is a key with this name, or the same key.
    #[must_use]
    pub fn add(&mut self, name: &str, key: &str) -> bool {
        let digest = Sha256::digest(key).into();
        let is_new = self.0.iter().all(|known| known.name != name && known.digest != digest);
        if is_new {
            self.0.push(AdminKey { name: name.to_owned(), digest });
        }
        is_new
    }

    /// Returns whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name of the key `sent`, which is empty for a key without one. It compares every key in constant time, so
    /// that the time says nothing about the keys.
    pub fn name_of(&self, sent: &str) -> Option<&str> {
        let sent: [u8; 32] = Sha256::digest(sent).into();
        let mut found = None;
        for key in &self.0 {
            if verify_slices_are_equal(&sent, &key.digest).is_ok() {
                found = Some(&*key.name);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_known_by_its_name() {
        let mut keys = AdminKeys::default();
        assert!(keys.is_empty());
        assert!(keys.add("", "one") && keys.add("alice", "two") && keys.add("bob", "three"));
        for (sent, name) in [
            ("one", Some("")),
            ("two", Some("alice")),
            ("three", Some("bob")),
            ("", None),
            ("tw", None),
            ("twoo", None),
            ("TWO", None),
        ] {
            assert_eq!(keys.name_of(sent), name, "{sent}");
        }
    }

    #[test]
    fn no_two_keys_are_the_same() {
        let mut keys = AdminKeys::default();
        assert!(keys.add("alice", "one"));
        assert!(!keys.add("alice", "two"), "the same name");
        assert!(!keys.add("bob", "one"), "the same key");
        assert_eq!(keys.name_of("two"), None);
    }
}
