//! The answer to a request without a credential.

use http::HeaderName;
use http::request::Parts;
use portcullis_auth::{AuthError, Mode};

use crate::error::ApiError;

/// Headers in which other services expect a key. They hold no credential here.
const HEADERS_OF_OTHERS: [HeaderName; 5] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-apikey"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("apikey"),
    HeaderName::from_static("x-service-key"),
];

/// Returns the error of a request without a credential. It names the header that serves if a wrong one was sent, or if
/// no token serves.
pub(crate) fn no_credential(mode: &Mode, parts: &Parts) -> ApiError {
    let is_admin = parts.uri.path().starts_with("/admin/");
    let expected = if is_admin {
        "the admin key in the header `X-Admin-Api-Key`"
    } else {
        "a service key in the header `X-Service-Api-Key`"
    };
    let sent = HEADERS_OF_OTHERS.into_iter().find(|name| parts.headers.contains_key(name));
    let what = match sent {
        Some(sent) => format!("expected {expected}; the header `{sent}` is not read"),
        None if mode.has_tokens() && !is_admin => return ApiError::NoCredential,
        None => format!("a credential is needed: {expected}"),
    };
    AuthError::CredentialRefused(what).into()
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use http::Request;
    use http_body_util::BodyExt;
    use portcullis_auth::AdminKeys;

    use super::*;

    /// Returns status and message of the answer to a request for `path` with the header `name` in `mode`.
    async fn answer(mode: &Mode, path: &str, name: &str) -> (u16, String) {
        let request = Request::get(path).header(name, "pck_1").body(()).expect("a request");
        let response = no_credential(mode, &request.into_parts().0).into_response();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        (status, body["message"].as_str().expect("a message").to_owned())
    }

    #[tokio::test]
    async fn a_key_in_the_wrong_header_learns_the_right_one() {
        let mode = Mode::Saas { admin_keys: AdminKeys::default() };
        for (path, header, expected) in [
            (
                "/api/v1/resources",
                "X-API-Key",
                "expected a service key in the header `X-Service-Api-Key`; the header `x-api-key` is not read",
            ),
            (
                "/api/v1/resources",
                "X-Service-Key",
                "expected a service key in the header `X-Service-Api-Key`; the header `x-service-key` is not read",
            ),
            (
                "/admin/tenants",
                "apikey",
                "expected the admin key in the header `X-Admin-Api-Key`; the header `apikey` is not read",
            ),
            (
                "/admin/tenants",
                "x-other",
                "a credential is needed: the admin key in the header `X-Admin-Api-Key`",
            ),
            (
                "/api/v1/resources",
                "x-other",
                "a credential is needed, such as `Authorization: Bearer <token>`",
            ),
        ] {
            let answer = answer(&mode, path, header).await;
            assert_eq!(answer, (401, expected.to_owned()), "{path} {header}");
        }
    }

    #[tokio::test]
    async fn without_tokens_a_service_key_is_asked_for() {
        let expected = "a credential is needed: a service key in the header `X-Service-Api-Key`";
        for mode in
            [Mode::Selfhost(None), Mode::SingleTenant { tenant: "acme".to_owned(), oidc: None }]
        {
            let answer = answer(&mode, "/api/v1/check", "x-other").await;
            assert_eq!(answer, (401, expected.to_owned()), "{mode:?}");
        }
    }
}
