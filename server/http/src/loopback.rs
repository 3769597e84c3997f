//! Refuses requests for other hosts than this machine.
//!
//! A page on the internet can let its own name resolve to 127.0.0.1 (DNS rebinding). Its scripts then read the answers of
//! a service on this machine, but their requests still name the host of the page.

use std::net::IpAddr;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http::header::HOST;
use http::uri::Authority;
use portcullis_runtime::error::OperationError;

use crate::error::ApiError;

/// Adds the refusal to `routes`.
pub fn only_loopback(routes: Router) -> Router {
    routes.layer(middleware::from_fn(refuse_other_hosts))
}

async fn refuse_other_hosts(request: Request, next: Next) -> Response {
    if is_for_loopback(&request) {
        return next.run(request).await;
    }
    let what = "expected `localhost` or a loopback address as the host of the request";
    ApiError::from(OperationError::AccessDenied(what.to_owned())).into_response()
}

/// Whether the request names a host, in its URI or the header `Host`, and each is a loopback host.
fn is_for_loopback(request: &Request) -> bool {
    let in_uri = request.uri().authority().map(Authority::as_str);
    let in_headers = request.headers().get_all(HOST).iter();
    // A value that is not text is empty, which is not a loopback host.
    let in_headers = in_headers.map(|value| value.to_str().unwrap_or_default());
    let mut hosts = in_uri.into_iter().chain(in_headers).peekable();
    hosts.peek().is_some() && hosts.all(is_loopback)
}

fn is_loopback(host_and_port: &str) -> bool {
    let Ok(authority) = host_and_port.parse::<Authority>() else { return false };
    let host = authority.host();
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || literal.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_hosts_of_this_machine_are_loopback() {
        for (host, expected) in [
            ("localhost", true),
            ("LocalHost:8080", true),
            ("127.0.0.1:8080", true),
            ("127.9.9.9", true),
            ("[::1]:8080", true),
            ("[::ffff:127.0.0.1]", true),
            ("evil.example", false),
            ("localhost.evil.example:8080", false),
            ("127.0.0.1.evil.example", false),
            ("127.0.0.1@evil.example", false),
            ("10.0.0.1", false),
            ("[2001:db8::1]", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }

    #[test]
    fn every_host_of_a_request_counts() {
        let request = |uri: &str, hosts: &[&str]| {
            let mut request = Request::builder().uri(uri);
            for host in hosts {
                request = request.header(HOST, *host);
            }
            is_for_loopback(&request.body(Body::empty()).expect("a request"))
        };
        assert!(request("/", &["localhost:1"]));
        assert!(request("http://127.0.0.1:1/", &[]));
        assert!(!request("/", &[]), "no host");
        assert!(!request("/", &["localhost", "evil.example"]));
        assert!(!request("http://localhost/", &["evil.example"]));
        assert!(!request("http://evil.example/", &["localhost"]));
    }
}
