//! The id of a request: its log line, its answer and its audit records have it.

use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use uuid::Uuid;

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
    /// Returns the id that the client sent if it is valid, and otherwise a new one.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(REQUEST_ID).filter(|value| is_valid(value.as_bytes()));
        sent.cloned().map_or_else(Self::new, Self::Sent)
    }

    fn new() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "it names a log line and nothing depends on it"
        )]
        Self::New(Uuid::now_v7())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(sent: &str) -> RequestId {
        RequestId::of(&HeaderMap::from_iter([(REQUEST_ID, sent.parse().expect("a value"))]))
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
}
