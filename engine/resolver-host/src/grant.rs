//! The configuration and the endpoints that a manifest grants to a module.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::environment::Endpoints;

/// The configuration and the endpoints that a manifest grants to a module.
#[derive(Clone)]
pub struct Grant {
    /// The configuration. It holds no secrets: those belong to the endpoints.
    pub config: BTreeMap<String, String>,
    /// The endpoints to which the module may send requests.
    pub endpoints: Arc<dyn Endpoints>,
}
