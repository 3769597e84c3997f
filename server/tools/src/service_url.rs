//! The URL of a service on the command line.

use url::Url;

/// Reads the URL of a service.
///
/// # Errors
/// The text is not an http or https URL.
pub(crate) fn service_url(text: &str) -> Result<Url, &'static str> {
    let url = text.parse::<Url>().ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or("expected an http or https URL such as `http://127.0.0.1:8080`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_has_an_http_url() {
        for good in ["http://127.0.0.1:8080", "https://authz.example/base/"] {
            assert!(service_url(good).is_ok(), "{good}");
        }
        for bad in ["127.0.0.1:8080", "localhost:8080", "ftp://authz.example", ""] {
            let expected = "expected an http or https URL such as `http://127.0.0.1:8080`";
            assert_eq!(service_url(bad), Err(expected), "{bad}");
        }
    }
}
