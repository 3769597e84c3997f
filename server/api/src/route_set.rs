//! The routes of a listener.

/// The routes of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteSet {
    /// Every route.
    Everything,
    /// Every route except the operator's routes.
    Public,
    /// The routes of the operator: `/admin/…`, the metrics and the probes.
    Operator,
}
