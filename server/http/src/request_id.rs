//! The id of a request: its log line, its answer and its audit records have it.

use chrono::{DateTime, Utc};
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
use uuid::fmt::Hyphenated;
use uuid::{Builder, Uuid};

use crate::authzen_paths::is_standard;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Bytes of the text of a new id.
pub const ID_LENGTH: usize = Hyphenated::LENGTH;

/// The id of a request.
#[derive(Clone, Debug)]
pub enum RequestId {
    /// The id that the client sent, which is valid.
    Sent(HeaderValue),
    /// A new id.
    New(Uuid),
    /// A new id, and what the client of a standard route sent, which comes back.
    Beside(Uuid, HeaderValue),
}

impl RequestId {
    /// Returns the id that the client sent if it is valid, and otherwise a new one, of a request that arrives at `now`. On
    /// a standard route the id is always a new one, and more of what was sent comes back.
    pub fn from_parts(parts: &Parts, now: DateTime<Utc>) -> Self {
        let sent = parts.headers.get(REQUEST_ID);
        if is_standard(parts.uri.path()) {
            let sent = sent.filter(|value| may_come_back(value.as_bytes()));
            let own = Self::new_id(now);
            return sent.cloned().map_or(Self::New(own), |sent| Self::Beside(own, sent));
        }
        let sent = sent.filter(|value| is_valid(value.as_bytes()));
        sent.cloned().map_or_else(|| Self::New(Self::new_id(now)), Self::Sent)
    }

    /// Returns a UUIDv7. Each thread draws its random bits from its own generator: `Uuid::now_v7` locks a counter
    /// that all threads share and asks the kernel for random bits, which is for ids that must not be guessed.
    fn new_id(now: DateTime<Utc>) -> Uuid {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        let mut random = [0; 10];
        fastrand::fill(&mut random);
        Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }

    /// Returns the id as a text.
    pub fn text(&self) -> String {
        match self {
            // `is_valid` lets only ASCII through.
            Self::Sent(value) => value.to_str().unwrap_or_default().to_owned(),
            Self::New(id) | Self::Beside(id, _) => id.to_string(),
        }
    }

    /// Returns the id as a text, in `buffer` if it is a new one.
    pub fn encode<'t>(&'t self, buffer: &'t mut [u8; ID_LENGTH]) -> &'t str {
        match self {
            Self::Sent(value) => value.to_str().unwrap_or_default(),
            Self::New(id) | Self::Beside(id, _) => id.hyphenated().encode_lower(buffer),
        }
    }

    /// Returns what the client sent, if it is not the id.
    pub fn beside(&self) -> Option<&str> {
        match self {
            Self::Beside(_, sent) => sent.to_str().ok(),
            Self::Sent(_) | Self::New(_) => None,
        }
    }

    /// Returns the id as the value of its header.
    pub fn into_header(self) -> HeaderValue {
        match self {
            Self::Sent(value) | Self::Beside(_, value) => value,
            Self::New(id) => {
                let mut text = [0; ID_LENGTH];
                let text = id.hyphenated().encode_lower(&mut text);
                // Hexadecimal digits and hyphens are a valid value.
                HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("-"))
            }
        }
    }
}

fn is_valid(id: &[u8]) -> bool {
    (1..=128).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// AuthZEN wants each id back. Control characters could not come back as they were.
fn may_come_back(sent: &[u8]) -> bool {
    (1..=256).contains(&sent.len()) && sent.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_on(path: &str, sent: &str) -> RequestId {
        let request = http::Request::post(path).header(REQUEST_ID, sent).body(());
        RequestId::from_parts(&request.expect("a request").into_parts().0, DateTime::UNIX_EPOCH)
    }

    fn id_of(sent: &str) -> RequestId {
        id_on("/api/v1/check", sent)
    }

    #[test]
    fn the_standard_routes_answer_what_was_sent_beside_an_own_id() {
        let long = "x".repeat(256);
        for sent in ["a/b:{\"c\"}", "~!@#$%^&*()", "one two  three", "a", &long] {
            let id = id_on("/access/v1/evaluation", sent);
            assert!(Uuid::try_parse(&id.text()).is_ok(), "{sent}");
            assert_eq!(id.beside(), Some(sent));
            assert_eq!(id.into_header(), sent);
        }
        for sent in ["", "a\tb", &"x".repeat(257)] {
            let id = id_on("/access/v1/evaluation", sent);
            assert!(Uuid::try_parse(&id.text()).is_ok() && id.beside().is_none());
            assert_eq!(id.text(), id.into_header());
        }
    }

    #[test]
    fn a_valid_id_is_kept_and_another_one_replaced() {
        for sent in ["a", "Request_1.2-3", &"x".repeat(128)] {
            assert_eq!(id_of(sent).text(), sent);
            assert_eq!(id_of(sent).into_header(), sent);
        }
        for sent in ["", "a b", "é", "a\"", &"x".repeat(129)] {
            let id = id_of(sent);
            assert!(Uuid::try_parse(&id.text()).is_ok(), "{sent}: {id:?}");
            assert_eq!(id.text(), id.clone().into_header());
        }
    }

    #[test]
    fn new_ids_differ_and_have_the_time_of_their_request() {
        let now = DateTime::from_timestamp_millis(1_800_000_000_123).expect("a time");
        let (parts, ()) = http::Request::new(()).into_parts();
        let ids = (0..1_000).map(|_| RequestId::from_parts(&parts, now).text());
        let ids: std::collections::BTreeSet<String> = ids.collect();
        assert_eq!(ids.len(), 1_000);
        for id in ids {
            let id = Uuid::try_parse(&id).expect("an id");
            let time = id.get_timestamp().expect("a UUIDv7").to_unix();
            assert_eq!((id.get_version_num(), time), (7, (1_800_000_000, 123_000_000)));
        }
    }
}
