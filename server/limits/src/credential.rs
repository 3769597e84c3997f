//! The kinds of credentials that can be refused.

use strum::{IntoStaticStr, VariantArray};

/// The kind of a refused credential, named as the label in metrics and log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum RefusedCredential {
    Token,
    ServiceKey,
    AdminKey,
}
