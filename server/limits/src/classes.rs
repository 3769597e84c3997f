//! The classes of requests.

/// A class of requests with places of its own. Earlier classes go before later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

impl Class {
    pub const ALL: [Self; 4] = [Self::Checks, Self::Operator, Self::Management, Self::Uploads];

    /// Returns the label of the class in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Checks => "checks",
            Self::Operator => "operator",
            Self::Management => "management",
            Self::Uploads => "uploads",
        }
    }
}
