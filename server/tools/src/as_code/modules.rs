//! The components of a folder's resolvers: their digests, and their bytes where the service lacks them.

use std::collections::HashSet;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use portcullis_bundle::{Bundle, DESCRIPTOR_FILE, ModuleContent};
use sha2::{Digest, Sha256};

use crate::resolver_cli::project::Project;
use crate::service::{Service, may_not};

/// The digest of a component, and its bytes.
pub(super) struct FolderModule {
    pub(super) sha256: String,
    /// `None` if the folder has only the descriptor.
    bytes: Option<Vec<u8>>,
}

/// Returns the components of the folder's resolvers, in their order.
///
/// # Errors
/// A component cannot be read, or is another one than its descriptor is about.
pub(super) fn read(folder: &Path, bundle: &Bundle) -> anyhow::Result<Vec<FolderModule>> {
    bundle.resolvers.iter().map(|resolver| {
        let own = folder.join(&resolver.folder);
        if !has_component(&own) {
            return Ok(FolderModule { sha256: resolver.sha256.clone(), bytes: None });
        }
        let bytes = Project::find(&own)?.bytes()?;
        let sha256 = hexadecimal(&Sha256::digest(&bytes));
        anyhow::ensure!(
            sha256 == resolver.sha256,
            "{}: it is about another component; write it again with `portcullis resolver inspect --json`",
            own.join(DESCRIPTOR_FILE).display()
        );
        Ok(FolderModule { sha256, bytes: Some(bytes) })
    }).collect()
}

fn has_component(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|end| end == "wasm"))
}

/// Returns the modules as an apply sends them: without bytes where `known` has their digest.
pub(super) fn sent(modules: &[FolderModule], known: &HashSet<String>) -> Vec<ModuleContent> {
    let sent = modules.iter().map(|module| {
        let bytes = module.bytes.as_ref().filter(|_| !known.contains(&module.sha256));
        let bytes = bytes.map(|bytes| STANDARD.encode(bytes));
        ModuleContent { sha256: module.sha256.clone(), bytes }
    });
    sent.collect()
}

/// Returns the digests of the modules that the service has for the tenant.
///
/// # Errors
/// The service gives no answer. A credential that may not list resolvers gets none, and every module is sent.
pub(super) async fn known(service: &Service) -> anyhow::Result<HashSet<String>> {
    let records = match service.list("resolvers").await {
        Err(error) if may_not(&error) => Vec::new(),
        listed => listed?,
    };
    // An apply finds the bytes of the tenant's own resolvers, not of those that the operator shares.
    let own = records.iter().filter(|record| record["origin"] == "tenant");
    let digests = own.filter_map(|record| record["module"]["sha256"].as_str());
    Ok(digests.map(str::to_owned).collect())
}

pub(super) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_sent_only_where_the_service_lacks_them() {
        let module = |sha256: &str, bytes: Option<&[u8]>| FolderModule {
            sha256: sha256.to_owned(),
            bytes: bytes.map(<[u8]>::to_vec),
        };
        let modules = [module("a", Some(b"A")), module("b", Some(b"B")), module("c", None)];
        let known = HashSet::from(["a".to_owned()]);
        let bytes: Vec<_> = sent(&modules, &known).into_iter().map(|one| one.bytes).collect();
        assert_eq!(bytes, [None, Some("Qg==".to_owned()), None]);
    }
}
