//! Request bodies: strict JSON (`docs/semantics.md`, sections 8.1 and 8.2).

use std::fmt;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use portcullis_engine::json::{self, Json};

use crate::error::ApiError;
use crate::raw_body::UnreadBody;

const UNSUPPORTED: ApiError = ApiError::UnsupportedMediaType("application/json");

/// A body that was sent as JSON. It is read, but not parsed yet, so that the tree can borrow from it.
pub(crate) struct JsonBody(Bytes);

impl fmt::Debug for JsonBody {
    /// Shows only the length, because a body may have secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonBody").field(&self.0.len()).finish()
    }
}

impl JsonBody {
    /// Returns the text of the body, or a 400 if the request has no body.
    pub(crate) fn text(&self) -> Result<&[u8], ApiError> {
        if self.0.is_empty() {
            return Err(ApiError::bad_request("expected a JSON body, but the request has no body"));
        }
        Ok(&self.0)
    }

    /// Parses the body into a tree without duplicate keys and U+0000.
    pub(crate) fn parse(&self) -> Result<Json<'_>, ApiError> {
        Ok(json::parse(self.text()?)?)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let has_type = request.headers().contains_key(CONTENT_TYPE);
        if has_type && !is_json(request.headers()) {
            return Err(UNSUPPORTED);
        }
        let body = UnreadBody::of(request)?.read().await?;
        // An empty body cannot have the wrong type.
        if has_type || body.is_empty() { Ok(Self(body)) } else { Err(UNSUPPORTED) }
    }
}

/// Returns whether the type is `application/json`, with UTF-8 or no charset.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    media_type.eq_ignore_ascii_case("application/json")
        && parts.filter(|part| !part.is_empty()).all(|parameter| {
            parameter.split_once('=').is_some_and(|(name, value)| {
                !name.trim().eq_ignore_ascii_case("charset")
                    || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_in_utf_8_is_json() {
        for (text, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("application/json; nonsense", false),
            ("text/json", false),
            ("application/jsonp", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, text.parse().expect("a value"))]);
            assert_eq!(is_json(&headers), expected, "{text}");
        }
    }

    #[test]
    fn what_is_printed_has_no_secret() {
        let body = JsonBody(Bytes::from_static(br#"{"secrets": {"token": "s3cret"}}"#));
        assert_eq!(format!("{body:?}"), "JsonBody(32)");
    }
}
