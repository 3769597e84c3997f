//! Sign-ins at identity providers, and the end of sessions that a provider asks for (`docs/semantics.md`, section 19.2).

use portcullis_auth::AuthError;
use portcullis_auth::sign_in::{Attempt, Callback, Login, SignInError, logout_claims};
use portcullis_model::Timestamp;
use portcullis_model::audit::Origin;
use portcullis_model::provider::ProviderRecord;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{providers, sessions};

use super::beginning::{Begin, SignedIn, begin};
use super::proof::console;
use super::providers::{LoginProvider, only_provider, sign_in_provider};
use super::sealed::{SealedSession, StoredIdentity};

/// Ends the sign-in of `attempt` with what the browser brings back, and begins a session. `by` is the request, whose actor
/// becomes the person.
///
/// # Errors
/// [`SignInError`] if the provider or its tokens refuse; [`OperationError::AccessDenied`] if the person has nothing to do with
/// the tenant.
pub async fn finish(
    app: &App,
    attempt: &Attempt,
    callback: &Callback,
    redirect_uri: &str,
    by: Origin,
) -> Result<Result<SignedIn, SignInError>, OperationError> {
    let tenant = attempt.tenant.as_deref();
    let provider = sign_in_provider(app, tenant.unwrap_or_default(), attempt.provider).await?;
    let Some(LoginProvider { id, provider, .. }) = provider else {
        let why = "people do not sign in at this identity provider any more".to_owned();
        return Ok(Err(SignInError::Refused(why)));
    };
    let (sign_ins, asked) = (&console(app)?.sign_ins, (&provider, attempt));
    let sent = app.clock.now();
    let login = sign_ins.finish(&app.authenticator, asked, callback, redirect_uri, sent).await;
    let login = match login {
        Ok(login) => login,
        Err(error) => return Ok(Err(error)),
    };
    let Some(holder) = login.holder.clone() else {
        let why = "the identity provider does not say who signs in".to_owned();
        return Ok(Err(SignInError::Refused(why)));
    };
    let tenant = tenant.unwrap_or(holder.tenant()).to_owned();
    // Without a tenant in the attempt, the token is the first to name one.
    app.must_serve(&tenant)?;
    app.closed_tenants.must_be_open(&tenant)?;
    if holder.within(&tenant).is_none() {
        let what = "the token neither belongs to this tenant nor administers it".to_owned();
        return Err(OperationError::AccessDenied(what));
    }
    let subject = &holder.identity.subject;
    // The provider may have taken seconds.
    let now: Timestamp = app.clock.now().into();
    let mut tx = app.store.write(&tenant, now.millis()).await?;
    tx.attribute_to(&Origin { actor: subject.clone(), ..by }, now);
    let new = Begin {
        tenant: &tenant,
        subject,
        provider: id,
        issuer: Some(&provider.issuer),
        sealed: sealed(&login, now),
        login: Some(&login),
    };
    let value = begin(app, &mut tx, new).await?;
    app.commit(tx).await?;
    Ok(Ok(SignedIn { tenant, value }))
}

/// Returns what is stored of a login at `now`.
fn sealed(login: &Login, now: Timestamp) -> SealedSession {
    let holder = login.holder.as_deref().filter(|_| login.is_by_id_token);
    SealedSession {
        access: Some(login.tokens.access.clone()),
        refresh: login.tokens.refresh.clone(),
        id: login.tokens.id.clone(),
        identity: holder.map(StoredIdentity::of),
        life: login.life_from(now.millis()),
    }
}

/// Ends the sessions of the login that a logout token names (OpenID Connect Back-Channel Logout 1.0).
///
/// # Errors
/// [`AuthError`] if the token is refused.
pub async fn log_out(app: &App, token: &str) -> Result<(), AuthError> {
    // Not proved yet: it only chooses the client and the keys that the token is verified with.
    let issuer = app.authenticator.issuer_of(token)?;
    let client = match only_provider(app) {
        Some(only) => Some(only.provider.client.id),
        None => {
            let found: Option<ProviderRecord> =
                app.store.read_all(async |tx| providers::find_anywhere(tx, &issuer).await).await?;
            found.and_then(|record| record.sign_in).map(|sign_in| sign_in.client_id)
        }
    };
    let client = client
        .ok_or_else(|| AuthError::TokenRefused("nobody signs in at this issuer".to_owned()))?;
    let claims = logout_claims(&app.authenticator, token, &client, app.clock.now()).await?;
    // The token names a login, which may have sessions in several tenants.
    let mut tx = app.store.write_all().await?;
    let (subject, session) = (claims.subject.as_deref(), claims.session.as_deref());
    sessions::end_logins(&mut tx, &issuer, subject, session).await?;
    tx.commit().await?;
    Ok(())
}
