//! The paths of the AuthZEN routes.

/// The path of one evaluation.
pub const EVALUATION_PATH: &str = "/access/v1/evaluation";
/// The path of many evaluations, whose bodies have their own limit.
pub const EVALUATIONS_PATH: &str = "/access/v1/evaluations";
/// The path of the discovery document of the service; a tenant's document is below it.
pub const CONFIGURATION_PATH: &str = "/.well-known/authzen-configuration";
/// The beginning of the paths of the API.
const API: &str = "/access/v1/";

/// Returns whether a path is one of the standard.
pub fn is_standard(path: &str) -> bool {
    path.starts_with(API) || path.starts_with(CONFIGURATION_PATH)
}
