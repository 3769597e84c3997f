//! Query parameters that a route of `/api/v1` does not know (`docs/semantics.md`, section 8.6).
//!
//! The description of a route for the API document is also what it knows. A layer compares the request with it, and the
//! caller's extractor refuses the request once the caller's right is proved.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::Request;
use http::request::Parts;
use http::{Method, Uri};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::nearest::nearest;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};

use crate::error::ApiError;
use crate::parameters::query;

/// The query parameters that each method of a path knows.
#[derive(Clone, Debug)]
pub(crate) struct KnownParameters(Arc<[(Method, Vec<String>)]>);

impl KnownParameters {
    /// Returns the query parameters that `item` describes.
    pub(crate) fn of(item: &PathItem) -> Self {
        let operations = [
            (Method::GET, &item.get),
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::DELETE, &item.delete),
        ];
        let described = operations.into_iter().filter_map(|(method, operation)| {
            operation.as_ref().map(|operation| (method, in_query(operation)))
        });
        Self(described.collect())
    }

    /// Returns the request, with a [`QueryFault`] if its query has a parameter that the route does not know, or one twice.
    pub(crate) fn compare(&self, mut request: Request) -> Request {
        if let Some(fault) = self.fault(request.method(), request.uri()) {
            request.extensions_mut().insert(QueryFault(fault));
        }
        request
    }

    /// Returns the first fault of a query.
    fn fault(&self, method: &Method, uri: &Uri) -> Option<String> {
        uri.query()?;
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let (_, known) = self.0.iter().find(|(own, _)| own == method)?;
        let mut seen = HashSet::new();
        for (name, _) in query(uri) {
            if !known.iter().any(|known| *known == name) {
                return Some(unknown(&name, known));
            }
            if !seen.insert(name.clone()) {
                return Some(format!("the query parameter {} is given twice", quoted(name)));
            }
        }
        None
    }
}

/// Returns the names of the parameters that `operation` has in the query.
fn in_query(operation: &Operation) -> Vec<String> {
    let parameters = operation.parameters.iter().flatten();
    let described = parameters.filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    });
    described
        .filter(|parameter| parameter.parameter_in == ParameterIn::Query)
        .map(|parameter| parameter.name.clone())
        .collect()
}

/// Returns the message about an unknown parameter. It names the known one that the name resembles, else all known ones.
fn unknown(name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    let name = quoted(name);
    match (nearest, known) {
        (Some(nearest), _) => {
            format!("the query parameter {name} is unknown; the nearest known one is `{nearest}`")
        }
        (None, []) => {
            format!("the query parameter {name} is unknown; the route has no query parameter")
        }
        (None, known) => {
            let known = known.join("`, `");
            format!("the query parameter {name} is unknown; the route knows `{known}`")
        }
    }
}

/// The fault of a query, as an extension of the request.
#[derive(Clone, Debug)]
struct QueryFault(String);

/// Refuses a request with a [`QueryFault`].
pub(crate) fn refuse_query_fault(parts: &Parts) -> Result<(), ApiError> {
    match parts.extensions.get() {
        Some(QueryFault(fault)) => Err(ApiError::bad_request(fault)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_parameter_and_the_nearest_known_one() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let known = KnownParameters(Arc::new([
            (Method::GET, names(&["sub", "obj", "limit", "cursor"])),
            (Method::POST, names(&[])),
        ]));
        let fault =
            |method: Method, path: &str| known.fault(&method, &path.parse().expect("a URI"));
        for sound in ["/", "/?", "/?limit=1&cursor=x", "/?sub=&obj=%26limt%3D1", "/?%73ub=x"] {
            assert_eq!(fault(Method::GET, sound), None, "{sound}");
        }
        for (path, expected) in [
            ("/?limt=1", "the query parameter `limt` is unknown; the nearest known one is `limit`"),
            (
                "/?sub=a&ojb=b",
                "the query parameter `ojb` is unknown; the nearest known one is `obj`",
            ),
            ("/?Sub=a", "the query parameter `Sub` is unknown; the nearest known one is `sub`"),
            (
                "/?=a",
                "the query parameter `` is unknown; the route knows `sub`, `obj`, `limit`, `cursor`",
            ),
            (
                "/?page=2",
                "the query parameter `page` is unknown; the route knows `sub`, `obj`, `limit`, `cursor`",
            ),
            ("/?l%69mt", "the query parameter `limt` is unknown; the nearest known one is `limit`"),
            ("/?sub=a&sub=a", "the query parameter `sub` is given twice"),
            ("/?sub=a&s%75b=b", "the query parameter `sub` is given twice"),
        ] {
            assert_eq!(fault(Method::GET, path).as_deref(), Some(expected));
            assert_eq!(fault(Method::HEAD, path).as_deref(), Some(expected));
        }
        let none = "the query parameter `limit` is unknown; the route has no query parameter";
        assert_eq!(fault(Method::POST, "/?limit=1").as_deref(), Some(none));
        // axum answers a method that the route does not have.
        assert_eq!(fault(Method::PUT, "/?limit=1"), None);
    }

    #[test]
    fn a_long_name_is_cut() {
        let message = unknown(&"x".repeat(10_000), &["limit".to_owned()]);
        assert!(message.len() < 400, "{}", message.len());
    }
}
