//! Request bodies: strict JSON (`docs/semantics.md`, sections 8.1 and 8.2).

use std::fmt;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use portcullis_engine::json::{self, Json};

use crate::error::ApiError;
use portcullis_operations::error::OperationError;

/// A body that was sent as JSON; not parsed yet, so that what is parsed can borrow from it.
pub struct JsonBody(Bytes);

/// Shows how long it is: a body may have secrets.
impl fmt::Debug for JsonBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonBody").field(&self.0.len()).finish()
    }
}

impl JsonBody {
    /// The body's text, which is there.
    pub fn text(&self) -> Result<&[u8], ApiError> {
        if self.0.is_empty() {
            return Err(OperationError::BadRequest(
                "a JSON body is expected, but there is none".to_owned(),
            )
            .into());
        }
        Ok(&self.0)
    }

    /// The body as a tree without duplicate keys and U+0000.
    pub fn parse(&self) -> Result<Json<'_>, ApiError> {
        Ok(json::parse(self.text()?)?)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let is_json = request.headers().get(CONTENT_TYPE).map(|_| is_json(request.headers()));
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|error| ApiError::bad_request(format!("the body cannot be read: {error}")))?;
        match is_json {
            Some(true) => Ok(Self(body)),
            // Nothing was sent, so nothing is of the wrong type.
            None if body.is_empty() => Ok(Self(body)),
            Some(false) | None => Err(ApiError::UnsupportedMediaType("application/json")),
        }
    }
}

/// `application/json`, with UTF-8 or no charset.
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
