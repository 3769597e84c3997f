//! The kinds of credentials that can be refused.

/// The kind of a refused credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedCredential {
    Token,
    ServiceKey,
    AdminKey,
}

impl RefusedCredential {
    pub(crate) const ALL: [Self; 3] = [Self::Token, Self::ServiceKey, Self::AdminKey];

    /// Returns the label of the kind in metrics and log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::ServiceKey => "service_key",
            Self::AdminKey => "admin_key",
        }
    }
}
