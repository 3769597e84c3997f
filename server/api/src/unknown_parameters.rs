//! Query parameters that a route of `/api/v1` does not know (`docs/semantics.md`, section 8.6).
//!
//! The description of a route for the API document is also what it knows. The service compares each request that has a
//! query with it, and the caller's extractor refuses the request once the caller's right is proved.

use std::collections::HashSet;

use http::request::Parts;
use http::{Method, Uri};
use portcullis_engine::excerpt::quoted;
use portcullis_engine::nearest::nearest;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, ParameterIn, PathItem, Paths};

use crate::error::ApiError;
use crate::parameters::query;

/// The paths below which a route knows its query parameters.
const STRICT: &str = "/api/v1/";

/// The query parameters that each route of `/api/v1` knows.
#[derive(Debug)]
pub(crate) struct KnownQueries(Vec<(String, KnownParameters)>);

impl KnownQueries {
    /// Returns the query parameters that the API document describes.
    pub(crate) fn of(paths: &Paths) -> Self {
        let strict = paths.paths.iter().filter(|(path, _)| path.starts_with(STRICT));
        let mut known: Vec<_> =
            strict.map(|(path, item)| (path.clone(), KnownParameters::of(item))).collect();
        // As in the router, a path that is spelled out goes before one with an id.
        known.sort_by_key(|(path, _)| path.matches('{').count());
        Self(known)
    }

    /// Returns the first fault of the query of a request.
    pub(crate) fn fault(&self, parts: &Parts) -> Option<QueryFault> {
        parts.uri.query()?;
        let path = parts.uri.path();
        let (_, known) = self.0.iter().find(|(template, _)| is_of(template, path))?;
        known.fault(&parts.method, &parts.uri).map(QueryFault)
    }
}

/// Returns whether `path` is of the form of `template`, in which `{…}` stands for any segment that is not empty.
fn is_of(template: &str, path: &str) -> bool {
    let (mut expected, mut segments) = (template.split('/'), path.split('/'));
    loop {
        match (expected.next(), segments.next()) {
            (None, None) => return true,
            (Some(expected), Some(segment)) => {
                let is_any = expected.starts_with('{') && !segment.is_empty();
                if !is_any && expected != segment {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// The query parameters that each method of a path knows.
#[derive(Debug)]
struct KnownParameters(Vec<(Method, Vec<String>)>);

impl KnownParameters {
    /// Returns the query parameters that `item` describes.
    fn of(item: &PathItem) -> Self {
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

    /// Returns the first fault of a query: a parameter that the route does not know, or one twice.
    fn fault(&self, method: &Method, uri: &Uri) -> Option<String> {
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
pub(crate) struct QueryFault(String);

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
        let known = KnownParameters(Vec::from([
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
    fn a_path_is_of_one_form() {
        for (template, path, expected) in [
            ("/api/v1/check", "/api/v1/check", true),
            ("/api/v1/check", "/api/v1/check/", false),
            ("/api/v1/check", "/api/v1", false),
            ("/api/v1/webhooks/{id}/test", "/api/v1/webhooks/7/test", true),
            ("/api/v1/webhooks/{id}/test", "/api/v1/webhooks//test", false),
            ("/api/v1/webhooks/{id}", "/api/v1/webhooks/7/test", false),
        ] {
            assert_eq!(is_of(template, path), expected, "{template} {path}");
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        let message = unknown(&"x".repeat(10_000), &["limit".to_owned()]);
        assert!(message.len() < 400, "{}", message.len());
    }
}
