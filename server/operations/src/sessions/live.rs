//! Sessions that go on: their proof, their list and their end.

use std::sync::Arc;

use portcullis_auth::{AuthError, ConsoleConfig, TokenHolder};
use portcullis_model::Timestamp;
use portcullis_model::audit::{AuditAction, Origin};
use portcullis_model::session::{SessionRecord, hash_of};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{StoreError, sessions};
use uuid::Uuid;

use super::proof::{SessionProof, console, read, write};
use super::providers::{ConsoleTenant, named};
use super::refresh;
use super::sealed::{Sealed, SealedSession};

/// The use of a session is stored once in this time, in milliseconds, or in a tenth of its idle time if that is shorter.
const USE_MILLIS: i64 = 60_000;

const NO_SESSION: OperationError = OperationError::NotFound("session");

/// A session that a request has proved.
#[derive(Debug)]
pub struct Session {
    pub record: SessionRecord,
    /// The person, in the tenant of the session.
    pub holder: Arc<TokenHolder>,
}

/// Returns the session of `proof`, if there is one that goes on. Notes its use.
///
/// # Errors
/// The state of the tenant is not known, or the store failed.
pub async fn find(app: &App, proof: &SessionProof) -> Result<Option<Session>, OperationError> {
    let Some(session) = verified(app, proof).await? else { return Ok(None) };
    note_use(app, &session.record).await;
    Ok(Some(session))
}

/// Returns whether the session of `proof` goes on, for an answer that does. It does not note a use.
pub async fn still_holds(app: &App, proof: &SessionProof) -> bool {
    matches!(verified(app, proof).await, Ok(Some(_)))
}

async fn verified(app: &App, proof: &SessionProof) -> Result<Option<Session>, OperationError> {
    let config = &console(app)?.config;
    // A list of closed tenants that may be old must let nobody in.
    if !app.tenant_freshness.is_proved() {
        return Err(AuthError::TenantsUnknown.into());
    }
    if app.closed_tenants.contains(&proof.tenant) || !app.mode.serves(&proof.tenant) {
        return Ok(None);
    }
    let Some(record) = read(app, proof).await? else { return Ok(None) };
    if has_ended(config, &record, app.clock.now().into()) {
        return Ok(None);
    }
    let Some((record, sealed)) = refresh::fresh(app, proof, record).await? else {
        return Ok(None);
    };
    let holder = match holder(app, &record, sealed).await {
        // A token that was refreshed may not administer the tenant any more.
        Ok(holder) => holder.within(&proof.tenant),
        Err(AuthError::Store(error)) => return Err(error.into()),
        // Without the keys of the provider nobody knows whether the session has ended.
        Err(AuthError::NoKeys(why)) => return Err(AuthError::NoKeys(why).into()),
        Err(_) => None,
    };
    Ok(holder.map(|holder| Session { record, holder }))
}

fn has_ended(config: &ConsoleConfig, record: &SessionRecord, now: Timestamp) -> bool {
    let idle = i64::try_from(config.idle.as_millis()).unwrap_or(i64::MAX);
    now >= record.ends_at || now.millis() >= record.used_at.millis().saturating_add(idle)
}

/// Returns the person of a session: whom its access token proves now, or who is stored where no token does.
async fn holder(
    app: &App,
    record: &SessionRecord,
    sealed: SealedSession,
) -> Result<Arc<TokenHolder>, AuthError> {
    match (&sealed.identity, &sealed.access) {
        (Some(identity), _) => {
            let per_domain = app.mode.has_a_tenant_per_domain();
            identity.holder(&record.tenant_id, per_domain).map(Arc::new)
        }
        (None, Some(access)) => app.token_holder(access).await,
        (None, None) => Err(AuthError::TokenRefused("the session has no token".to_owned())),
    }
}

