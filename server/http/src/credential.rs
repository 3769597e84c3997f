//! The credential of a request (`docs/semantics.md`, section 6.1).

use http::header::{AUTHORIZATION, HeaderName};
use http::request::Parts;
use portcullis_auth::{AuthError, Mode};

use crate::authzen_paths::is_standard;
use crate::error::ApiError;
use crate::no_credential::no_credential;
use crate::raw_body::refuse_oversize;

/// The beginning of each service key.
const KEY_PREFIX: &str = "pck_";

pub(crate) const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-api-key");
pub(crate) const ADMIN_KEY: HeaderName = HeaderName::from_static("x-admin-api-key");

/// Returns whether a bearer token is a service key, which only the routes of the standard accept.
pub(crate) fn is_bearer_key(token: &str, parts: &Parts) -> bool {
    token.starts_with(KEY_PREFIX) && is_standard(parts.uri.path())
}

/// Returns the error for the admin key, on a route for tenants.
pub(crate) fn not_for_operators() -> AuthError {
    let what = "this route needs a bearer token or a service key, not the admin key";
    AuthError::CredentialRefused(what.to_owned())
}

/// The credential of a request.
pub(crate) enum Credential<'h> {
    Bearer(&'h str),
    ServiceKey(&'h str),
    AdminKey(&'h str),
}

impl<'h> Credential<'h> {
    /// Returns the one credential of a request. A body that is too large is refused first.
    pub(crate) fn from_parts(mode: &Mode, parts: &'h Parts) -> Result<Self, ApiError> {
        refuse_oversize(parts)?;
        let headers = &parts.headers;
        let mut sent = [AUTHORIZATION, SERVICE_KEY, ADMIN_KEY]
            .into_iter()
            .flat_map(|name| headers.get_all(&name).iter().map(move |value| (name.clone(), value)));
        let (name, value) = match (sent.next(), sent.next()) {
            (None, _) => return Err(no_credential(mode, parts)),
            (Some(one), None) => one,
            (Some(_), Some(_)) => {
                return Err(ApiError::bad_request(
                    "more than one credential was sent: send exactly one",
                ));
            }
        };
        // A value that is not ASCII is refused as an empty credential.
        let text = value.to_str().unwrap_or_default();
        if name == SERVICE_KEY {
            return Ok(Self::ServiceKey(text));
        }
        if name == ADMIN_KEY {
            return Ok(Self::AdminKey(text));
        }
        text.split_once(' ')
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            // RFC 9110, 11.4: several spaces may follow the scheme.
            .map(|(_, token)| Self::from_bearer(token.trim_start(), parts))
            .ok_or_else(|| {
                let what = "expected `Authorization: Bearer <token>`; a service key goes into the header \
                    `X-Service-Api-Key`";
                AuthError::CredentialRefused(what.to_owned()).into()
            })
    }

    /// Returns the credential of a bearer token. On the routes of the standard it may be a service key.
    fn from_bearer(token: &'h str, parts: &Parts) -> Self {
        if is_bearer_key(token, parts) { Self::ServiceKey(token) } else { Self::Bearer(token) }
    }
}
