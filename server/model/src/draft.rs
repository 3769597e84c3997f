//! Drafts: bundles that a tenant keeps beside the content that decides (`docs/semantics.md`, section 18.2).

use serde::Serialize;
use serde_json::value::RawValue;
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::Timestamp;
use crate::authorship::authored_record;

/// Longest name of a draft, in characters.
pub const MAX_DRAFT_NAME: usize = 64;

/// Returns whether a draft can have this name.
pub fn is_draft_name(name: &str) -> bool {
    (1..=MAX_DRAFT_NAME).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// The way to treat records of the kinds that a draft names, where the draft does not name the records themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[derive(EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum DraftMode {
    /// They go.
    #[default]
    Replace,
    /// They stay.
    Merge,
}

authored_record! {
    /// A draft as the store keeps it and the API shows it.
    #[derive(Clone, Debug, Serialize, ToSchema)]
    #[schema(examples(json!({
        "name": "stricter-nights",
        "bundle": {"policies": []},
        "mode": "replace",
        "shadow": true,
        "created_by": "ines-admin",
        "created_at": "2026-05-16T09:30:00.000Z",
        "updated_by": null,
        "updated_at": null,
    })))]
    pub struct DraftRecord {
        pub name: String,
        #[serde(skip)]
        pub tenant_id: String,
        /// The kinds that the draft replaces.
        #[schema(value_type = Object)]
        pub bundle: Box<RawValue>,
        /// The domain of what the bundle has without one.
        #[serde(skip)]
        pub domain: String,
        pub mode: DraftMode,
        /// Checks are decided by the draft, too.
        pub shadow: bool,
    }
}

impl DraftRecord {
    /// Returns the instant at which the draft became what it is.
    pub fn in_force_since(&self) -> Timestamp {
        self.updated_at.unwrap_or(self.created_at)
    }

    /// Returns whether two drafts say the same; authors and times may differ.
    pub fn says(&self, other: &Self) -> bool {
        (self.bundle.get(), &self.domain, self.mode, self.shadow)
            == (other.bundle.get(), &other.domain, other.mode, other.shadow)
    }
}
