//! The header `X-Domain`: the domain that a manager of `selfhost` mode manages in place of its own
//! (`docs/semantics.md`, section 6.3).

use std::str;

use http::header::HeaderName;
use http::request::Parts;
use portcullis_auth::Mode;
use portcullis_engine::rbac::{MAX_DOMAIN, WILDCARD};
use serde_json::{Value, json};

use crate::error::ApiError;

const DOMAIN: HeaderName = HeaderName::from_static("x-domain");

/// Returns the domain that the request names, or `None` if it has no such header.
///
/// # Errors
/// A 400 if the mode has no such header, or if the header is there twice or holds no domain.
pub fn named<'p>(mode: &Mode, parts: &'p Parts) -> Result<Option<&'p str>, ApiError> {
    if !mode.has_a_tenant_per_domain() {
        refuse(parts, "here the credential alone decides the tenant: leave the header out")?;
        return Ok(None);
    }
    let mut values = parts.headers.get_all(&DOMAIN).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(fault("it was sent more than once: send one domain"));
    }
    // `to_str` would refuse everything beyond ASCII.
    let text = str::from_utf8(value.as_bytes()).ok().filter(|text| is_domain(text));
    let Some(domain) = text else {
        return Err(fault(&format!(
            "expected one domain of 1 to {MAX_DOMAIN} characters in UTF-8, other than `*`, without control characters"
        )));
    };
    Ok(Some(domain))
}

/// Refuses a request that has the header. `why` says what to do instead.
pub fn refuse(parts: &Parts, why: &str) -> Result<(), ApiError> {
    if parts.headers.contains_key(&DOMAIN) { Err(fault(why)) } else { Ok(()) }
}

/// Returns the description of the header in the API document.
pub fn description() -> Value {
    json!({
        "name": "X-Domain",
        "in": "header",
        "description": "Another domain to manage, which the admin-domain claim of the token must name. The token's own \
                        domain without it. Not for service keys.",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_DOMAIN, "not": {"const": WILDCARD}},
    })
}

/// Returns whether a token could have `text` as its domain.
fn is_domain(text: &str) -> bool {
    let length = text.chars().count();
    (1..=MAX_DOMAIN).contains(&length) && text != WILDCARD && !text.contains(char::is_control)
}

fn fault(why: &str) -> ApiError {
    ApiError::bad_request(format!("the header X-Domain: {why}"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Request};
    use portcullis_auth::AdminKeys;

    use super::*;

    /// The domain that `values` of the header name in `mode`, or the message of the refusal.
    fn read(mode: &Mode, values: &[&[u8]]) -> Result<Option<String>, String> {
        let (mut parts, ()) = Request::new(()).into_parts();
        for value in values {
            parts.headers.append(DOMAIN, HeaderValue::from_bytes(value).expect("a value"));
        }
        let domain = named(mode, &parts).map_err(|error| format!("{error:?}"))?;
        Ok(domain.map(str::to_owned))
    }

    #[test]
    fn one_header_names_one_domain() {
        let mode = Mode::Selfhost(None);
        let long = "ä".repeat(MAX_DOMAIN);
        assert_eq!(read(&mode, &[]), Ok(None));
        for domain in ["north", "Nörd/1", "a,b", &long] {
            assert_eq!(read(&mode, &[domain.as_bytes()]), Ok(Some(domain.to_owned())));
        }
        let too_long = "a".repeat(MAX_DOMAIN + 1);
        for values in [
            &[b"".as_slice()][..],
            &[b"*"],
            &[b"no\xffrth"],
            &[b"no\trth"],
            &[too_long.as_bytes()],
            &[b"north", b"south"],
            &[b"north", b"north"],
            &[b"north", b""],
        ] {
            let refused = read(&mode, values).expect_err("refused");
            assert!(refused.contains("X-Domain"), "{values:?}: {refused}");
        }
    }

    #[test]
    fn only_a_tenant_per_domain_has_the_header() {
        let single = Mode::SingleTenant { tenant: "acme".to_owned(), oidc: None };
        for mode in [single, Mode::Saas { admin_keys: AdminKeys::default() }] {
            assert_eq!(read(&mode, &[]), Ok(None));
            assert!(read(&mode, &[b"north"]).is_err(), "{mode:?}");
        }
    }
}
