//! All pages of a search.

use serde_json::{Value, json};

use crate::support::Tenant;

/// Returns the ids of all pages of a search, each with the rule that allows it.
pub(crate) fn all_found(tenant: &Tenant<'_>, route: &str, mut body: Value) -> Vec<(Value, Value)> {
    let mut found = Vec::new();
    loop {
        let mut page = tenant.manage(route, &body).is(200).json();
        assert_eq!(page["conditional"], json!([]));
        for result in page["results"].as_array_mut().expect("results") {
            found.push((result["id"].take(), result["rule"].take()));
        }
        if page["complete"] == true {
            return found;
        }
        body["cursor"] = page["next"].take();
    }
}
