//! Cursors of searches: revision and position, bound to the request by a keyed hash.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use portcullis_engine::json::Member;
use portcullis_engine::{Invalid, Json};
use portcullis_storage::encryption::{KeyRing, MAC_BYTES};
use sha2::{Digest, Sha256};

/// Bytes of a revision.
const REVISION_BYTES: usize = 8;

/// The request of a search, without its page. A cursor serves no other request.
#[derive(Clone, Debug)]
pub struct RequestMark(Vec<u8>);

/// The place where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The revision of the rules of the page before.
    pub(crate) revision: u64,
    /// The last candidate that was looked at.
    pub(crate) last: String,
}

impl RequestMark {
    /// Returns the mark of a request to `route` by a caller: of all members of its body but `page_members`. The order of
    /// members does not matter, at any depth.
    pub fn new(
        route: &str,
        tenant: &str,
        actor: &str,
        body: &Json<'_>,
        page_members: &[&str],
    ) -> Self {
        let mut hash = Sha256::new();
        for part in [route, tenant, actor] {
            add_text(&mut hash, part);
        }
        let members = body.as_object().unwrap_or_default().iter();
        add_members(&mut hash, members.filter(|(name, _)| !page_members.contains(&&**name)));
        Self(hash.finalize().to_vec())
    }

    /// Returns the cursor of a position.
    pub(crate) fn cursor(&self, keys: &KeyRing, position: &Position) -> String {
        let content = position.content();
        let mac = keys.authenticate(&[&self.0, &content]);
        URL_SAFE_NO_PAD.encode([&mac[..], &content].concat())
    }

    /// Reads the cursor of this request at the pointer `at` of its body.
    ///
    /// # Errors
    /// The cursor was not made for this request.
    pub(crate) fn position(
        &self,
        keys: &KeyRing,
        cursor: &str,
        at: &str,
    ) -> Result<Position, Invalid> {
        // A text that is not base64 becomes an empty one, which has no code.
        let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap_or_default();
        let position = bytes.split_first_chunk::<MAC_BYTES>().and_then(|(mac, content)| {
            keys.is_authentic(&[&self.0, content], mac).then(|| Position::parse(content)).flatten()
        });
        let what = "the cursor of this request: `next` of an answer to the same body";
        position.ok_or_else(|| Invalid::expected(at, what))
    }
}

/// Adds a value to the hash. The kind and the length of each part stand before it, so that two values never look alike.
fn add(hash: &mut Sha256, value: &Json<'_>) {
    match value {
        Json::Object(members) => {
            hash.update([b'{']);
            add_members(hash, members.iter());
        }
        Json::Array(items) => {
            hash.update([b'[']);
            hash.update((items.len() as u64).to_be_bytes());
            items.iter().for_each(|item| add(hash, item));
        }
        scalar => {
            hash.update([b'=']);
            add_text(hash, &serde_json::to_string(scalar).unwrap_or_default());
        }
    }
}

/// Adds members in the order of their names, of which each occurs once.
fn add_members<'j>(hash: &mut Sha256, members: impl Iterator<Item = &'j Member<'j>>) {
    let mut members: Vec<&Member<'_>> = members.collect();
    members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    hash.update((members.len() as u64).to_be_bytes());
    for (name, value) in members {
        add_text(hash, name);
        add(hash, value);
    }
}

fn add_text(hash: &mut Sha256, text: &str) {
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text);
}

impl Position {
    fn content(&self) -> Vec<u8> {
        // The revision has a fixed length, so that the rest is the last candidate.
        [&self.revision.to_be_bytes()[..], self.last.as_bytes()].concat()
    }

    fn parse(content: &[u8]) -> Option<Self> {
        let (revision, last) = content.split_first_chunk::<REVISION_BYTES>()?;
        let last = String::from_utf8(last.to_vec()).ok()?;
        Some(Self { revision: u64::from_be_bytes(*revision), last })
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;

    fn mark(tenant: &str, actor: &str, body: &str) -> RequestMark {
        let body = json::parse(body.as_bytes()).expect(body);
        RequestMark::new("/search", tenant, actor, &body, &["limit", "cursor"])
    }

    fn keys() -> KeyRing {
        KeyRing::parse(&KeyRing::generate_key().expect("random")).expect("a key")
    }

    #[test]
    fn a_cursor_serves_its_request_alone() {
        let (keys, position) = (keys(), Position { revision: 7, last: "r-ü".to_owned() });
        let own = mark("acme", "ann", r#"{"a": 1, "b": [2], "limit": 3}"#);
        let cursor = own.cursor(&keys, &position);
        let read = |mark: &RequestMark, keys, cursor: &str| mark.position(keys, cursor, "/cursor");
        for (tenant, actor, body, serves) in [
            ("acme", "ann", r#"{"a": 1, "b": [2], "limit": 3}"#, true),
            ("acme", "ann", r#"{"b": [2], "cursor": "x", "a": 1}"#, true),
            ("acme", "ann", r#"{"a": 1, "b": [3]}"#, false),
            ("acme", "ann", r#"{"a": 1, "b": [2, 2]}"#, false),
            ("acme", "ann", r#"{"a": "1", "b": [2]}"#, false),
            ("acme", "ann", r#"{"a": 1}"#, false),
            ("bolt", "ann", r#"{"a": 1, "b": [2]}"#, false),
            ("acme", "bob", r#"{"a": 1, "b": [2]}"#, false),
        ] {
            let found = read(&mark(tenant, actor, body), &keys, &cursor);
            assert_eq!(found.ok(), serves.then(|| position.clone()), "{tenant} {actor} {body}");
        }
        // Also inside, but not in lists.
        let own = mark("acme", "ann", r#"{"a": {"b": 1, "c": [{"d": 2, "e": 3}, 4]}}"#);
        let cursor = own.cursor(&keys, &position);
        for (body, serves) in [
            (r#"{"a": {"c": [{"e": 3, "d": 2}, 4], "b": 1}}"#, true),
            (r#"{"a": {"c": [4, {"e": 3, "d": 2}], "b": 1}}"#, false),
            (r#"{"a": {"c": [{"e": 3, "d": 2}, 4]}, "b": 1}"#, false),
        ] {
            assert_eq!(read(&mark("acme", "ann", body), &keys, &cursor).is_ok(), serves, "{body}");
        }
        let changed = format!("{}A", &cursor[..cursor.len() - 1]);
        for other in ["", "x", "AAAA", &*changed, &cursor[1..]] {
            assert!(other == cursor || read(&own, &keys, other).is_err(), "{other}");
        }
        assert!(read(&own, &self::keys(), &cursor).is_err(), "another key");
    }
}
