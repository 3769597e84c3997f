//! Attribute resolvers (`docs/semantics.md`, sections 5.2 and 5.11): what the operator says of one, what
//! its module says of itself,
//! and the record of both.

mod endpoint;
mod input;
mod manifest;
mod record;
mod secrets;
mod shown;
mod stored;
mod update;

pub use manifest::Manifest;
pub use record::{AttributeRecord, ConfigKeyRecord, ModuleRecord, StoredResolver};
pub use secrets::Secrets;
pub use shown::{
    ActivityRecord, BreakerRecord, Doing, LastErrorRecord, LatencyRecord, Origin, ResolverRecord,
    ResolverState,
};
pub use update::ManifestUpdate;

#[cfg(test)]
mod tests;
