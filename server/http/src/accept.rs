//! The types of answers that a client accepts (RFC 9110, section 12.5.1).

use http::HeaderMap;
use http::header::ACCEPT;

/// Returns whether `Accept` names the type itself. A wildcard asks for the usual answer.
pub fn accepts(headers: &HeaderMap, content_type: &str) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = accepted.flat_map(|value| value.split(','));
    types.any(|one| {
        one.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(content_type)
    })
}
