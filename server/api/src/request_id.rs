//! The id of a request: its log line, its answer and its audit records have it.

use http::header::{HeaderName, HeaderValue};
use http::request::Parts;
use uuid::Uuid;

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
    /// Returns the id that the client sent if it is valid, and otherwise a new one. The standard routes keep more ids than
    /// the others.
    pub(crate) fn of(parts: &Parts) -> Self {
        let is_valid = match is_standard(parts.uri.path()) {
            true => is_valid_of_standard,
            false => is_valid,
        };
        let sent = parts.headers.get(REQUEST_ID).filter(|value| is_valid(value.as_bytes()));
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

/// AuthZEN wants each id back. Control characters and white space at the ends could not come back as they were.
fn is_valid_of_standard(id: &[u8]) -> bool {
    (1..=256).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_on(path: &str, sent: &str) -> RequestId {
        let request = http::Request::post(path).header(REQUEST_ID, sent).body(());
        RequestId::of(&request.expect("a request").into_parts().0)
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
}
