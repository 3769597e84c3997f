//! Attribute resolvers (`docs/semantics.md`, sections 5.2 and 5.11): the manifest that an operator or a tenant writes,
//! the descriptor of the module, and the records of both.

mod endpoint;
mod fields;
mod file;
mod manifest;
mod record;
mod secrets;
mod shown;
mod stored;
mod update;
mod wanted;

pub use file::{ManifestFile, with_replaced_members};
pub use manifest::Manifest;
pub use record::{AttributeRecord, ConfigKeyRecord, ModuleRecord, StoredResolver};
pub use secrets::{SecretNames, Secrets};
pub use shown::{
    ActivityRecord, BreakerRecord, LastErrorRecord, LatencyRecord, ResolverOrigin, ResolverRecord,
    ResolverState, StatusRecord,
};
pub use update::ManifestUpdate;
pub use wanted::{SentSecrets, WantedResolver};

#[cfg(test)]
mod tests;
