//! The fetch of key sets.

use std::borrow::Cow;
use std::sync::Arc;

use anyhow::Context;
use futures_util::future::BoxFuture;
use portcullis_egress::Client;
use portcullis_engine::excerpt::quoted;
use portcullis_engine::json::{self, Json};
use url::Url;

use super::set::KeySet;

/// Largest key set and discovery document, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// A function that fetches a key set. Its error names the URL, for the log.
pub(crate) type Fetch = Arc<dyn Fn() -> BoxFuture<'static, anyhow::Result<KeySet>> + Send + Sync>;

/// Returns a function that fetches over HTTP from `jwks_uri`, or from the address in the issuer's discovery document
/// (OpenID Connect Discovery 1.0, section 4).
pub(crate) fn http_fetch(client: Client, issuer: &str, jwks_uri: Option<Url>) -> Fetch {
    let issuer = issuer.to_owned();
    Arc::new(move || {
        let (client, issuer, jwks_uri) = (client.clone(), issuer.clone(), jwks_uri.clone());
        Box::pin(async move {
            let uri = match jwks_uri {
                Some(uri) => uri,
                None => discover(&client, &issuer).await?,
            };
            fetch_key_set(&client, &uri).await.with_context(|| shown(&uri))
        })
    })
}

/// Fetches the key set of an issuer as for a token, and returns the number of its keys that can verify tokens.
///
/// # Errors
/// The discovery document or the key set cannot be fetched or used. The text has the URL without credentials.
pub async fn fetch_keys(
    client: Client,
    issuer: &str,
    jwks_uri: Option<Url>,
) -> anyhow::Result<usize> {
    let keys = http_fetch(client, issuer, jwks_uri)().await?;
    Ok(keys.number())
}

/// Fetches the discovery document of `issuer`, and returns what `read` reads of it.
pub(crate) async fn fetch_document<T>(
    client: &Client,
    issuer: &str,
    read: impl FnOnce(&Json<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    // OpenID Connect Discovery 1.0, 4.1: a slash at the end of the issuer is left out.
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let address: Url = address.parse().context("the issuer is not a URL")?;
    let text = client.get(address.clone(), MAX_BYTES).await.with_context(|| shown(&address))?;
    read_document(&text, issuer)
        .and_then(|document| read(&document))
        .with_context(|| shown(&address))
}

/// Fetches the key set at `uri`.
async fn fetch_key_set(client: &Client, uri: &Url) -> anyhow::Result<KeySet> {
    KeySet::parse(&client.get(uri.clone(), MAX_BYTES).await?)
}

/// Returns the URL of the key set, which the discovery document of `issuer` names.
async fn discover(client: &Client, issuer: &str) -> anyhow::Result<Url> {
    fetch_document(client, issuer, |document| address_in(document, "jwks_uri")).await
}

/// Reads the discovery document of `issuer`.
pub(super) fn read_document<'t>(text: &'t [u8], issuer: &str) -> anyhow::Result<Json<'t>> {
    let document = json::parse(text).context("expected a discovery document")?;
    let own = document.get("issuer").and_then(Json::as_str).unwrap_or_default();
    anyhow::ensure!(
        own == issuer,
        "expected the discovery document of the issuer {}, not of {}",
        quoted(shown_issuer(issuer)),
        quoted(shown_issuer(own))
    );
    Ok(document)
}

/// Returns the address that a discovery document has as `name`.
pub(crate) fn address_in(document: &Json<'_>, name: &str) -> anyhow::Result<Url> {
    let uri = document.get(name).and_then(Json::as_str);
    let uri = uri.with_context(|| format!("the discovery document has no `{name}`"))?;
    uri.parse().with_context(|| format!("the `{name}` {} is not a URL", quoted(uri)))
}

/// Returns an issuer as it is written, because every character counts, with `***` in place of credentials.
fn shown_issuer(issuer: &str) -> Cow<'_, str> {
    match Url::parse(issuer) {
        Ok(mut url) if url.authority().contains('@') => {
            // A URL with credentials has a host, so that both can be set.
            let _ = url.set_username("***");
            let _ = url.set_password(None);
            String::from(url).into()
        }
        _ => issuer.into(),
    }
}

/// Returns a URL for the log, without the parts that can hold a password or a key.
pub(super) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // An error says that the URL has no host, and then it has no user either.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.into()
}
