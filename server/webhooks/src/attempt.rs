//! One delivery attempt: the request and its outcome.

use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
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
}

impl AttemptOutcome {
    /// The outcome if the secret of the webhook cannot be decrypted: nothing was sent.
    pub(crate) fn unsigned() -> Self {
        let error = Some("cannot decrypt the secret of the webhook; set it again".to_owned());
        Self { status: None, body: None, error, duration: Duration::ZERO }
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
            let status = answer.status.as_u16();
            let success = answer.status.is_success();
            let error = (!success).then(|| format!("the receiver answered with {status}"));
            AttemptOutcome { status: Some(status), body: Some(kept(&answer.body)), error, duration }
        }
        Err(error) => {
            AttemptOutcome { status: None, body: None, error: Some(error.to_string()), duration }
        }
    }
}

/// Returns the first bytes of a response as text that every database can store.
fn kept(answer: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(answer).replace('\0', "\u{fffd}");
    text.truncate(text.floor_char_boundary(MAX_KEPT));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_as_text_of_4_kib() {
        assert_eq!(kept(b"ok"), "ok");
        assert_eq!(kept(b"a\0b\xff"), "a\u{fffd}b\u{fffd}");
        let long = kept("\u{20ac}".repeat(5_000).as_bytes());
        assert_eq!(long.len(), 4_095, "a character is not cut in two");
    }
}
