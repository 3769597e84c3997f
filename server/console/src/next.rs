//! Addresses of pages with a query.

use http::Uri;
use portcullis_http::query::query;
use url::form_urlencoded;

/// Most rows of a page.
pub(crate) const LIMIT: i64 = 100;

/// Returns the parameter `name` of a query.
pub(crate) fn parameter(uri: &Uri, name: &str) -> Option<String> {
    query(uri).find(|(own, _)| own == name).map(|(_, value)| value.into_owned())
}

/// Returns the address of the page that begins at `cursor`, below the path of `uri` and with its filter.
pub(crate) fn at_cursor(uri: &Uri, cursor: &str) -> String {
    let others = query(uri).filter(|(name, value)| name != "cursor" && !value.is_empty());
    let filter = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(others)
        .append_pair("cursor", cursor)
        .finish();
    format!("?{filter}")
}

/// Returns `page` with a query of the members that are not empty.
pub(crate) fn with_query(page: &str, members: &[(&str, &str)]) -> String {
    let members = members.iter().filter(|(_, value)| !value.is_empty());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(members).finish();
    if query.is_empty() { page.to_owned() } else { format!("{page}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_keeps_the_filter() {
        let uri: Uri = "/console/acme/policies?q=a%26b&x=&cursor=old".parse().expect("a URI");
        assert_eq!(at_cursor(&uri, "new"), "?q=a%26b&cursor=new");
        assert_eq!(with_query("ask", &[("subject", "a&b"), ("domain", "")]), "ask?subject=a%26b");
        assert_eq!(with_query("ask", &[("domain", "")]), "ask");
    }
}
