//! The credential of a request whose answer goes on: it is verified again while the answer does.

use axum::extract::FromRequestParts;
use http::request::Parts;
use portcullis_auth::parse_key;
use portcullis_model::service_key::PresentedKey;
use portcullis_operations::key_holders;
use portcullis_operations::sessions::{SessionProof, live};
use portcullis_runtime::app::App;

use crate::credential::{Credential, not_for_operators};
use crate::error::ApiError;
use crate::handler_parameters::HandlerParameter;
use crate::managed_domain;

/// The credential of a request whose answer goes on.
#[derive(Debug)]
pub struct LiveCredential {
    app: App,
    sent: SentCredential,
}

#[derive(Debug)]
enum SentCredential {
    /// A token, with the domain that the request names.
    Token(String, Option<String>),
    Key(PresentedKey),
    Session(SessionProof),
}

impl LiveCredential {
    /// Returns the session of the console as a credential.
    pub fn of_session(app: &App, proof: SessionProof) -> Self {
        Self { app: app.clone(), sent: SentCredential::Session(proof) }
    }

    /// Returns whether the credential still proves its caller: it is neither revoked nor expired, and its tenant and the named
    /// domain are open.
    pub async fn still_holds(&self) -> bool {
        let (app, now) = (&self.app, self.app.clock.now());
        match &self.sent {
            SentCredential::Token(token, domain) => {
                let closed = app.closed_tenants.all();
                let is_open = domain.as_ref().is_none_or(|domain| !closed.contains(domain));
                is_open && app.token_holder(token).await.is_ok()
            }
            SentCredential::Key(key) => match key_holders::verify_cached(app, key, now) {
                Some(verified) => verified.is_ok(),
                None => key_holders::verify(app, key, now).await.is_ok(),
            },
            SentCredential::Session(proof) => live::still_holds(app, proof).await,
        }
    }
}

impl FromRequestParts<App> for LiveCredential {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let sent = match Credential::from_parts(&app.mode, parts)? {
            Credential::Bearer(token) => {
                let domain = managed_domain::named(&app.mode, parts)?;
                SentCredential::Token(token.to_owned(), domain.map(str::to_owned))
            }
            Credential::ServiceKey(key) => SentCredential::Key(parse_key(key)?),
            Credential::AdminKey(_) => return Err(not_for_operators().into()),
        };
        Ok(Self { app: app.clone(), sent })
    }
}

impl HandlerParameter for LiveCredential {}
