//! One delivery attempt: the request and its outcome.

use std::time::Duration;

use chrono::DateTime;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use http::status::StatusCode;
use portcullis_egress::{Client, RequestError};
use portcullis_model::Timestamp;
use portcullis_storage::jobs::Job;
use tokio::time::Instant;
use url::Url;

use crate::signature;

/// The most bytes of a response that are read.
const MAX_RESPONSE: usize = 16 * 1024;
/// The most bytes of a response that are stored.
const MAX_KEPT: usize = 4 * 1024;

/// The outcome of an attempt.
#[derive(Debug)]
pub(crate) struct AttemptOutcome {
    pub(crate) status: Option<u16>,
    /// The beginning of the response.
    pub(crate) body: Option<String>,
    /// The cause of the failure, as the tenant sees it; `None` if the event was delivered.
    pub(crate) error: Option<String>,
    pub(crate) duration: Duration,
    /// The pause that the receiver asks for, if it failed.
    pub(crate) pause: Option<Duration>,
}

impl AttemptOutcome {
    /// The outcome if the secret of the webhook cannot be decrypted: nothing was sent.
    pub(crate) fn unsigned() -> Self {
        let error = Some("cannot decrypt the secret of the webhook; set it again".to_owned());
        Self { status: None, body: None, error, duration: Duration::ZERO, pause: None }
    }

    /// Returns whether the receiver answered that its address is gone for good (RFC 9110, section 15.5.11).
    pub(crate) fn is_gone(&self) -> bool {
        self.status == Some(StatusCode::GONE.as_u16())
    }
}

/// The receiver of a batch of deliveries.
pub(crate) struct Target {
    /// The client for requests of the tenant.
    pub(crate) client: Client,
    pub(crate) url: Result<Url, url::ParseError>,
    /// The secret that signs, decrypted.
    pub(crate) secret: Vec<u8>,
}

/// Sends the event of `job`.
pub(crate) async fn send(job: &Job, target: &Target, at: Timestamp) -> AttemptOutcome {
    let start = Instant::now();
    let body = job.body();
    let mut headers = signature::headers(&target.secret, job.event, at, &body);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("Portcullis-Webhooks"));
    let answer = match &target.url {
        Ok(url) => target.client.post(url.clone(), headers, body, MAX_RESPONSE).await,
        Err(error) => Err(RequestError::Refused(error.to_string())),
    };
    let duration = start.elapsed();
    match answer {
        Ok(answer) => {
            let error = failure(answer.status);
            let pause = error.as_ref().and_then(|_| pause(&answer.headers, at));
            let status = Some(answer.status.as_u16());
            AttemptOutcome { status, body: Some(kept(&answer.body)), error, duration, pause }
        }
        Err(error) => {
            let error = Some(error.to_string());
            AttemptOutcome { status: None, body: None, error, duration, pause: None }
        }
    }
}

/// Returns why an answer with this status is a failure; `None` if it is not one.
fn failure(status: StatusCode) -> Option<String> {
    match status {
        _ if status.is_success() => None,
        StatusCode::GONE => Some(
            "the receiver answered with 410: its address is gone; change the `url` of the webhook, or delete it"
                .to_owned(),
        ),
        _ => Some(format!("the receiver answered with {}", status.as_u16())),
    }
}

/// Returns the pause that `Retry-After` asks for: seconds, or the time until an instant (RFC 9110, section 10.2.3).
fn pause(headers: &HeaderMap, at: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        // A number that is too large is the longest pause.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    // The preferred form of an HTTP date is one of RFC 2822. The obsolete forms ask for no pause.
    let until = DateTime::parse_from_rfc2822(text).ok()?.timestamp_millis();
    // An instant in the past asks for no pause.
    Some(Duration::from_millis(u64::try_from(until - at.millis()).unwrap_or(0)))
}

/// Returns the first bytes of a response as text that every database can store.
fn kept(answer: &[u8]) -> String {
    // PostgreSQL refuses a NUL in a text.
    let mut text = String::from_utf8_lossy(answer).replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(MAX_KEPT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_seconds_or_the_time_until_an_instant() {
        // 1994-11-06T08:49:37Z
        let at = Timestamp::from_millis(784_111_777_000);
        for (text, seconds) in [
            ("5", Some(5)),
            (" 0 ", Some(0)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("", None),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]);
            assert_eq!(pause(&headers, at), seconds.map(Duration::from_secs), "{text}");
        }
        assert_eq!(pause(&HeaderMap::new(), at), None);
    }

    #[test]
    fn an_answer_is_kept_as_text_of_4_kib() {
        assert_eq!(kept(b"ok"), "ok");
        assert_eq!(kept(b"a\0b\xff"), "a\u{fffd}b\u{fffd}");
        let long = kept("\u{20ac}".repeat(5_000).as_bytes());
        assert_eq!(long.len(), 4_095, "a character is not cut in two");
    }
}
