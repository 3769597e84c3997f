//! Asks a running service for a decision.

use std::time::Duration;

use anyhow::{bail, ensure};
use http::{Method, StatusCode};
use portcullis_config::CredentialHeader;
use portcullis_egress::Answer;
use portcullis_engine::Json;
use serde_json::Value;
use url::Url;

use crate::service::{CallLimits, NAME_DOMAIN, Service, lacks_domain};

/// The limits of the request. A check with resolvers takes a few seconds at most, an explanation of thousands of policies some
/// MiB.
const LIMITS: CallLimits = CallLimits { time: Duration::from_secs(30), answer: 16 << 20 };
/// The number of characters of an unknown answer that an error shows.
const SHOWN: usize = 200;

/// Sends the check, and returns the answer.
///
/// # Errors
/// The service cannot be reached, refuses the check, or is no Portcullis service.
pub(super) async fn ask(
    base: &Url,
    credential: CredentialHeader,
    body: &Json<'_>,
    explain: bool,
) -> anyhow::Result<Value> {
    let service = Service::with_credential(base, credential, LIMITS)?;
    let query: &[(&str, &str)] = if explain { &[("explain", "true")] } else { &[] };
    let (url, body) = (service.route("check", query), body.to_string().into_bytes());
    let answer = service.send(Method::POST, url, Some(body)).await?;
    read(base, answer)
}

/// Reads the answer of the service.
fn read(base: &Url, answer: Answer) -> anyhow::Result<Value> {
    let Answer { status, headers, body } = answer;
    let json = serde_json::from_slice::<Value>(&body).ok().filter(Value::is_object);
    let Some(mut json) = json else {
        let text: String = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
        bail!(
            "`{base}` answers {status} without a JSON object, so it is not the URL of a Portcullis service: `{}`",
            text.escape_debug()
        );
    };
    // A refusal is JSON, too, so its message is shown.
    if status != StatusCode::OK {
        let message = json.get("message").and_then(Value::as_str).unwrap_or_default();
        bail!("`{base}` refuses the check with {status}: {message}{}", hint(status, &json));
    }
    let decides = json.get("decision").and_then(Value::as_str);
    ensure!(
        // Another service may well answer with JSON.
        matches!(decides, Some("allow" | "deny")),
        "`{base}` answers without a decision, so it is not the URL of a Portcullis service"
    );
    let revision = headers.get("x-policy-revision").and_then(|value| value.to_str().ok());
    // The body of a check has no revision, and the header is optional.
    if let Some(revision) = revision.and_then(|text| text.parse::<u64>().ok()) {
        json["revision"] = revision.into();
    }
    Ok(json)
}

/// Returns advice that the message of the service cannot give.
fn hint(status: StatusCode, body: &Value) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST if lacks_domain(body) => NAME_DOMAIN,
        StatusCode::UNAUTHORIZED => {
            "; give a token of this service with --token, or a service key with --key"
        }
        StatusCode::NOT_FOUND => "; --url is the address of the service, without `/api/v1`",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn read_answer(status: u16, body: &str) -> Result<Value, String> {
        let mut headers = HeaderMap::new();
        headers.insert("x-policy-revision", HeaderValue::from_static("7"));
        let status = StatusCode::from_u16(status).expect("a status");
        let answer = Answer { status, headers, body: body.into() };
        let base = "http://pdp.example/".parse().expect("a URL");
        read(&base, answer).map_err(|error| error.to_string())
    }

    #[test]
    fn an_answer_has_a_decision_and_a_revision() {
        let answer = read_answer(200, r#"{"decision": "deny", "reason": "x"}"#).expect("sound");
        assert_eq!(answer.to_string(), r#"{"decision":"deny","reason":"x","revision":7}"#);
    }

    #[test]
    fn every_other_answer_is_a_clear_error() {
        let page = "<!doctype html>\n<title>Welcome</title>".repeat(100);
        for (status, body, expected) in [
            (
                401,
                r#"{"message": "the token is expired"}"#,
                "with 401 Unauthorized: the token is expired; give a token",
            ),
            (
                400,
                r#"{"message": "missing `domain`", "details": {"missing_fields": ["domain"]}}"#,
                "with 400 Bad Request: missing `domain`; --domain names it",
            ),
            (
                404,
                r#"{"message": "no such route"}"#,
                "no such route; --url is the address of the service",
            ),
            (
                503,
                r#"{"message": "later"}"#,
                "refuses the check with 503 Service Unavailable: later",
            ),
            (200, r#"{"ok": true}"#, "answers without a decision"),
            (200, r#"{"decision": "maybe"}"#, "answers without a decision"),
            (200, "[]", "answers 200 OK without a JSON object"),
            (301, "", "answers 301 Moved Permanently without a JSON object"),
            (200, &page, "not the URL of a Portcullis service: `<!doctype html>\\n<title>"),
        ] {
            let error = read_answer(status, body).expect_err("refused");
            assert!(error.contains(expected), "{error}");
            assert!(error.starts_with("`http://pdp.example/` "), "{error}");
            assert!(error.len() < 600, "{error}");
        }
        let base = "http://pdp.example/".parse().expect("a URL");
        let credential = (http::header::AUTHORIZATION, HeaderValue::from_static("Bearer t"));
        let service = Service::with_credential(&base, credential, LIMITS).expect("a client");
        let body = vec![b' '; LIMITS.answer];
        let large = Answer { status: StatusCode::OK, headers: HeaderMap::new(), body };
        let error = service.received(Ok(large)).expect_err("refused").to_string();
        assert!(error.contains("larger than 16777216 bytes"), "{error}");
    }
}
