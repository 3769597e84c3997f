//! The types of answers that a client accepts (RFC 9110, section 12.5.1).

use http::HeaderMap;
use http::header::ACCEPT;

/// Returns whether `Accept` names the type itself. A wildcard asks for the usual answer.
pub fn accepts(headers: &HeaderMap, content_type: &str) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| is_accepted(one, content_type))
}

/// Returns whether a part of `Accept` names the type, and its weight is not zero.
fn is_accepted(part: &str, content_type: &str) -> bool {
    let mut words = part.split(';').map(str::trim);
    words.next().is_some_and(|name| name.eq_ignore_ascii_case(content_type))
        // RFC 9110, 12.4.2: a weight of 0 means that the type is not acceptable.
        && !words.any(|word| matches!(word.split_at_checked(2), Some(("q=" | "Q=", weight)) if is_zero(weight)))
}

fn is_zero(weight: &str) -> bool {
    weight.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_type_of_weight_zero_is_not_accepted() {
        for (sent, expected) in [
            ("text/event-stream", true),
            ("*/*, Text/Event-Stream ; q=0.001", true),
            ("text/event-stream;q=0", false),
            ("application/json, text/event-stream; Q=0.000", false),
            ("*/*", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(sent))]);
            assert_eq!(accepts(&headers, "text/event-stream"), expected, "{sent}");
        }
    }
}
