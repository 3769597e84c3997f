//! The roles that conditions name.

use std::collections::BTreeSet;

use portcullis_engine::Condition;
use portcullis_engine::condition::{AttributePath, Operand, Predicate, RequestField};

/// Adds the roles that tests of `request.roles` name. Returns whether these are all on which the condition depends: no test
/// compares roles with another attribute.
pub fn roles_in<'c>(condition: &'c Condition, roles: &mut BTreeSet<&'c str>) -> bool {
    let mut are_all = true;
    for test in condition.tests() {
        if test.attribute == AttributePath::Request(RequestField::Roles) {
            roles.extend(test.predicate.sought_items());
            are_all &= !matches!(test.predicate, Predicate::Compare(_, Operand::Attribute(_)));
        }
        are_all &= !matches!(
            test.predicate,
            Predicate::Compare(_, Operand::Attribute(AttributePath::Request(RequestField::Roles)))
        );
    }
    are_all
}