/// Returns the tenants in which the values `values` of cookies are sessions that go on, in the order of the values.
///
/// # Errors
/// The store failed.
pub async fn tenants_of(app: &App, values: &[&str]) -> Result<Vec<ConsoleTenant>, OperationError> {
    let config = &console(app)?.config;
    let now = app.clock.now().into();
    let found = app.store.read_all(async |tx| {
        let mut found = Vec::new();
        for value in values {
            found.extend(sessions::find_anywhere(tx, &hash_of(value)).await?);
        }
        Ok::<Vec<SessionRecord>, StoreError>(found)
    });
    let mut tenants = Vec::new();
    for record in found.await? {
        if !has_ended(config, &record, now) && !app.closed_tenants.contains(&record.tenant_id) {
            tenants.push(named(app, &record.tenant_id).await?);
        }
    }
    Ok(tenants)
}

/// Stores the use of a session now and then. A session goes on if that fails.
async fn note_use(app: &App, record: &SessionRecord) {
    let now: Timestamp = app.clock.now().into();
    let Some(console) = &app.console else { return };
    let tenth = i64::try_from(console.config.idle.as_millis() / 10).unwrap_or(i64::MAX);
    if now.millis() - record.used_at.millis() < USE_MILLIS.min(tenth) {
        return;
    }
    let stored = write(app, &record.tenant_id, async |tx| sessions::used(tx, record.id, now).await);
    if let Err(error) = stored.await {
        tracing::warn!(%error, "cannot store the use of a session");
    }
}

/// Lists the sessions of the person of `session`, oldest first, that have not ended.
///
/// # Errors
/// The store failed.
pub async fn list(app: &App, session: &Session) -> Result<Vec<SessionRecord>, OperationError> {
    let config = &console(app)?.config;
    let SessionRecord { tenant_id, subject, .. } = &session.record;
    let mut all: Vec<SessionRecord> =
        app.read(tenant_id, async |tx| sessions::list(tx, subject).await).await?;
    let now: Timestamp = app.clock.now().into();
    all.retain(|one| !has_ended(config, one, now));
    Ok(all)
}

/// The sessions that a person ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    One(Uuid),
    All,
}

/// Ends sessions of the person of `session`. `by` is the request that asks for it.
///
/// # Errors
/// The person has no such session, or the store failed.
pub async fn end(
    app: &App,
    session: &Session,
    ending: Ending,
    by: &Origin,
) -> Result<(), OperationError> {
    let SessionRecord { tenant_id, subject, id, .. } = &session.record;
    let now: Timestamp = app.clock.now().into();
    // It waits for no turn: other writes of the tenant must not delay the end of a session.
    let mut tx = app.store.write_as(tenant_id).await?;
    tx.attribute_to(by, now);
    match ending {
        Ending::One(id) => {
            if !sessions::delete(&mut tx, subject, id).await? {
                return Err(NO_SESSION);
            }
        }
        Ending::All => sessions::delete_all(&mut tx, subject).await?,
    }
    let action = AuditAction::ConsoleSignedOut;
    // The session that ended, or else the one in which all were ended.
    let record = if let Ending::One(ended) = ending { ended } else { *id };
    if let Some(count) = console(app)?.notes.count(tenant_id, subject, action, now) {
        sessions::note(&mut tx, action, record, count).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Returns the address at which the provider of a session signs the person out, with the ID token as a hint; `None` if it has
/// none.
///
/// # Errors
/// The store failed.
pub async fn end_session_url(
    app: &App,
    session: &Session,
) -> Result<Option<String>, OperationError> {
    let SessionRecord { tenant_id, issuer, .. } = &session.record;
    let Some(issuer) = issuer else { return Ok(None) };
    let discovery = console(app)?.sign_ins.discover(tenant_id, issuer).await;
    let endpoint = discovery.ok().and_then(|discovery| discovery.end_session_endpoint.clone());
    let Some(mut endpoint) = endpoint else { return Ok(None) };
    if let Some(SealedSession { id: Some(id), .. }) = Sealed(&session.record).open(&app.keys) {
        endpoint.query_pairs_mut().append_pair("id_token_hint", &id);
    }
    Ok(Some(endpoint.into()))
}
