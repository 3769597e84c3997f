//! The credential of a request without its secret.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::service_key::PresentedKey;

use crate::credential::{ADMIN_KEY, SERVICE_KEY, is_bearer_key};
use crate::request_id::RequestId;

/// The credential of a request without its secret, for the audit record if it is refused.
#[derive(Debug)]
pub(crate) struct SentCredential {
    kind: CredentialKind,
    /// The service key, until its id is read from it.
    service_key: Option<HeaderValue>,
}

impl SentCredential {
    /// Returns the credential of a request; `None` if it has none. It copies no text: most credentials are good.
    pub(crate) fn find(parts: &Parts) -> Option<Self> {
        let headers = &parts.headers;
        let service_key = headers.get(SERVICE_KEY).cloned().or_else(|| bearer_key(parts));
        let is_there = service_key.is_some()
            || headers.contains_key(ADMIN_KEY)
            || headers.contains_key(AUTHORIZATION);
        if !is_there {
            return None;
        }
        let kind = if service_key.is_some() {
            CredentialKind::ServiceKey
        } else if headers.contains_key(ADMIN_KEY) || parts.uri.path().starts_with("/admin/") {
            CredentialKind::AdminKey
        } else {
            CredentialKind::Token
        };
        Some(Self { kind, service_key })
    }

    /// Returns the origin of the request with this id, from this address. The secret is not part of it.
    pub(crate) fn into_origin(self, id: &RequestId, address: Option<IpAddr>) -> Origin {
        let key = self.service_key.as_ref().and_then(|key| key.to_str().ok());
        let key = key.and_then(PresentedKey::parse).map(|key| key.id.to_string());
        Origin { key, ..Origin::new("", self.kind).with_request(address, Some(id.text())) }
    }
}

/// Returns the service key that was sent as a bearer token.
fn bearer_key(parts: &Parts) -> Option<HeaderValue> {
    let text = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (_, token) = text.split_once(' ')?;
    let token = token.trim_start();
    is_bearer_key(token, parts).then(|| HeaderValue::from_str(token).ok()).flatten()
}
