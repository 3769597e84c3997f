//! Identity providers: their discovery documents, their key sets, and their clock.

use chrono::{DateTime, Utc};
use http::{HeaderMap, Method, header};
use portcullis_auth::{FETCH_TIMEOUT, Mode, OidcConfig, fetch_keys};
use portcullis_config::{Config, without_password};
use portcullis_egress::Client;
use portcullis_model::clock::Clock;
use portcullis_storage::{Store, StoreError, providers};
use url::Url;

use super::report::Report;

const ABOUT: &str = "provider";
/// The most registered providers that are asked: those whose tokens came last.
const MOST: i64 = 20;
/// The seconds by which the times of a token may be off (`docs/semantics.md`, section 6.1).
const LEEWAY: i64 = 30;

/// Asks the provider of the settings for its keys, and for the time.
pub(super) async fn configured(oidc: &OidcConfig, clock: &Clock, report: &mut Report) {
    let client = match Client::trusted(FETCH_TIMEOUT) {
        Ok(client) => client,
        Err(fault) => return report.wrong(ABOUT, format!("no HTTP client: {fault:#}")),
    };
    let issuer = without_password(&oidc.issuer);
    match fetch_keys(client.clone(), &oidc.issuer, oidc.jwks_uri.clone()).await {
        Ok(keys) => report.fine(ABOUT, format!("`{issuer}` has {keys} keys that verify tokens")),
        Err(fault) => report.wrong(ABOUT, format!("AUTH_SERVER_URL `{issuer}`: {fault:#}")),
    }
    if let Some(theirs) = time(&client, oidc).await {
        judge_clock((clock.now() - theirs).num_seconds(), report);
    }
}

/// Asks the registered providers that were used last for their keys.
pub(super) async fn registered(store: &Store, config: &Config, report: &mut Report) {
    if !matches!(config.mode, Mode::Saas { .. }) {
        return;
    }
    let found = used_last(store).await;
    let (providers, client) = match (found, Client::guarded(&config.egress, FETCH_TIMEOUT)) {
        (Ok(providers), Ok(client)) => (providers, client),
        (Err(fault), _) => return report.wrong(ABOUT, fault.to_string()),
        (_, Err(fault)) => return report.wrong(ABOUT, format!("no HTTP client: {fault:#}")),
    };
    for (issuer, jwks_uri) in providers {
        let shown = without_password(&issuer);
        match fetch_keys(client.clone(), &issuer, Url::parse(&jwks_uri).ok()).await {
            Ok(keys) => report.fine(ABOUT, format!("`{shown}` has {keys} keys that verify tokens")),
            // It belongs to a tenant, and the others are served.
            Err(fault) => report.warning(ABOUT, format!("`{shown}`: {fault:#}")),
        }
    }
}

async fn used_last(store: &Store) -> Result<Vec<(String, String)>, StoreError> {
    store
        .read_all(async |tx| {
            let mut found = Vec::new();
            for issuer in providers::used_last(tx, MOST).await? {
                let provider = providers::find_anywhere(tx, &issuer).await?;
                found.extend(provider.map(|provider| (provider.issuer_url, provider.jwks_uri)));
            }
            Ok(found)
        })
        .await
}

/// Returns the time in the answer of the provider (RFC 9110, section 6.6.1); `None` if it says none.
async fn time(client: &Client, oidc: &OidcConfig) -> Option<DateTime<Utc>> {
    let url = oidc.jwks_uri.clone().or_else(|| Url::parse(&oidc.issuer).ok())?;
    // Only the headers are of interest.
    let answer = client.send(Method::GET, url, HeaderMap::new(), None, 0).await.ok()?;
    let date = answer.headers.get(header::DATE)?.to_str().ok()?;
    // RFC 9110, 5.6.7: the preferred form is a subset of the dates of mails.
    DateTime::parse_from_rfc2822(date).ok().map(|date| date.to_utc())
}

fn judge_clock(ahead: i64, report: &mut Report) {
    let side = if ahead > 0 { "ahead of" } else { "behind" };
    let off = ahead.abs();
    if off > LEEWAY {
        report.wrong(
            "clock",
            format!(
                "this machine is {off} s {side} the provider: tokens are refused before they begin or after they ended; \
                 set the clock, such as by NTP"
            ),
        );
    } else {
        report.fine("clock", format!("within {LEEWAY} s of the provider"));
    }
}
