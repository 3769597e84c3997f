//! The defence of forms against requests that other sites make: the browser says where a request comes from, and a form has
//! a token that no other site knows.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::{HOST, HeaderName, ORIGIN};
use portcullis_http::form_body::FormBody;
use portcullis_runtime::app::App;
use portcullis_storage::encryption::MAC_BYTES;

use crate::address::Address;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Makes the codes of forms differ from those of cursors.
const LABEL: &[u8] = b"console form";

/// Returns the token of the forms of the one who has `proof`: the hash of a session or a link, or nothing without one.
pub(crate) fn token(app: &App, proof: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(app.keys.authenticate(&[LABEL, proof]))
}

/// Returns whether a form comes from a page of the console, and has the token of `proof`.
pub(crate) fn is_own(
    app: &App,
    address: &Address,
    headers: &HeaderMap,
    form: &FormBody,
    proof: &[u8],
) -> bool {
    let sent = form.get("csrf").and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let code = sent.and_then(|bytes| <[u8; MAC_BYTES]>::try_from(bytes).ok());
    code.is_some_and(|code| app.keys.is_authentic(&[LABEL, proof], &code))
        && comes_from_here(address, headers)
}

/// Returns whether the browser says that a page of this origin sent the request. One that does not say so names the origin.
fn comes_from_here(address: &Address, headers: &HeaderMap) -> bool {
    // No script can set this header, so that it is the word of the browser.
    if let Some(site) = text(headers, &FETCH_SITE) {
        return site == "same-origin";
    }
    let Some(origin) = text(headers, &ORIGIN) else { return false };
    match address.origin() {
        Some(own) => origin == own,
        // Over HTTPS browsers send `sec-fetch-site`, so that the origin here is one of plain HTTP.
        None => text(headers, &HOST).is_some_and(|host| origin == format!("http://{host}")),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_says_where_a_request_comes_from() {
        let address = Address::local();
        let sent = |pairs: &[(HeaderName, &'static str)]| {
            let pairs = pairs.iter().cloned();
            let headers: HeaderMap =
                pairs.map(|(name, value)| (name, HeaderValue::from_static(value))).collect();
            comes_from_here(&address, &headers)
        };
        let host = (HOST, "127.0.0.1:8080");
        assert!(sent(&[(FETCH_SITE, "same-origin")]));
        assert!(sent(&[host.clone(), (ORIGIN, "http://127.0.0.1:8080")]));
        for site in ["same-site", "cross-site", "none", ""] {
            let origin = (ORIGIN, "http://127.0.0.1:8080");
            assert!(!sent(&[host.clone(), origin, (FETCH_SITE, site)]), "{site}");
        }
        for origin in ["http://127.0.0.1:8081", "https://127.0.0.1:8080", "null", ""] {
            assert!(!sent(&[host.clone(), (ORIGIN, origin)]), "{origin}");
        }
        assert!(!sent(&[host]), "nothing says where it comes from");
    }
}
