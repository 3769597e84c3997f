//! The roles that conditions name.

use std::collections::BTreeSet;

use portcullis_engine::Condition;
use portcullis_engine::condition::{AttributePath, Operand, Predicate, RequestField, Test};

/// Adds the roles that tests of `request.roles` name.
pub(super) fn roles_in<'c>(condition: &'c Condition, roles: &mut BTreeSet<&'c str>) {
    match condition {
        Condition::And(children) | Condition::Or(children) => {
            children.iter().for_each(|child| roles_in(child, roles));
        }
        Condition::Not(child) => roles_in(child, roles),
        Condition::Test(Test {
            attribute: AttributePath::Request(RequestField::Roles),
            predicate: Predicate::Compare(_, Operand::Text(role)),
            ..
        }) => _ = roles.insert(role),
        Condition::Test(_) => {}
    }
}
