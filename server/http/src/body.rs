//! Request bodies: strict JSON (`docs/semantics.md`, sections 8.1 and 8.2).

use std::fmt;

use axum::extract::{FromRequest, Request};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use portcullis_engine::json::{self, Json};
use portcullis_limits::MemoryCharge;

use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;
use crate::raw_body::{ReadBody, UnreadBody};

/// U+FEFF in UTF-8 (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const UNSUPPORTED: ApiError = ApiError::UnsupportedMediaType("application/json");

/// A body that was sent as JSON. It is read, but not parsed yet, so that the tree can borrow from it.
pub struct JsonBody(ReadBody);

impl fmt::Debug for JsonBody {
    /// Shows only the length, because a body may have secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonBody").field(&self.bytes().len()).finish()
    }
}

impl JsonBody {
    /// Returns the text of the body, or a 400 if the request has no body or one with a byte order mark.
    pub fn text(&self) -> Result<&[u8], ApiError> {
        if self.is_empty() {
            return Err(ApiError::bad_request("expected a JSON body, but the request has no body"));
        }
        if self.bytes().starts_with(BYTE_ORDER_MARK) {
            return Err(ApiError::bad_request(
                "the body begins with a byte order mark, which is not part of JSON: send UTF-8 without it",
            ));
        }
        Ok(self.bytes())
    }

    /// Parses the body into a tree without duplicate keys and U+0000.
    pub fn parse(&self) -> Result<Json<'_>, ApiError> {
        Ok(json::parse(self.text()?)?)
    }

    /// Charges the items of a batch that were read of the body, as [`ReadBody::charge_items`] does.
    pub fn charge_items(&self, items: usize) -> Result<MemoryCharge, ApiError> {
        self.0.charge_items(items)
    }

    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl HandlerParameter for JsonBody {}

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let has_type = request.headers().contains_key(CONTENT_TYPE);
        // A wrong type is refused before anything is read.
        if has_type && !is_json(request.headers()) {
            return Err(UNSUPPORTED);
        }
        let body = UnreadBody::from_request(request)?.read().await?;
        // An empty body cannot have the wrong type.
        if has_type || body.as_ref().is_empty() { Ok(Self(body)) } else { Err(UNSUPPORTED) }
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
    use portcullis_limits::{MemoryAccount, MemoryMetrics};

    use super::*;
    use crate::body_budget::BodyBudget;

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
    fn the_debug_form_of_a_body_has_no_secret() {
        let budget = BodyBudget::new(0, 0, MemoryMetrics::default());
        let charge = budget.charge(MemoryAccount::for_tenant("acme"));
        let body =
            JsonBody(ReadBody { kept: br#"{"secrets": {"token": "s3cret"}}"#.into(), charge });
        assert_eq!(format!("{body:?}"), "JsonBody(32)");
    }
}
