//! The addresses of the console: each has the path of `PUBLIC_URL` before it, which a proxy takes away.

use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use portcullis_runtime::app::App;
use url::Url;

/// The characters of a name of a tenant that stay as they are in a path (RFC 3986, section 2.3).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The segment of paths that have no tenant. A tenant of this name has no console.
pub(crate) const NO_TENANT: &str = "-";

/// The place of the console.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The address by which browsers reach the service; `None` without `PUBLIC_URL`.
    public: Option<String>,
    /// The path of that address, without a slash at its end.
    base: String,
}

impl Address {
    pub(crate) fn of(app: &App) -> Self {
        let public = app.public_url.clone();
        let path = public.as_deref().and_then(|text| Url::parse(text).ok());
        let base = path.map(|url| url.path().trim_end_matches('/').to_owned());
        Self { public, base: base.unwrap_or_default() }
    }

    /// Returns the place of a console without `PUBLIC_URL`.
    #[cfg(test)]
    pub(crate) fn local() -> Self {
        Self { public: None, base: String::new() }
    }

    /// Returns whether browsers come by `https`, so that cookies must not leave otherwise.
    pub(crate) fn is_secure(&self) -> bool {
        self.public.as_deref().is_some_and(|url| url.starts_with("https:"))
    }

    /// Returns the address by which browsers reach the service.
    pub(crate) fn public(&self) -> Option<&str> {
        self.public.as_deref()
    }

    /// Returns the origin of `PUBLIC_URL`, as browsers send it.
    pub(crate) fn origin(&self) -> Option<String> {
        Url::parse(self.public.as_deref()?).ok().map(|url| url.origin().ascii_serialization())
    }

    /// Returns the path that the browser uses for `path`, which begins with a slash.
    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Returns the folder of the pages of a tenant.
    pub(crate) fn folder(&self, tenant: &str) -> String {
        self.path(&format!("/console/{}/", utf8_percent_encode(tenant, SEGMENT)))
    }

    /// Returns the address to which providers send the browser back; `None` without `PUBLIC_URL`.
    pub(crate) fn callback(&self) -> Option<String> {
        Some(format!("{}/console/-/callback", self.public()?))
    }

    /// Returns `to` if it is a page of the tenant, as a browser asks for it: nothing in it leads elsewhere.
    pub(crate) fn page_of(&self, tenant: &str, to: &str) -> Option<String> {
        let decoded = percent_encoding::percent_decode_str(to).decode_utf8().ok()?;
        let (path, _) = decoded.split_once('?').unwrap_or((&decoded, ""));
        // Browsers take a `\` for a `/`, and what follows `//` for another host.
        let leads_away = decoded.contains(['\\', '\u{7f}'])
            || decoded.contains(char::is_control)
            || decoded.contains("//")
            || decoded.contains("..")
            // Decoded once more by somebody on the way.
            || path.contains('%');
        (!leads_away && to.starts_with(&self.folder(tenant))).then(|| to.to_owned())
    }
}

/// Returns a 303 to `to`.
pub(crate) fn see_other(to: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, location(to))]).into_response()
}

/// Returns a header with `location`, which is made of URLs.
pub(crate) fn location(location: &str) -> HeaderValue {
    HeaderValue::from_str(location).unwrap_or_else(|_| HeaderValue::from_static("/console"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(public: Option<&str>, base: &str) -> Address {
        Address { public: public.map(str::to_owned), base: base.to_owned() }
    }

    #[test]
    fn only_pages_of_the_tenant_are_gone_to() {
        let plain = at(None, "");
        for to in ["/console/acme/", "/console/acme/decisions?subject=a%20b", "/console/acme/me"] {
            assert_eq!(plain.page_of("acme", to).as_deref(), Some(to));
        }
        for to in [
            "",
            "/",
            "//evil.example",
            "https://evil.example/console/acme/",
            "/console/other/",
            "/console/acme",
            "/console/acme//evil.example",
            "/console/acme/%2F%2Fevil.example",
            "/console/acme/../other/",
            "/console/acme/%2e%2e/other/",
            "/console/acme/%252e%252e/",
            "/console/acme/\\evil",
            "/console/acme/%5Cevil",
            "/console/acme/%0d%0aSet-Cookie:x",
            "/console/acme/\u{7f}",
        ] {
            assert_eq!(plain.page_of("acme", to), None, "{to}");
        }
        let below = at(Some("https://example.com/authz"), "/authz");
        assert_eq!(below.page_of("acme", "/console/acme/"), None);
        let to = "/authz/console/acme/me";
        assert_eq!(below.page_of("acme", to).as_deref(), Some(to));
        assert_eq!(below.folder("a b/c"), "/authz/console/a%20b%2Fc/");
        assert_eq!(below.origin().as_deref(), Some("https://example.com"));
    }
}
