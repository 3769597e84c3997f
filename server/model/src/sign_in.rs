//! The client by which people of a tenant sign in to the console at its identity provider (`docs/semantics.md`, section
//! 19.2).

use portcullis_engine::names::names;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::fields::{text, variant};
use crate::input::Members;
use crate::{document, schema};

/// The scopes that are asked for unless others are named.
pub const DEFAULT_SCOPES: &str = "openid";
/// Longest text, in characters.
const MAX_TEXT: usize = 2_048;
/// Longest name of a provider on the page, in characters.
const MAX_NAME: usize = 256;

/// The token that says who signs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum SignInIdentity {
    /// The access token, which the API would accept, too.
    #[default]
    AccessToken,
    /// The ID token, where access tokens are not for the API.
    IdToken,
}

document!(SignInIdentity => schema::choice(names::<SignInIdentity>()));

/// The client as the store keeps it and the API shows it. Its secret is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(examples(json!({
    "client_id": "portcullis-console", "scopes": "openid", "audience": null, "identity": "access_token",
    "name": "Hospital", "has_client_secret": true,
})))]
pub struct SignIn {
    pub client_id: String,
    pub scopes: String,
    /// The parameter `audience` of the request to sign in, if the provider wants one.
    #[schema(required)]
    pub audience: Option<String>,
    pub identity: SignInIdentity,
    /// The name of the provider on the page; its host without one.
    #[schema(required)]
    pub name: Option<String>,
    pub has_client_secret: bool,
}

/// A client as a body names it.
#[derive(Clone, Debug)]
pub struct NewSignIn {
    client_id: String,
    /// `Some(None)` removes the stored one.
    client_secret: Option<Option<String>>,
    scopes: Option<String>,
    audience: Option<String>,
    identity: Option<SignInIdentity>,
    name: Option<String>,
}

/// The change of the secret of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInSecret {
    Kept,
    Removed,
    Stored(String),
}

impl NewSignIn {
    pub(crate) fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let client_id = members.required("client_id", text(MAX_TEXT));
        let client_secret = members.clearable("client_secret", text(MAX_TEXT));
        let scopes = members.optional("scopes", text(MAX_TEXT));
        let audience = members.optional("audience", text(MAX_TEXT));
        let identity = members.optional("identity", variant());
        let name = members.optional("name", text(MAX_NAME));
        Some(Self { client_id: client_id?, client_secret, scopes, audience, identity, name })
    }

    /// Returns the client of a new provider, and its secret.
    pub(crate) fn into_first(self) -> (Option<SignIn>, Option<String>) {
        // A new provider has no secret that could be kept.
        let (sign_in, secret) = self.into_next(false);
        let secret = match secret {
            SignInSecret::Stored(secret) => Some(secret),
            SignInSecret::Kept | SignInSecret::Removed => None,
        };
        (Some(sign_in), secret)
    }

    /// Returns the client of a provider, which may have had a secret before, and what becomes of the secret.
    pub(crate) fn into_next(self, had_secret: bool) -> (SignIn, SignInSecret) {
        let secret = match self.client_secret {
            None => SignInSecret::Kept,
            Some(None) => SignInSecret::Removed,
            Some(Some(secret)) => SignInSecret::Stored(secret),
        };
        let has_client_secret = match secret {
            // The flag depends on what is stored, because a body without a secret changes nothing there.
            SignInSecret::Kept => had_secret,
            SignInSecret::Removed => false,
            SignInSecret::Stored(_) => true,
        };
        let sign_in = SignIn {
            client_id: self.client_id,
            scopes: self.scopes.unwrap_or_else(|| DEFAULT_SCOPES.to_owned()),
            audience: self.audience,
            identity: self.identity.unwrap_or_default(),
            name: self.name,
            has_client_secret,
        };
        (sign_in, secret)
    }
}
