//! Texts as parts of the path of a request.

use std::fmt::Write;

use crate::Error;

/// Returns `text` as one segment of a path: all but the unreserved characters of RFC 3986, section 2.3, are escaped, so that a
/// subject such as `../admin?all=1` is a name and not a path.
///
/// ```
/// use portcullis_guest_sdk::{Error, HttpRequest, path_segment};
///
/// let request = HttpRequest::get(format!("people/{}", path_segment("../Zoë?x")?));
/// assert_eq!(request.path, "people/..%2FZo%C3%AB%3Fx");
/// assert!(matches!(path_segment(".."), Err(Error::Invalid(_))));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Error::Invalid`] for a text that no escape makes a name: the empty one, `.` and `..`.
pub fn path_segment(text: &str) -> Result<String, Error> {
    if matches!(text, "" | "." | "..") {
        return Err(Error::Invalid(format!("`{text}` cannot be a segment of a path")));
    }
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                segment.push(byte.into());
            }
            // Writing to a string does not fail.
            _ => _ = write!(segment, "%{byte:02X}"),
        }
    }
    Ok(segment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_segment() {
        for (text, expected) in [
            ("dr-osei", "dr-osei"),
            ("../admin?x=1#y", "..%2Fadmin%3Fx%3D1%23y"),
            ("Ödön", "%C3%96d%C3%B6n"),
            ("a%2Fb\\c d", "a%252Fb%5Cc%20d"),
            ("...", "..."),
        ] {
            assert_eq!(path_segment(text).as_deref(), Ok(expected));
        }
        for way in ["", ".", ".."] {
            assert!(matches!(path_segment(way), Err(Error::Invalid(_))), "{way}");
        }
    }
}
