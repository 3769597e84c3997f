//! The routes of a listener.

/// The routes of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteSet {
    /// Every route.
    Everything,
    /// Every route without those of the operator.
    Public,
    /// The routes of the operator: `/admin/…`, the metrics and the probes.
    Operator,
}
