//! Writes the content of a tenant as the files of a tenant folder, the same content always with the same bytes.

use std::cmp::Ordering;

use portcullis_engine::Json;

use crate::canonical;
use crate::exported_content::{ExportedContent, items};
use crate::folder_file::{ExportError, FolderFile, list_file, object_file};
use crate::kinds::{KINDS, SETTINGS, TENANT, Written};
use crate::resolver_files::resolver_files;

/// Returns the files of the content. A kind that it lacks has no file, unless a folder needs one.
///
/// # Errors
/// The content has another form than an export.
pub fn folder_files(content: &ExportedContent<'_>) -> Result<Vec<FolderFile>, ExportError> {
    let mut files = Vec::new();
    for kind in KINDS {
        match kind.written {
            Written::Tenant => files.push(tenant_file(content)?),
            Written::Resolvers => files.extend(resolver_files(content)?),
            Written::Settings => files.extend(settings_file(content)?),
            Written::List { layout, write, in_every_folder, is_sorted } => {
                let items = items(content, kind.name())?.unwrap_or_default();
                let mut items: Vec<Json<'_>> = items.iter().map(write).collect();
                if is_sorted {
                    items.sort_by(by_members);
                }
                if in_every_folder || !items.is_empty() {
                    files.push(list_file(kind.file(), &items, layout)?);
                }
            }
        }
    }
    Ok(files)
}

/// Returns the file of the tenant and its users.
fn tenant_file(content: &ExportedContent<'_>) -> Result<FolderFile, ExportError> {
    let users = items(content, "users")?.unwrap_or_default();
    let users = users.iter().map(canonical::user).collect();
    let tenant = [
        ("tenant".into(), Json::String(content.tenant.into())),
        ("users".into(), Json::Array(users)),
    ];
    object_file(TENANT.file(), &tenant)
}

/// Returns the file of the settings. Settings that nobody made stay out of the folder, so that an apply does not judge them.
fn settings_file(content: &ExportedContent<'_>) -> Result<Option<FolderFile>, ExportError> {
    let settings = content.kinds.get(SETTINGS.name()).map(canonical::settings);
    let settings = settings.filter(|settings| !settings.is_empty());
    settings.map(|settings| object_file(SETTINGS.file(), &settings)).transpose()
}

/// Compares items by their first members, which name them.
fn by_members(a: &Json<'_>, b: &Json<'_>) -> Ordering {
    member_texts(a).cmp(&member_texts(b))
}

fn member_texts(json: &Json<'_>) -> Vec<String> {
    let members = json.as_object().unwrap_or_default();
    let texts = members.iter().map(|(_, value)| match value {
        Json::String(text) => text.to_string(),
        value => value.to_string(),
    });
    texts.collect()
}
