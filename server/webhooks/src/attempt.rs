//! One attempt: the request, and what came of it.

use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use tokio::time::Instant;
use url::Url;

use super::signature;
use portcullis_egress::{Client, RequestError};
use portcullis_model::Timestamp;
use portcullis_storage::deliveries::Job;

/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 16 * 1024;
/// Most bytes of an answer that are kept.
const MAX_KEPT: usize = 4 * 1024;

/// What came of an attempt.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) status: Option<u16>,
    /// The beginning of the answer.
    pub(super) body: Option<String>,
    /// Why it failed, in words for the subscriber; `None`: it was delivered.
    pub(super) error: Option<String>,
    pub(super) duration: Duration,
}

impl Outcome {
    /// There is no secret to sign with.
    pub(super) fn unsigned() -> Self {
        let error = Some("the secret cannot be read; register it again".to_owned());
        Self { status: None, body: None, error, duration: Duration::ZERO }
    }
}

/// Sends the event of `job`, signed with `secret`.
pub(super) async fn send(client: &Client, job: &Job, secret: &[u8], at: Timestamp) -> Outcome {
    let began = Instant::now();
    let mut headers = signature::headers(secret, job.event, at, &job.body);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("Portcullis-Webhooks"));
    let answer = match Url::parse(&job.url) {
        Ok(url) => client.post(url, headers, job.body.clone(), MAX_ANSWER).await,
        Err(error) => Err(RequestError::Refused(error.to_string())),
    };
    let duration = began.elapsed();
    match answer {
        Ok(answer) => {
            let status = answer.status.as_u16();
            let refusal = || format!("the receiver answered with {status}");
            let error = (!answer.status.is_success()).then(refusal);
            Outcome { status: Some(status), body: Some(kept(&answer.body)), error, duration }
        }
        Err(error) => {
            Outcome { status: None, body: None, error: Some(error.to_string()), duration }
        }
    }
}

/// The first bytes of an answer as text that every store can keep.
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
