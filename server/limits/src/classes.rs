//! The classes of requests.

use strum::{IntoStaticStr, VariantArray};

/// A class of requests with its own places. Earlier classes go before later ones. The name is the label
/// in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Class {
    /// Requests for decisions.
    Checks,
    /// Requests of the operator. They have few places, which no tenant can take: the operator must be able to stop a
    /// tenant that floods the service.
    Operator,
    /// All other requests of tenants.
    Management,
    /// Requests whose body is a module.
    Uploads,
}
