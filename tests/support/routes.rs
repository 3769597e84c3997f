//! Sample routes: decisions, resources, rules, policies and probes. `isolation/table.rs` has every route. `{id}` stands
//! for a record's id.

use super::NO_ID;

/// The routes that answer a check.
pub(crate) const CHECKS: [&str; 2] = ["POST /api/v1/check", "POST /api/v1/resources/access/check"];

/// Routes that only a manager may use: resources, rules and policies.
pub(crate) const MANAGEMENT: [&str; 15] = [
    "POST /api/v1/resources",
    "GET /api/v1/resources",
    "POST /api/v1/resources/list",
    "GET /api/v1/resources/{id}",
    "DELETE /api/v1/resources/{id}",
    "GET /api/v1/resources/{id}/policies",
    "GET /api/v1/resources/policies",
    "POST /api/v1/resources/policies",
    "PUT /api/v1/resources/policies",
    "DELETE /api/v1/resources/policies",
    "POST /api/v1/abac/policies",
    "GET /api/v1/abac/policies",
    "GET /api/v1/abac/policies/{id}",
    "PUT /api/v1/abac/policies/{id}",
    "DELETE /api/v1/abac/policies/{id}",
];

/// The routes that need no credential.
pub(crate) const PROBES: [&str; 2] = ["GET /healthz/live", "GET /healthz/ready"];

/// The sample routes, with an id that no record has.
pub(crate) fn all() -> Vec<String> {
    let routes = CHECKS.iter().chain(&MANAGEMENT).chain(&PROBES);
    routes.map(|route| with_id(route, NO_ID)).collect()
}

/// The sample routes that need a credential, with an id that no record has.
pub(crate) fn protected() -> Vec<String> {
    CHECKS.iter().chain(&MANAGEMENT).map(|route| with_id(route, NO_ID)).collect()
}

pub(crate) fn with_id(route: &str, id: &str) -> String {
    route.replace("{id}", id)
}

/// The methods that `path` has, as `Allow` lists them: `HEAD` beside each `GET`.
pub(crate) fn methods(path: &str) -> Vec<String> {
    let of_path = all().into_iter().filter_map(|route| {
        let (method, own) = route.split_once(' ')?;
        (own == path).then(|| method.to_owned())
    });
    let mut methods: Vec<String> = of_path.collect();
    if methods.iter().any(|method| method == "GET") {
        methods.push("HEAD".to_owned());
    }
    methods.sort();
    methods
}
