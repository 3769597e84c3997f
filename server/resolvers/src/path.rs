//! Resolves the path of a guest. It leads below the base URL of the endpoint, and nowhere else.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use url::Url;

/// The longest path, in bytes. Servers take no longer ones, and each is read several times.
const MAX_PATH: usize = 8 << 10;
/// Decodings of a path before it is refused: one by the server, and some by proxies before it.
const DECODINGS: usize = 4;

/// The URL of `path`, with its query, below `base`. How servers read a path differs, so that whatever one of them
/// could take for a step upwards is refused: `..` and `.`, percent-encoded, more than once too, with parameters behind
/// it, or beside a backslash.
///
/// # Errors
/// Returns what the path must be instead. The text shows neither the path nor the base.
pub(crate) fn join(base: &Url, path: &str) -> Result<Url, &'static str> {
    if path.len() > MAX_PATH {
        return Err("of at most 8 KiB");
    }
    if path.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\' || c == '#') {
        return Err("without white space, control characters, `\\` and `#`");
    }
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let below = path.strip_prefix('/').unwrap_or(path);
    // Some readers take what follows `//` for a host.
    if below.starts_with('/') {
        return Err("that does not begin with `//`");
    }
    if climbs(below) {
        return Err("without the segments `.` and `..`");
    }
    let mut url = base.clone();
    // An empty path is the endpoint itself, whose URL stays as it is.
    if !path.is_empty() {
        let root = base.path().trim_end_matches('/');
        url.set_path(&format!("{root}/{below}"));
    }
    match (base.query(), query) {
        (Some(fixed), Some(query)) => url.set_query(Some(&format!("{fixed}&{query}"))),
        (None, Some(query)) => url.set_query(Some(query)),
        (_, None) => {}
    }
    // The parser of URLs may read the path in another way than the rules above, so that its result is checked, too.
    if is_below(base, &url) { Ok(url) } else { Err("below the path of the endpoint") }
}

/// Whether any server could read a step upwards or sideways in `path`.
fn climbs(path: &str) -> bool {
    let mut path = Cow::Borrowed(path);
    for _ in 0..=DECODINGS {
        // Decoding can bring control characters to light, such as `%0A`.
        if path.split(['/', '\\']).any(is_dots) || path.contains(char::is_control) {
            return true;
        }
        let decoded = percent_decode_str(&path).decode_utf8_lossy();
        if decoded == path {
            return false;
        }
        path = Cow::Owned(decoded.into_owned());
    }
    // A path that is encoded so often hides something.
    true
}

/// Whether a segment is dots alone, up to its parameters (RFC 3986 section 3.3).
fn is_dots(segment: &str) -> bool {
    matches!(segment.split(';').next(), Some("." | ".."))
}

/// Whether the parsed URL is on the same origin and below the base.
fn is_below(base: &Url, url: &Url) -> bool {
    let root = base.path().trim_end_matches('/');
    let rest = url.path().strip_prefix(root);
    url.origin() == base.origin()
        && url.username().is_empty()
        && url.password().is_none()
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(base: &str, path: &str) -> Result<String, &'static str> {
        join(&base.parse().expect("a URL"), path).map(String::from)
    }

    #[test]
    fn a_path_is_appended_to_the_base() {
        for (base, path, expected) in [
            ("https://hr.example/api/", "/users/4?a=b", "https://hr.example/api/users/4?a=b"),
            ("https://hr.example/api", "users/4", "https://hr.example/api/users/4"),
            ("https://hr.example/api", "", "https://hr.example/api"),
            ("https://hr.example/api/", "/", "https://hr.example/api/"),
            ("https://hr.example", "/a//b/", "https://hr.example/a//b/"),
            (
                "https://hr.example/api?v=1",
                "/users?a=../b",
                "https://hr.example/api/users?v=1&a=../b",
            ),
            ("https://hr.example/api?v=1", "/users", "https://hr.example/api/users?v=1"),
            ("https://hr.example/api/", "/anna@x.example", "https://hr.example/api/anna@x.example"),
            (
                "https://hr.example/api/",
                "/http://other.example/",
                "https://hr.example/api/http://other.example/",
            ),
            ("https://hr.example/", "@other.example/", "https://hr.example/@other.example/"),
            ("https://hr.example/", ":8080/", "https://hr.example/:8080/"),
            (
                "https://hr.example/a/",
                "/..a/b../.../%2e%2ex",
                "https://hr.example/a/..a/b../.../%2e%2ex",
            ),
            ("https://hr.example/a/", "/caf\u{e9}%20%25", "https://hr.example/a/caf%C3%A9%20%25"),
        ] {
            assert_eq!(joined(base, path).as_deref(), Ok(expected), "{base} {path}");
        }
    }

    #[test]
    fn no_path_keeps_the_host_busy() {
        let many_times_encoded = format!("/%{}41", "25".repeat(DECODINGS));
        assert!(
            joined("https://hr.example/", &many_times_encoded).is_err(),
            "{many_times_encoded}"
        );
        let longest = format!("/{}", "a".repeat(MAX_PATH - 1));
        assert!(joined("https://hr.example/", &longest).is_ok());
        assert_eq!(joined("https://hr.example/", &format!("{longest}a")), Err("of at most 8 KiB"));
    }

    #[test]
    fn a_path_that_leaves_its_endpoint_is_refused() {
        for path in [
            "//other.example/",
            "///other.example/",
            "/../admin",
            "..",
            "/.",
            "/a/../../admin",
            "/%2e%2e/admin",
            "/.%2E/admin",
            "/%252e%252e/admin",
            "/%25252e%25252e/admin",
            "/a/..%2fadmin",
            "/a/%2e%2e%5cadmin",
            "/a/..;x=1/admin",
            "/a/..%3Bx/admin",
            "/\\other.example",
            "\\\\other.example",
            "/a\\..\\..\\admin",
            "/a#b",
            "/a b",
            "/a\r\nhost: other.example",
            "/a\t/../admin",
            "/a%0d%0ahost:%20other.example",
            "/a\0",
            "/a%00",
            "/\u{a0}",
        ] {
            assert!(joined("https://hr.example/api/", path).is_err(), "{path:?}");
        }
    }
}
