//! The body of a request for permissions (`docs/semantics.md`, section 15.1).

use portcullis_engine::fields::{Body, Fields};
use portcullis_engine::rbac::{MAX_DOMAIN, MAX_SUBJECT};
use portcullis_engine::request::{Attributes, CheckMembers, CheckText, note_misplaced};
use serde_json::json;

use crate::check::Description;
use crate::document;

/// The body of `POST /api/v1/permissions`, valid by construction.
#[derive(Clone, Copy, Debug)]
pub struct PermissionsRequest<'r> {
    /// The subject; `None` is the caller.
    pub subject: Option<&'r str>,
    /// The domain; `None` is the caller's own.
    pub domain: Option<&'r str>,
    /// The known attributes, for which the caller vouches.
    pub attributes: Attributes<'r>,
}

impl<'r> Body<'r> for PermissionsRequest<'r> {
    fn read(fields: &mut Fields<'r, '_>) -> Option<Self> {
        let body = Self::declare(fields);
        note_misplaced(fields);
        Some(body)
    }
}

impl<'r> PermissionsRequest<'r> {
    /// Names the members of the body, to read or to describe them.
    fn declare(members: &mut impl CheckMembers<'r>) -> Self {
        Self {
            subject: members.optional("subject", CheckText::UpTo(MAX_SUBJECT)),
            domain: members.optional("domain", CheckText::UpTo(MAX_DOMAIN)),
            attributes: members.attributes("attributes").unwrap_or_default(),
        }
    }
}

document!(PermissionsRequest<'_> as "PermissionsRequest" => {
    let mut description = Description::about_permissions();
    PermissionsRequest::declare(&mut description);
    description.into_input().example(json!({"attributes": {"user": {"department": "er"}}}))
});
