//! Writes the content of a tenant as the files of a tenant folder, the same content always with the same bytes.

use std::cmp::Ordering;

use portcullis_engine::Json;

use crate::bundle::{ROLES_FILE, TYPES_FILE, WEBHOOKS_FILE};
use crate::canonical;
use crate::folder_file::{ExportError, FolderFile, list_file, object_file};
use crate::list_files::{CASES, POLICIES, RESOURCES, RULES};
use crate::resolver_files::resolver_files;
use crate::users::TENANT_FILE;
use crate::yaml_writer::ItemLayout;

/// The content of a tenant that becomes files.
#[derive(Clone, Copy, Debug)]
pub struct ExportedContent<'c> {
    /// The id of the tenant.
    pub tenant: &'c str,
    /// The kinds, in the form of `GET /api/v1/export`.
    pub kinds: &'c Json<'c>,
    /// The descriptors of the modules, by the namespaces of their resolvers.
    pub descriptors: &'c [(String, Json<'c>)],
}

/// Returns the files of the content. A kind that it lacks has no file, unless a folder needs one.
///
/// # Errors
/// The content has another form than an export.
pub fn folder_files(content: &ExportedContent<'_>) -> Result<Vec<FolderFile>, ExportError> {
    let users = items(content, "users")?.unwrap_or_default();
    let users = users.iter().map(canonical::user).collect();
    let tenant = vec![
        ("tenant".into(), Json::String(content.tenant.into())),
        ("users".into(), Json::Array(users)),
    ];
    let mut files = vec![object_file(TENANT_FILE, &tenant)?];
    for (kind, file, layout, write) in LISTS {
        let items = items(content, kind)?.unwrap_or_default();
        let mut items: Vec<Json<'_>> = items.iter().map(write).collect();
        if kind != "cases" {
            items.sort_by(by_members);
        }
        files.push(list_file(file, &items, layout)?);
    }
    if let Some(resolvers) = items(content, "resolvers")?.filter(|items| !items.is_empty()) {
        files.extend(resolver_files(resolvers, content.descriptors)?);
    }
    for (kind, file, layout, write) in OPTIONAL_LISTS {
        let items = items(content, kind)?.unwrap_or_default();
        let mut items: Vec<Json<'_>> = items.iter().map(write).collect();
        items.sort_by(by_members);
        if !items.is_empty() {
            files.push(list_file(file, &items, layout)?);
        }
    }
    if let Some(settings) = content.kinds.get("settings").and_then(Json::as_object) {
        let settings = canonical::settings(settings);
        // Settings that nobody made stay out of the folder, so that an apply does not judge them.
        if !settings.is_empty() {
            files.push(object_file("settings.yaml", &settings)?);
        }
    }
    Ok(files)
}

type WriteItem = for<'j> fn(&Json<'j>) -> Json<'j>;

/// The lists that every folder has: the kind, the file, and the form of an item.
const LISTS: [(&str, &str, ItemLayout, WriteItem); 4] = [
    ("resources", RESOURCES.file, ItemLayout::Line, canonical::resource),
    ("rules", RULES.file, ItemLayout::Line, canonical::rule),
    ("policies", POLICIES.file, ItemLayout::Block, canonical::policy),
    ("cases", CASES.file, ItemLayout::Block, canonical::case),
];

/// The lists that a folder has only if they have items.
const OPTIONAL_LISTS: [(&str, &str, ItemLayout, WriteItem); 3] = [
    ("types", TYPES_FILE, ItemLayout::Block, canonical::declared_type),
    ("roles", ROLES_FILE, ItemLayout::Line, canonical::role),
    ("webhooks", WEBHOOKS_FILE, ItemLayout::Block, canonical::webhook),
];

/// Returns the items of a kind.
fn items<'c>(
    content: &ExportedContent<'c>,
    kind: &str,
) -> Result<Option<&'c [Json<'c>]>, ExportError> {
    match content.kinds.get(kind) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Array(items)) => Ok(Some(items)),
        Some(_) => Err(ExportError::Unexpected { kind: kind.to_owned(), expected: "a list" }),
    }
}

/// Compares items by their first members, which name them.
fn by_members(a: &Json<'_>, b: &Json<'_>) -> Ordering {
    let texts = |json: &Json<'_>| {
        let members = json.as_object().unwrap_or_default();
        let texts = members.iter().map(|(_, value)| match value {
            Json::String(text) => text.to_string(),
            value => value.to_string(),
        });
        texts.collect::<Vec<_>>()
    };
    texts(a).cmp(&texts(b))
}
