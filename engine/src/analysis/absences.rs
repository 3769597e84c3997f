//! Attributes whose absence a condition leaves undetermined without saying so.

use crate::condition::{AttributePath, Condition, Predicate, Test};

/// Returns the attributes of the request and the token whose absence leaves a test undetermined, in the order of the
/// tree: `if_missing` does not stand for it, and the condition does not ask whether the attribute exists.
///
/// Attributes of resolvers are left out: a resolver that fails leaves a test undetermined whatever `if_missing` says.
pub fn implicit_attributes(condition: &Condition) -> Vec<&AttributePath> {
    let tests = condition.tests();
    let mut found: Vec<&AttributePath> = Vec::new();
    for test in &tests {
        let left = Some(&test.attribute)
            .filter(|_| test.if_missing.is_none() && test.predicate != Predicate::Exists);
        let others = match &test.predicate {
            // The tests of an item come by themselves.
            Predicate::Items(_) => &[],
            other => other.other_attributes(),
        };
        for path in left.into_iter().chain(others) {
            if may_be_absent(path) && !found.contains(&path) && !is_asked_for(path, &tests) {
                found.push(path);
            }
        }
    }
    found
}

fn is_asked_for(path: &AttributePath, tests: &[&Test]) -> bool {
    tests.iter().any(|test| test.attribute == *path && test.predicate == Predicate::Exists)
}

fn may_be_absent(path: &AttributePath) -> bool {
    path.is_sent() || matches!(path, AttributePath::Token(_))
}
