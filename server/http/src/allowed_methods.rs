//! The answer to a method that a route does not have (`docs/semantics.md`, section 8.4).

use axum::response::{IntoResponse, Response};
use http::header::ALLOW;
use http::{Method, StatusCode};

use crate::error::ApiError;

/// Returns the methods of a path, as the header `Allow` names them.
pub(crate) fn allowed<'m>(methods: impl Iterator<Item = &'m Method>) -> String {
    let methods: Vec<&Method> = methods.collect();
    let names = [
        (Method::GET, "GET,HEAD"),
        (Method::POST, "POST"),
        (Method::PUT, "PUT"),
        (Method::PATCH, "PATCH"),
        (Method::DELETE, "DELETE"),
    ];
    let allowed = names.iter().filter(|(method, _)| methods.contains(&method));
    allowed.map(|(_, names)| *names).collect::<Vec<_>>().join(",")
}

/// Returns a 405 without its body. axum adds `Allow` outside of all layers, too late for [`method_not_allowed`].
pub(crate) fn not_allowed(allow: String) -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, allow)]).into_response()
}

/// Gives a 405 its body, which names the methods of the header `Allow`.
pub(crate) fn method_not_allowed(response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    ApiError::MethodNotAllowed(response.headers().get(ALLOW).cloned()).into_response()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use super::*;

    #[tokio::test]
    async fn a_405_names_the_methods_in_header_and_body() {
        for (methods, expected) in [
            (vec![Method::GET], "GET,HEAD"),
            (vec![Method::DELETE, Method::GET], "GET,HEAD,DELETE"),
            (vec![Method::POST, Method::PUT], "POST,PUT"),
            (vec![Method::PATCH, Method::PUT], "PUT,PATCH"),
        ] {
            let answer = method_not_allowed(not_allowed(allowed(methods.iter())));
            assert_eq!(answer.headers()[ALLOW], expected);
            let body = answer.into_body().collect().await.expect("a body").to_bytes();
            let body: Value = serde_json::from_slice(&body).expect("JSON");
            assert_eq!(body["details"], json!({"allow": expected}));
        }
    }
}
