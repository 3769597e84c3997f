//! The refresh of the tokens of a session. One process does it, whichever replicas serve the session: a refresh token that is
//! used twice ends its family at many providers.

use std::time::Duration;

use portcullis_auth::sign_in::{Login, SignInError};
use portcullis_fairness::run_to_end;
use portcullis_model::Timestamp;
use portcullis_model::session::SessionRecord;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::sessions;

use super::proof::{SessionProof, console, read, write};
use super::providers::sign_in_provider;
use super::sealed::{Sealed, SealedSession, StoredIdentity};

/// Tokens are refreshed at most this many milliseconds before their end.
const MARGIN_MILLIS: i64 = 30_000;
/// The time that one process has for a refresh, in milliseconds.
const REFRESH_MILLIS: i64 = 10_000;
/// The pause between two looks at a refresh that another process makes.
const LOOK: Duration = Duration::from_millis(100);

/// Returns the session with tokens that are good now; `None` if its token has ended without a refresh.
pub(super) async fn fresh(
    app: &App,
    proof: &SessionProof,
    mut record: SessionRecord,
) -> Result<Option<(SessionRecord, SealedSession)>, OperationError> {
    let began: Timestamp = app.clock.now().into();
    loop {
        let now: Timestamp = app.clock.now().into();
        let Some(sealed) = Sealed(&record).open(&app.keys) else { return Ok(None) };
        let Some(end) = record.token_ends_at else { return Ok(Some((record, sealed))) };
        let has_ended = now >= end;
        let Some(refresh) = sealed.refresh.clone() else {
            return Ok((!has_ended).then_some((record, sealed)));
        };
        if !is_due(sealed.life, end, now) {
            return Ok(Some((record, sealed)));
        }
        let until = Timestamp::from_millis(now.millis() + REFRESH_MILLIS);
        let take = write(app, &proof.tenant, async |tx| {
            sessions::begin_refresh(tx, &record, now, until).await
        });
        if take.await? {
            let app = app.clone();
            // The provider takes the old token once, so that the new one is stored whoever waits for it.
            let renewal = async move { renew(&app, &record, sealed, &refresh).await };
            return run_to_end(renewal).await?;
        }
        if !has_ended {
            return Ok(Some((record, sealed)));
        }
        // Another process refreshes, or has done so.
        if now.millis() - began.millis() > REFRESH_MILLIS {
            return Ok(None);
        }
        tokio::time::sleep(LOOK).await;
        match read(app, proof).await? {
            Some(again) => record = again,
            None => return Ok(None),
        }
    }
}

/// Returns whether a token that lives for `life` milliseconds ends soon: within the margin, or in its last tenth.
fn is_due(life: i64, end: Timestamp, now: Timestamp) -> bool {
    now.millis() >= end.millis().saturating_sub(MARGIN_MILLIS.min(life / 10))
}

/// Asks the provider for new tokens. The session ends if the provider refuses; one that cannot be asked leaves the old token
/// until its end.
async fn renew(
    app: &App,
    record: &SessionRecord,
    sealed: SealedSession,
    refresh: &str,
) -> Result<Option<(SessionRecord, SealedSession)>, OperationError> {
    let SessionRecord { tenant_id: tenant, id, .. } = record;
    let now = app.clock.now();
    let provider = sign_in_provider(app, tenant, record.provider_id).await?;
    let renewed = match &provider {
        Some(provider) => {
            let sign_ins = &console(app)?.sign_ins;
            sign_ins.refresh(&app.authenticator, (tenant, &provider.provider), refresh, now).await
        }
        None => Ok(None),
    };
    match renewed {
        Ok(Some(login)) if is_same_person(&login, record) => {
            let (token_ends_at, sealed) = stored(login, sealed, now.into());
            let tokens = sealed.seal(&app.keys, tenant, *id)?;
            let goes_on = write(app, tenant, async |tx| {
                sessions::refreshed(tx, *id, &tokens, token_ends_at).await
            });
            if !goes_on.await? {
                return Ok(None);
            }
            let record = SessionRecord { token_ends_at, tokens, ..record.clone() };
            Ok(Some((record, sealed)))
        }
        // Also where the provider is gone, or the new tokens are about somebody else.
        Ok(_) | Err(SignInError::Refused(_) | SignInError::Token(_)) => {
            write(app, tenant, async |tx| sessions::delete(tx, &record.subject, *id).await).await?;
            Ok(None)
        }
        Err(SignInError::Provider(error)) => {
            tracing::warn!(%tenant, error = %format_args!("{error:#}"), "cannot refresh the tokens of a session");
            let has_ended = record.token_ends_at.is_some_and(|end| Timestamp::from(now) >= end);
            Ok((!has_ended).then(|| (record.clone(), sealed)))
        }
    }
}

/// Returns whether new tokens are about the person who signed in (OpenID Connect Core 1.0, section 12.2).
fn is_same_person(login: &Login, record: &SessionRecord) -> bool {
    let subject = login.holder.as_deref().map(|holder| &holder.identity.subject);
    subject.is_none_or(|subject| *subject == record.subject)
        && (login.subject.is_none() || login.subject == record.login_subject)
}

/// Returns the end of the new token, and what is stored: an identity of an ID token stays if none came.
fn stored(
    login: Login,
    before: SealedSession,
    now: Timestamp,
) -> (Option<Timestamp>, SealedSession) {
    let life = login.life_from(now.millis());
    let identity = match (&login.holder, login.is_by_id_token) {
        (Some(holder), true) => Some(StoredIdentity::of(holder)),
        _ => before.identity,
    };
    let tokens = login.tokens;
    let sealed = SealedSession {
        access: Some(tokens.access),
        refresh: tokens.refresh,
        id: tokens.id.or(before.id),
        identity,
        life,
    };
    (login.ends_at.map(Timestamp::from_millis), sealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_due_in_its_last_tenth_or_half_a_minute() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        for (life, left) in [(20, 2), (300, 30), (3_600, 30)] {
            // However long the session goes on.
            let end = at(1_000_000);
            assert!(is_due(life * 1_000, end, at(1_000_000 - left)), "{life}");
            assert!(!is_due(life * 1_000, end, at(1_000_000 - left - 1)), "{life}");
        }
        assert!(is_due(0, at(5), at(5)) && !is_due(0, at(5), at(4)));
    }
}
