//! Writes the resolvers of a tenant as files: `resolvers.yaml`, and for each a folder with its manifest and descriptor.

use portcullis_engine::Json;
use portcullis_engine::json::Member;

use crate::canonical;
use crate::exported_content::{ExportedContent, items};
use crate::folder_file::{ExportError, FolderFile, list_file};
use crate::kinds::RESOLVERS;
use crate::resolvers::{DESCRIPTOR_FILE, MANIFEST_FILE};
use crate::yaml_writer::ItemLayout;

/// Returns the files of resolvers in the form of an export. A resolver's folder is named by its namespace. Secrets are
/// `null`, so that an apply keeps those that the service has.
pub(super) fn resolver_files(
    content: &ExportedContent<'_>,
) -> Result<Vec<FolderFile>, ExportError> {
    let resolvers = items(content, RESOLVERS.name())?.unwrap_or_default();
    if resolvers.is_empty() {
        return Ok(Vec::new());
    }
    let mut sorted = Vec::with_capacity(resolvers.len());
    for json in resolvers {
        sorted.push((namespace_of(json)?, json));
    }
    sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
    let (mut files, mut items) = (Vec::new(), Vec::new());
    for (namespace, json) in sorted {
        let descriptor = content.descriptors.iter().find(|(own, _)| *own == namespace);
        let (_, descriptor) =
            descriptor.ok_or_else(|| ExportError::Descriptor(namespace.clone()))?;
        let folder = format!("resolvers/{namespace}");
        let manifest = Json::Object(manifest(json));
        files.push(json_file(format!("{folder}/{MANIFEST_FILE}"), &manifest));
        files.push(json_file(format!("{folder}/{DESCRIPTOR_FILE}"), descriptor));
        let mut item = vec![("module".into(), Json::String(namespace.into()))];
        // A resolver is enabled unless its item says otherwise.
        if json.get("enabled") == Some(&Json::Bool(false)) {
            item.push(("enabled".into(), Json::Bool(false)));
        }
        items.push(Json::Object(item));
    }
    files.push(list_file(RESOLVERS.file(), &items, ItemLayout::Block)?);
    Ok(files)
}

fn namespace_of(resolver: &Json<'_>) -> Result<String, ExportError> {
    let namespace = resolver.get("namespace").and_then(Json::as_str).map(str::to_owned);
    namespace.ok_or_else(|| ExportError::Unexpected {
        kind: RESOLVERS.name().to_owned(),
        expected: "resolvers with a `namespace`",
    })
}

fn manifest<'j>(json: &Json<'j>) -> Vec<Member<'j>> {
    let mut members = canonical::manifest(json);
    let secrets = names_of_secrets(json).into_iter();
    let secrets: Vec<Member<'j>> = secrets.map(|name| (name.into(), Json::Null)).collect();
    if !secrets.is_empty() {
        members.push(("secrets".into(), Json::Object(secrets)));
    }
    members
}

fn names_of_secrets(resolver: &Json<'_>) -> Vec<String> {
    let mut names: Vec<String> = match resolver.get("secrets") {
        Some(Json::Array(names)) => {
            names.iter().filter_map(Json::as_str).map(str::to_owned).collect()
        }
        Some(Json::Object(members)) => members.iter().map(|(name, _)| name.to_string()).collect(),
        _ => Vec::new(),
    };
    names.sort_unstable();
    names
}

/// Returns a JSON file as people read it.
fn json_file(name: String, json: &Json<'_>) -> FolderFile {
    let text = serde_json::to_string_pretty(json).unwrap_or_default() + "\n";
    FolderFile { name, text }
}
