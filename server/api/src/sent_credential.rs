//! The credential of a request without its secret.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::service_key::PresentedKey;
use portcullis_runtime::app::App;

use crate::credential::{ADMIN_KEY, SERVICE_KEY, is_bearer_key};
use crate::limits;
use crate::request_id::RequestId;

/// The credential of a request without its secret, for the audit record if it is refused.
#[derive(Debug)]
pub(crate) struct SentCredential {
    kind: CredentialKind,
    /// The service key, until its id is read from it.
    service_key: Option<HeaderValue>,
    address: Option<IpAddr>,
    request_id: RequestId,
}

impl SentCredential {
    /// Returns the credential of the request with this id; `None` if it has none. It copies no text: most credentials are good.
    pub(crate) fn of(app: &App, parts: &Parts, id: &RequestId) -> Option<Self> {
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
        let address = limits::client_address(app, parts);
        Some(Self { kind, service_key, address, request_id: id.clone() })
    }

    /// Returns the origin of the request. The secret is not part of it.
    pub(crate) fn into_origin(self) -> Origin {
        let key = self.service_key.as_ref().and_then(|key| key.to_str().ok());
        let key = key.and_then(PresentedKey::parse).map(|key| key.id.to_string());
        let request_id = Some(self.request_id.text());
        Origin { key, ..Origin::new("", self.kind).with_request(self.address, request_id) }
    }
}

/// Returns the service key that was sent as a bearer token.
fn bearer_key(parts: &Parts) -> Option<HeaderValue> {
    let text = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (_, token) = text.split_once(' ')?;
    let token = token.trim_start();
    is_bearer_key(token, parts).then(|| HeaderValue::from_str(token).ok()).flatten()
}
