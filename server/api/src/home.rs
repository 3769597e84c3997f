//! The page at `/`: links to what a person can open in a browser.

use askama::Template;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use portcullis_operations::error::OperationError;

use crate::docs::page_headers;
use crate::error::ApiError;
use crate::route_set::RouteSet;

/// The sample tenants of `portcullis dev`, for the page.
#[derive(Clone, Debug)]
pub struct DevSamples {
    /// The URL that answers with a token.
    pub token_url: String,
    pub tenants: Vec<SampleTenant>,
}

/// A sample tenant, for the page.
#[derive(Clone, Debug)]
pub struct SampleTenant {
    pub id: String,
    /// A sentence.
    pub about: String,
    /// The `sub` of each sample user.
    pub users: Vec<String>,
}

/// Adds the sample tenants to the page at `/`.
pub fn with_samples(routes: Router, samples: DevSamples) -> Router {
    routes.layer(Extension(samples))
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home<'a> {
    /// The listener for the operator alone does not serve the API document, which has the version.
    version: Option<&'static str>,
    links: Vec<Link>,
    samples: Option<&'a DevSamples>,
}

struct Link {
    path: &'static str,
    about: &'static str,
}

const DOCS: [Link; 2] = [
    Link { path: "/docs", about: "the documentation of the API, to try it out" },
    Link { path: "/openapi.json", about: "the same as OpenAPI 3.1" },
];
const PROBES: [Link; 2] = [
    Link { path: "/healthz/live", about: "whether the process serves" },
    Link { path: "/healthz/ready", about: "whether it can answer, and what is unavailable" },
];
const METRICS: [Link; 1] = [Link { path: "/metrics", about: "metrics for Prometheus" }];

/// Shows links to the other pages.
#[utoipa::path(
    get, path = "/", tag = "Service", operation_id = "getHome",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")),
)]
pub(super) async fn page(
    Extension(set): Extension<RouteSet>,
    samples: Option<Extension<DevSamples>>,
) -> Result<Response, ApiError> {
    let samples = samples.as_ref().map(|Extension(samples)| samples);
    let page = home(set, samples).render();
    let page = page.map_err(|error| OperationError::Internal(error.into()))?;
    Ok((page_headers("text/html; charset=utf-8".to_owned()), page).into_response())
}

/// Returns the page of a listener with the routes of `set`. It links only to these.
fn home(set: RouteSet, samples: Option<&DevSamples>) -> Home<'_> {
    let version = (set != RouteSet::Operator).then_some(env!("CARGO_PKG_VERSION"));
    let links = match set {
        RouteSet::Everything => DOCS.into_iter().chain(PROBES).chain(METRICS).collect(),
        RouteSet::Public => DOCS.into_iter().chain(PROBES).collect(),
        RouteSet::Operator => PROBES.into_iter().chain(METRICS).collect(),
    };
    Home { version, links, samples }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(page: &str) -> Vec<&str> {
        page.split("href=\"").skip(1).filter_map(|link| link.split('"').next()).collect()
    }

    #[test]
    fn a_page_links_to_what_its_listener_serves() {
        let docs = ["/docs", "/openapi.json"];
        let probes = ["/healthz/live", "/healthz/ready"];
        for (set, expected, has_version) in [
            (RouteSet::Everything, [&docs[..], &probes, &["/metrics"]].concat(), true),
            (RouteSet::Public, [docs, probes].concat(), true),
            (RouteSet::Operator, [&probes[..], &["/metrics"]].concat(), false),
        ] {
            let page = home(set, None).render().expect("a page");
            assert_eq!(paths(&page), expected, "{set:?}");
            assert_eq!(page.contains(env!("CARGO_PKG_VERSION")), has_version, "{set:?}");
            assert!(!page.contains("Sample tenants") && !page.contains("//"), "{page}");
        }
    }

    #[test]
    fn samples_are_shown_and_escaped() {
        let tenant = SampleTenant {
            id: "<acme>".to_owned(),
            about: "Wikis & more.".to_owned(),
            users: vec!["ann".to_owned(), "bob".to_owned()],
        };
        let samples = DevSamples { token_url: "http://x/token".to_owned(), tenants: vec![tenant] };
        let page = home(RouteSet::Everything, Some(&samples)).render().expect("a page");
        let line = "<li><code>&#60;acme&#62;</code>: Wikis &#38; more. Users: <code>ann</code>, <code>bob</code></li>";
        assert!(page.contains(line), "{page}");
        assert!(page.contains("curl -s http://x/token -d grant_type=password"), "{page}");
    }
}
