//! W1 and W2: rules alone.

use fastrand::Rng;

use crate::model::{DOMAIN, SampleRequest, SampleRule, Workload};
use crate::reference::Reference;
use crate::{REQUESTS, W2_RESOURCES};

/// The number of users, each with two roles.
const USERS: usize = 100;
const ACTIONS: [&str; 10] =
    ["read", "write", "delete", "list", "share", "print", "sign", "lock", "move", "export"];

/// W1: 100 allow rules over 10 roles, 10 actions and 20 resources.
pub fn w1() -> Workload {
    rules_over("W1", 10, 20, 100)
}

/// W2: `rules` allow rules over 1,000 resources.
pub fn w2(rules: usize) -> Workload {
    rules_over(&format!("W2 {rules}"), 100, W2_RESOURCES, rules)
}

fn rules_over(name: &str, roles: usize, resources: usize, rules: usize) -> Workload {
    let mut rng = Rng::with_seed(1);
    let per_resource = rules / resources;
    let tuple = |index: usize| {
        let (resource, nth) = (index / per_resource, index % per_resource);
        (index % roles, resource, ACTIONS[(resource + nth) % ACTIONS.len()])
    };
    let requests = (0..REQUESTS)
        .map(|nth| {
            // A rule allows half of the requests.
            let (role, resource, action) = tuple(rng.usize(..rules));
            let user = role + roles * rng.usize(..USERS / roles);
            let user = if nth % 2 == 0 { user } else { rng.usize(..USERS) };
            request(user, roles, resource, action)
        })
        .collect();
    let rules = (0..rules)
        .map(|index| {
            let (role, resource, action) = tuple(index);
            rule(index, role, resource, action, true)
        })
        .collect();
    Reference::settle(Workload { name: name.to_owned(), rules, policies: Vec::new(), requests })
}

/// Makes the rule for `role`, `action` and `resource`.
pub(crate) fn rule(
    index: usize,
    role: usize,
    resource: usize,
    action: &str,
    allow: bool,
) -> SampleRule {
    SampleRule {
        id: index as u128 + 1,
        sub: role_name(role),
        dom: DOMAIN.to_owned(),
        obj: resource_name(resource),
        act: action.to_owned(),
        allow,
    }
}

/// Makes a request of a user, who has two of `roles` roles.
pub(crate) fn request(user: usize, roles: usize, resource: usize, action: &str) -> SampleRequest {
    SampleRequest {
        subject: format!("user-{user:03}@example.com"),
        resource: resource_name(resource),
        action: action.to_owned(),
        roles: vec![role_name(user % roles), role_name((user * 7 + 3) % roles)],
        user: Vec::new(),
        object: Vec::new(),
        allow: false,
    }
}

fn role_name(role: usize) -> String {
    format!("role-{role:03}")
}

fn resource_name(resource: usize) -> String {
    format!("document-{resource:04}:access")
}
