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

pub(crate) use endpoint::method_name;
pub(crate) use manifest::Manifest;
pub(crate) use record::{AttributeRecord, ConfigKeyRecord, ModuleRecord, StoredResolver};
pub(crate) use secrets::Secrets;
pub(crate) use shown::{
    ActivityRecord, BreakerRecord, Doing, LastErrorRecord, LatencyRecord, Origin, ResolverRecord,
    ResolverState,
};
pub(crate) use update::ManifestUpdate;

#[cfg(test)]
mod tests;
