//! The session that a request proves by its cookies.

use http::HeaderMap;
use portcullis_auth::AuthError;
use portcullis_http::error::ApiError;
use portcullis_http::request_context::RequestContext;
use portcullis_http::session_caller::{failed, lookup, refuse_if_full};
use portcullis_limits::RefusedCredential;
use portcullis_operations::sessions::SessionProof;
use portcullis_operations::sessions::live::{Session, find, tenants_of};
use portcullis_operations::sessions::providers::{ConsoleTenant, tenant_of};
use portcullis_runtime::app::App;

use crate::address::Address;
use crate::cookies::Cookies;

/// A session that a request has proved.
pub(crate) struct Proved {
    pub(crate) tenant: ConsoleTenant,
    pub(crate) proof: SessionProof,
    pub(crate) session: Session,
}

/// Returns the session that the browser has in the tenant `name`. Without a cookie of a session nothing is read, and cookies
/// that prove nobody there count as a failed authentication.
///
/// # Errors
/// The address has too many failed authentications, too many requests wait, or the store failed.
pub(crate) async fn proved(
    app: &App,
    (address, context): (&Address, &RequestContext),
    headers: &HeaderMap,
    name: &str,
) -> Result<Option<Proved>, ApiError> {
    let cookies = Cookies::of(address);
    let Some(text) = cookies.of_sessions(headers) else { return Ok(None) };
    refuse_if_full(app, context)?;
    let turn = lookup(app, context, &text)?;
    let found = session_in(app, cookies, headers, name).await?;
    drop(turn);
    if found.is_some() {
        app.limits.failures.proved(&text);
        return Ok(found);
    }
    let why = AuthError::CredentialRefused("the session has ended".to_owned());
    match failed(app, context, RefusedCredential::Session, why) {
        limited @ ApiError::RateLimited(_) => Err(limited),
        _ => Ok(None),
    }
}

async fn session_in(
    app: &App,
    cookies: Cookies,
    headers: &HeaderMap,
    name: &str,
) -> Result<Option<Proved>, ApiError> {
    let Some(tenant) = tenant_of(app, name).await? else { return Ok(None) };
    let Some(value) = cookies.session(headers, &tenant.id) else { return Ok(None) };
    let proof = SessionProof::new(&tenant.id, value);
    let session = find(app, &proof).await?;
    Ok(session.map(|session| Proved { tenant, proof, session }))
}

/// Returns the other tenants in which the browser has a session.
pub(crate) async fn other_tenants(
    app: &App,
    address: &Address,
    headers: &HeaderMap,
    tenant: &ConsoleTenant,
) -> Result<Vec<ConsoleTenant>, ApiError> {
    let values = Cookies::of(address).other_sessions(headers, &tenant.id);
    if values.is_empty() {
        return Ok(Vec::new());
    }
    Ok(tenants_of(app, &values).await?)
}
