//! Requests to the token endpoint of a provider (RFC 6749, sections 4.1.3 and 6).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use portcullis_egress::Client;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::json::{self, Json};
use url::form_urlencoded;

use super::discovery::Discovery;
use super::outcome::SignInError;
use crate::config::SignInClient;

/// Largest answer, in bytes: three tokens.
const MAX_BYTES: usize = 256 * 1024;

/// The tokens of a sign-in or a refresh.
#[derive(Clone)]
pub struct Tokens {
    pub access: String,
    pub refresh: Option<String>,
    pub id: Option<String>,
    /// Seconds until the access token ends, as the provider says.
    pub expires_in: Option<i64>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens")
    }
}

/// Posts `form` to the token endpoint, with the secret of `client` by `client_secret_basic` if it has one.
///
/// # Errors
/// [`SignInError::Refused`] if the provider refuses the request itself.
pub(super) async fn request(
    client: &Client,
    discovery: &Discovery,
    own: &SignInClient,
    form: &[(&str, &str)],
) -> Result<Tokens, SignInError> {
    let body = body(own, form);
    let headers = headers(own).map_err(SignInError::Provider)?;
    let url = discovery.token_endpoint.clone();
    let answer = client.post(url, headers, body, MAX_BYTES).await;
    let answer = answer.map_err(|error| SignInError::Provider(error.into()))?;
    let read = json::parse(&answer.body).ok();
    // RFC 6749, 5.2: a refusal is a 400, or a 401 of the client.
    if answer.status.is_client_error() {
        let code = read.as_ref().and_then(|json| json.get("error")).and_then(Json::as_str);
        // The settings are wrong, which no other sign-in mends.
        if code == Some("invalid_client") {
            let cause = "the token endpoint does not know the client or its secret";
            return Err(SignInError::Provider(anyhow::anyhow!(cause)));
        }
        let code = quoted(code.unwrap_or_default());
        return Err(SignInError::Refused(format!("the identity provider answers {code}")));
    }
    let tokens =
        answer.status.is_success().then_some(read).flatten().and_then(|json| tokens(&json));
    tokens.ok_or_else(|| {
        let cause = anyhow::anyhow!("the token endpoint answers {} without a token", answer.status);
        SignInError::Provider(cause)
    })
}

/// Returns the text of a form. A client without a secret names itself there.
fn body(own: &SignInClient, form: &[(&str, &str)]) -> Vec<u8> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form);
    if own.secret.is_none() {
        body.append_pair("client_id", &own.id);
    }
    body.finish().into_bytes()
}

fn tokens(answer: &Json<'_>) -> Option<Tokens> {
    let expires_in = match answer.get("expires_in") {
        Some(Json::Number(number)) => number.as_i32().map(i64::from),
        _ => None,
    };
    let [access, refresh, id] = ["access_token", "refresh_token", "id_token"]
        .map(|name| answer.get(name).and_then(Json::as_str).map(str::to_owned));
    Some(Tokens { access: access?, refresh, id, expires_in })
}

fn headers(own: &SignInClient) -> anyhow::Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    headers.insert(CONTENT_TYPE, form);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(secret) = &own.secret {
        // RFC 6749, section 2.3.1: both are encoded as in a form first.
        let [id, secret] = [&own.id, secret]
            .map(|text| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>());
        let pair = format!("{id}:{secret}");
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair)))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}
