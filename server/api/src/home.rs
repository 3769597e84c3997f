//! The page at `/`: links to what a person can open in a browser.

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use portcullis_http::error::ApiError;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;

use crate::docs::page_headers;
use crate::route_set::RouteSet;

/// A link of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageLink {
    pub path: &'static str,
    /// A part of a sentence that says what is there.
    pub about: &'static str,
}

impl PageLink {
    /// Returns the address relative to the page, which a proxy may serve below a path.
    fn relative(&self) -> &'static str {
        self.path.trim_start_matches('/')
    }
}

/// Adds a link to the page at `/`.
pub fn with_link(routes: Router, link: PageLink) -> Router {
    routes.layer(Extension(link))
}

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    /// The listener for the operator alone does not serve the API document, which has the version.
    version: Option<&'static str>,
    links: Vec<PageLink>,
}

const CONSOLE: PageLink = PageLink { path: "/console", about: "what the service decides, and why" };
const DOCS: [PageLink; 2] = [
    PageLink { path: "/docs", about: "the documentation of the API, to try it out" },
    PageLink { path: "/openapi.json", about: "the same as OpenAPI 3.1" },
];
const PROBES: [PageLink; 2] = [
    PageLink { path: "/healthz/live", about: "whether the process serves" },
    PageLink { path: "/healthz/ready", about: "whether it can answer, and what is unavailable" },
];
const METRICS: [PageLink; 1] = [PageLink { path: "/metrics", about: "metrics for Prometheus" }];

/// Shows links to the other pages.
pub(super) async fn page(
    State(app): State<App>,
    Extension(set): Extension<RouteSet>,
    more: Option<Extension<PageLink>>,
) -> Result<Response, ApiError> {
    let console = app.console.is_some().then_some(CONSOLE);
    let page = home(set, console, more.map(|Extension(link)| link)).render();
    let page = page.map_err(|error| OperationError::Internal(error.into()))?;
    Ok((page_headers("text/html; charset=utf-8".to_owned()), page).into_response())
}

/// Returns the page of a listener with the routes of `set`, and with one more link. It links only to what is served.
fn home(set: RouteSet, console: Option<PageLink>, more: Option<PageLink>) -> Home {
    let version = (set != RouteSet::Operator).then_some(env!("CARGO_PKG_VERSION"));
    let own: Vec<_> = match set {
        RouteSet::Everything => DOCS.into_iter().chain(PROBES).chain(METRICS).collect(),
        RouteSet::Public => DOCS.into_iter().chain(PROBES).collect(),
        RouteSet::Operator => PROBES.into_iter().chain(METRICS).collect(),
    };
    let console = console.filter(|_| set != RouteSet::Operator);
    Home { version, links: console.into_iter().chain(own).chain(more).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(page: &str) -> Vec<&str> {
        page.split("href=\"").skip(1).filter_map(|link| link.split('"').next()).collect()
    }

    #[test]
    fn a_page_links_to_what_its_listener_serves() {
        let docs = ["docs", "openapi.json"];
        let probes = ["healthz/live", "healthz/ready"];
        for (set, expected, has_version) in [
            (RouteSet::Everything, [&docs[..], &probes, &["metrics"]].concat(), true),
            (RouteSet::Public, [docs, probes].concat(), true),
            (RouteSet::Operator, [&probes[..], &["metrics"]].concat(), false),
        ] {
            let page = home(set, None, None).render().expect("a page");
            assert_eq!(paths(&page), expected, "{set:?}");
            assert_eq!(page.contains(env!("CARGO_PKG_VERSION")), has_version, "{set:?}");
            assert!(!page.contains("//"), "{page}");
        }
    }

    #[test]
    fn one_more_link_is_shown() {
        let link = PageLink { path: "/dev/examples", about: "checks to paste" };
        let page = home(RouteSet::Public, Some(CONSOLE), Some(link)).render().expect("a page");
        assert_eq!(paths(&page).first(), Some(&"console"));
        assert_eq!(paths(&page).last(), Some(&"dev/examples"));
        assert!(page.contains("checks to paste"), "{page}");
    }
}
