//! The hints of explained checks (`docs/semantics.md`, section 2.15).

use serde::Serialize;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Most hints of an explanation: nobody mends more at once.
pub const MAX_HINTS: usize = 20;

/// The kind of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum HintCode {
    /// The directory has subjects of the type, and not this one.
    UnknownSubject,
    /// The directory has objects of the type, and not this one.
    UnknownObject,
    /// Nothing reads the attribute.
    UnreadAttribute,
    /// The attribute is not of the declared type.
    OtherType,
    /// The action is not the verb of the resource.
    ActionNotVerb,
    /// No rule and no policy names the resource.
    UnnamedResource,
}

/// A doubt about a check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    pub code: HintCode,
    /// The place in the body of the check, as a JSON pointer.
    pub path: String,
    pub message: String,
}
