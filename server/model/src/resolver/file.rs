//! The schemas of manifests in files. Their URLs and hosts are those that some service allows: its settings judge them.

use super::manifest::Manifest;
use super::secrets::Secrets;
use crate::document;
use crate::egress_rules::EgressRules;
use crate::input;
use crate::schema::Input;

/// A manifest in a file `manifest.json`.
pub struct ManifestFile;

document!(ManifestFile as "Manifest" => manifest().about(
    "A resolver: the namespace that it answers, and what its module may read and reach"
));

/// Returns `item` with the members of a manifest, which replace the members of the file `manifest.json`.
pub fn with_replaced_members(item: Input) -> Input {
    item.optional_members_of(manifest())
}

fn manifest() -> Input {
    let rules = EgressRules { allow_http: true, ..EgressRules::default() };
    let manifest = input::describe(|members| Manifest::declare(members, &rules));
    manifest.optional("secrets", Secrets::schema_of_file())
}
