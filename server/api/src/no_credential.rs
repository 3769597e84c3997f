//! The answer to a request without a credential.

use http::HeaderName;
use http::request::Parts;
use portcullis_auth::AuthError;

use crate::error::ApiError;

/// Headers in which other services expect a key. They hold no credential here.
const HEADERS_OF_OTHERS: [HeaderName; 4] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-apikey"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("apikey"),
];

/// Returns the error of a request without a credential. It names the right header if a wrong one was sent.
pub(crate) fn no_credential(parts: &Parts) -> ApiError {
    let sent = HEADERS_OF_OTHERS.into_iter().find(|name| parts.headers.contains_key(name));
    let Some(sent) = sent else { return ApiError::NoCredential };
    let expected = if parts.uri.path().starts_with("/admin/") {
        "the admin key in the header `X-Admin-Api-Key`"
    } else {
        "a service key in the header `X-Service-Api-Key`"
    };
    let what = format!("expected {expected}; the header `{sent}` is not read");
    AuthError::CredentialRefused(what).into()
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use http::Request;
    use http_body_util::BodyExt;

    use super::*;

    /// Returns status and message of the answer to a request for `path` with the header `name`.
    async fn answer(path: &str, name: &str) -> (u16, String) {
        let request = Request::get(path).header(name, "pck_1").body(()).expect("a request");
        let response = no_credential(&request.into_parts().0).into_response();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        (status, body["message"].as_str().expect("a message").to_owned())
    }

    #[tokio::test]
    async fn a_key_in_the_wrong_header_learns_the_right_one() {
        for (path, header, expected) in [
            (
                "/api/v1/resources",
                "X-API-Key",
                "expected a service key in the header `X-Service-Api-Key`; the header `x-api-key` is not read",
            ),
            (
                "/admin/tenants",
                "apikey",
                "expected the admin key in the header `X-Admin-Api-Key`; the header `apikey` is not read",
            ),
            (
                "/api/v1/resources",
                "x-other",
                "a credential is needed, such as `Authorization: Bearer <token>`",
            ),
        ] {
            assert_eq!(answer(path, header).await, (401, expected.to_owned()), "{path} {header}");
        }
    }
}
