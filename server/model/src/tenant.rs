//! Tenants of `saas` mode (`docs/semantics.md`, section 6.9).

use serde::Serialize;
use serde_json::json;
use strum::IntoStaticStr;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::fields::{parsed, text};
use crate::input::{self, DeclaredBody, Field, Members};
use crate::{Timestamp, document, schema};

/// Longest name, in characters.
const MAX_NAME: usize = 256;
const SLUG: &str = "^[a-z0-9](-?[a-z0-9]){1,62}$";

/// A tenant as the store keeps it and the API shows it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b65",
    "name": "General Hospital",
    "slug": "general-hospital",
    "created_at": "2026-05-16T09:30:00.000Z",
})))]
pub struct TenantRecord {
    pub id: String,
    pub name: String,
    pub slug: String,
    pub created_at: Timestamp,
    /// Absent while the tenant is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub state: Option<TenantState>,
}

/// A state in which every credential of a tenant is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[schema(examples("suspended"))]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum TenantState {
    /// Until the operator resumes it.
    Suspended,
    /// For ever: its data is being deleted.
    Deleting,
}

/// The body that creates a tenant.
#[derive(Clone, Debug)]
pub struct NewTenant {
    pub name: String,
    pub slug: String,
}

impl DeclaredBody<'_> for NewTenant {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let name = members.required("name", text(MAX_NAME));
        let slug = members.required("slug", slug());
        Some(Self { name: name?, slug: slug? })
    }
}

impl NewTenant {
    /// Returns the record of a new tenant.
    pub fn into_record(self, id: Uuid, created_at: Timestamp) -> TenantRecord {
        TenantRecord {
            id: id.to_string(),
            name: self.name,
            slug: self.slug,
            created_at,
            state: None,
        }
    }
}

document!(NewTenant => input::describe(NewTenant::declare)
    .example(json!({"name": "General Hospital", "slug": "general-hospital"})));

fn slug<'j>() -> impl Field<'j, Value = String> {
    parsed(
        |text| is_slug(text).then(|| text.to_owned()),
        || "2 to 63 lower-case letters and digits, with single `-` between them".to_owned(),
        || schema::string().pattern(Some(SLUG)).description(Some("Unique over all tenants")),
    )
}

/// Returns whether `text` matches [`SLUG`].
fn is_slug(text: &str) -> bool {
    // Dashes do not count towards the length in the pattern, so they do not count here.
    let letters = text.bytes().filter(|byte| *byte != b'-').count();
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    let dashes_inside = !text.starts_with('-') && !text.ends_with('-') && !text.contains("--");
    (2..=63).contains(&letters) && is_plain && dashes_inside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_follow_their_pattern() {
        let long = "a".repeat(63);
        let with_dashes = ["a"; 63].join("-");
        for (text, expected) in [
            ("ab", true),
            ("a-b", true),
            ("0-9", true),
            (&long, true),
            (&with_dashes, true),
            (&format!("{long}a"), false),
            ("a", false),
            ("", false),
            ("-ab", false),
            ("ab-", false),
            ("a--b", false),
            ("Ab", false),
            ("ä-b", false),
            ("a b", false),
        ] {
            let body = format!(r#"{{"name": "n", "slug": "{text}"}}"#);
            let json = portcullis_engine::json::parse(body.as_bytes()).expect("JSON");
            assert_eq!(NewTenant::parse(&json).is_ok(), expected, "{text}");
        }
    }
}
