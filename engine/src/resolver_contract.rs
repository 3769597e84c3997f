//! The terms that resolvers, their manifests and their host share: limits and HTTP methods.
//!
//! These are plain types, so that the crates that keep and check manifests do without the host of resolvers. The kinds
//! of attributes are [`crate::AttributeKind`].

use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// The size limit of a module, in bytes. The service accepts uploads of this size.
pub const MODULE_BYTES: usize = 16 << 20;

/// The linear memory of an instance, in bytes, and the size of a slot of the pool. Interpreters need 20 to 30 MiB.
pub const MEMORY_BYTES: usize = 64 << 20;

/// The length limit of a name in a descriptor or a manifest, in bytes.
pub const NAME_BYTES: usize = 128;

/// The longest timeout that a manifest can set for a call. No check takes longer.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(30);

/// The limits that the manifest of a resolver sets for its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall time of a call, from the moment at which it has an instance; at most [`TIMEOUT_MAX`].
    pub timeout: Duration,
    /// Linear memory, in bytes; at most [`MEMORY_BYTES`].
    pub memory_bytes: usize,
}

impl Default for Limits {
    /// Returns 250 ms, in which a request to a neighbouring service fits, and [`MEMORY_BYTES`].
    fn default() -> Self {
        Self { timeout: Duration::from_millis(250), memory_bytes: MEMORY_BYTES }
    }
}

/// An HTTP method that a manifest can grant for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", const_into_str)]
pub enum EndpointMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}
