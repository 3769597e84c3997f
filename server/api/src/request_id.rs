//! The id of a request: its log line, its answer and its audit records have it.

use chrono::{DateTime, Utc};
use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
use uuid::{Builder, Uuid};

use crate::authzen::paths::is_standard;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, as an extension of the request.
#[derive(Clone, Debug)]
pub(crate) enum RequestId {
    /// The id that the client sent, which is valid.
    Sent(HeaderValue),
    /// A new id.
    New(Uuid),
}

impl RequestId {
    /// Returns the id that the client sent if it is valid, and otherwise a new one, of a request that arrives at `now`. The
    /// standard routes keep more ids than the others.
    pub(crate) fn of(parts: &Parts, now: DateTime<Utc>) -> Self {
        let is_valid = match is_standard(parts.uri.path()) {
            true => is_valid_of_standard,
            false => is_valid,
        };
        let sent = parts.headers.get(REQUEST_ID).filter(|value| is_valid(value.as_bytes()));
        sent.cloned().map_or_else(|| Self::new(now), Self::Sent)
    }

    /// Returns a UUIDv7. Each thread draws its random bits from a generator of its own: `Uuid::now_v7` locks a counter
    /// that all threads share and asks the kernel for random bits, which is for ids that must not be guessed.
    fn new(now: DateTime<Utc>) -> Self {
        let millis = u64::try_from(now.timestamp_millis()).unwrap_or_default();
        let mut random = [0; 10];
        fastrand::fill(&mut random);
        Self::New(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }

    /// Returns the id as a text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Sent(value) => value.to_str().unwrap_or_default().to_owned(),
            Self::New(id) => id.to_string(),
        }
    }

    /// Returns the id as the value of its header.
    pub(crate) fn into_header(self) -> HeaderValue {
        match self {
            Self::Sent(value) => value,
            Self::New(id) => {
                let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
                let text = id.hyphenated().encode_lower(&mut text);
                HeaderValue::from_str(text).unwrap_or(HeaderValue::from_static("-"))
            }
        }
    }
}

fn is_valid(id: &[u8]) -> bool {
    (1..=128).contains(&id.len())
        && id.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// AuthZEN wants each id back. Control characters and white space at the ends could not come back as they were.
fn is_valid_of_standard(id: &[u8]) -> bool {
    (1..=256).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_on(path: &str, sent: &str) -> RequestId {
        let request = http::Request::post(path).header(REQUEST_ID, sent).body(());
        RequestId::of(&request.expect("a request").into_parts().0, DateTime::UNIX_EPOCH)
    }

    fn id_of(sent: &str) -> RequestId {
        id_on("/api/v1/check", sent)
    }

    #[test]
    fn the_standard_routes_keep_every_visible_id() {
        let long = "x".repeat(256);
        for sent in ["a/b:{\"c\"}", "~!@#$%^&*()", &long] {
            assert_eq!(id_on("/access/v1/evaluation", sent).into_header(), sent);
            assert!(Uuid::try_parse(&id_of(sent).text()).is_ok(), "{sent}");
        }
        for sent in ["a b", &"x".repeat(257)] {
            assert!(Uuid::try_parse(&id_on("/access/v1/evaluation", sent).text()).is_ok());
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
        let ids = (0..1_000).map(|_| RequestId::of(&parts, now).text());
        let ids: std::collections::BTreeSet<String> = ids.collect();
        assert_eq!(ids.len(), 1_000);
        for id in ids {
            let id = Uuid::try_parse(&id).expect("an id");
            let time = id.get_timestamp().expect("a UUIDv7").to_unix();
            assert_eq!((id.get_version_num(), time), (7, (1_800_000_000, 123_000_000)));
        }
    }
}
