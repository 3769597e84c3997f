//! A tenant as files: sample users, resources, rules and policies, and cases that say what they decide.
//!
//! `policies/README.md` explains the format. `portcullis test` runs the cases of such a folder;
//! `portcullis dev` serves the tenants of the repository's `policies` folder, which is part of the binary.

mod apply;
mod bundle;
mod cases;
mod embedded;
mod error;
mod files;
mod given_answers;
mod item_files;
mod policies;
mod positions;
mod registry;
mod resolvers;
mod responses;
mod rulebook;
mod store;
mod strays;
mod unique;
mod users;
mod yaml;

pub use apply::{ChangeKind, ObjectChange, apply, clear};
pub use bundle::Bundle;
pub use cases::{Case, Expected};
pub use embedded::embedded_resolver_file;
pub use error::BundleError;
pub use given_answers::GivenAnswers;
pub use item_files::{ItemKind, ItemPlaces, SourceFile};
pub use registry::ItemWarning;
pub use resolvers::{DESCRIPTOR_FILE, ResponsesByNamespace, SampleResolver};
pub use responses::{CannedResponse, CannedResponses};
pub use rulebook::Rulebook;
pub use store::store;
pub use users::{SampleUser, TENANT_FILE};

#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod warning_tests;
