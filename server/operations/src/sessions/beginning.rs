//! The beginning of a session.

use portcullis_auth::sign_in::Login;
use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::session::{SessionRecord, hash_of, new_value};
use portcullis_runtime::app::{App, Console};
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, sessions};
use uuid::Uuid;

use super::proof::console;
use super::sealed::SealedSession;

/// Most sessions of a person in a tenant. The oldest goes.
const MAX_SESSIONS: i64 = 20;

/// A person who is signed in.
#[derive(Debug)]
pub struct SignedIn {
    /// The id of the tenant.
    pub tenant: String,
    /// The value of the cookie.
    pub value: String,
}

/// A session that begins.
pub(super) struct Begin<'b> {
    pub(super) tenant: &'b str,
    pub(super) subject: &'b str,
    pub(super) provider: Option<Uuid>,
    pub(super) issuer: Option<&'b str>,
    pub(super) login: Option<&'b Login>,
    pub(super) sealed: SealedSession,
}

/// Stores a session in `tx`, and returns the value of its cookie. It is always a new one: none that a browser brings is
/// adopted.
pub(super) async fn begin(
    app: &App,
    tx: &mut Tx,
    new: Begin<'_>,
) -> Result<String, OperationError> {
    let Console { config, notes, .. } = console(app)?;
    let now: Timestamp = app.clock.now().into();
    let longest = i64::try_from(config.longest.as_millis()).unwrap_or(i64::MAX);
    let id = app.ids.next(now);
    let record = SessionRecord {
        id,
        tenant_id: new.tenant.to_owned(),
        subject: new.subject.to_owned(),
        provider_id: new.provider,
        issuer: new.issuer.map(str::to_owned),
        login_subject: new.login.and_then(|login| login.subject.clone()),
        login_session: new.login.and_then(|login| login.session.clone()),
        tokens: new.sealed.seal(&app.keys, new.tenant, id)?,
        created_at: now,
        used_at: now,
        ends_at: Timestamp::from_millis(now.millis().saturating_add(longest)),
        token_ends_at: new.login.and_then(|login| login.ends_at).map(Timestamp::from_millis),
        refreshing_until: None,
    };
    let value = new_value();
    sessions::insert(tx, &record, &hash_of(&value)).await?;
    // After the insertion, so that the new session counts.
    sessions::keep_newest(tx, new.subject, MAX_SESSIONS).await?;
    let action = AuditAction::ConsoleSignedIn;
    if let Some(count) = notes.count(new.tenant, new.subject, action, now) {
        sessions::note(tx, action, id, count).await?;
    }
    Ok(value)
}
