//! The roles that conditions name.

use std::collections::BTreeSet;

use portcullis_engine::Condition;
use portcullis_engine::condition::{AttributePath, RequestField};

/// Adds the roles that tests of `request.roles` name.
pub(super) fn roles_in<'c>(condition: &'c Condition, roles: &mut BTreeSet<&'c str>) {
    for test in condition.tests() {
        if test.attribute == AttributePath::Request(RequestField::Roles) {
            roles.extend(test.predicate.sought_items());
        }
    }
}
