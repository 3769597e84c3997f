//! Roles that include other roles (`docs/semantics.md`, section 12.8).

use portcullis_engine::fields::within;
use portcullis_engine::rbac::MAX_SUBJECT;
use portcullis_engine::{Invalid, Json};
use serde::Serialize;
use serde_json::json;

use crate::fields::{one_or_more, text};
use crate::input::{self, Field, Members};
use crate::{Authorship, Timestamp, document, schema};

/// Most roles that a role names as included.
const MAX_INCLUDES: usize = 100;

/// A role as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoleRecord {
    pub name: String,
    /// The roles that who has this role has too.
    pub includes: Vec<String>,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_by: Option<String>,
    pub updated_at: Option<Timestamp>,
}

document!(RoleRecord, naming Timestamp => {
    schema::record()
        .field("name", schema::string())
        .field("includes", schema::list(schema::string()))
        .field("created_by", schema::string())
        .field("created_at", schema::named::<Timestamp>())
        .field("updated_by", schema::nullable(schema::string()))
        .field("updated_at", schema::nullable(schema::named::<Timestamp>()))
        .about("A role that includes other roles")
        .example(json!({
            "name": "head-nurse",
            "includes": ["nurse"],
            "created_by": "ines-admin",
            "created_at": "2026-05-16T09:30:00.000Z",
            "updated_by": null,
            "updated_at": null,
        }))
});

impl RoleRecord {
    /// Returns the role with other included roles.
    #[must_use]
    pub fn with_includes(self, includes: Vec<String>, by: &Authorship) -> Self {
        Self { includes, updated_by: Some(by.actor.clone()), updated_at: Some(by.at), ..self }
    }
}

/// The body of `PUT /api/v1/roles/{name}`.
#[derive(Debug)]
pub struct RoleBody {
    /// At least one role, each once.
    pub includes: Vec<String>,
}

impl RoleBody {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        input::parse(json, Self::declare)
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let about = "The roles that who has this role has too";
        let includes = one_or_more(text(MAX_SUBJECT), "role").about(about);
        let includes = members.required("includes", includes)?;
        if includes.len() > MAX_INCLUDES {
            members.expected_at("includes", format!("at most {MAX_INCLUDES} roles"));
        }
        Some(Self { includes })
    }

    /// Returns the record of a new role.
    pub fn into_record(self, name: &str, by: &Authorship) -> RoleRecord {
        RoleRecord {
            name: name.to_owned(),
            includes: self.includes,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
        }
    }
}

document!(RoleBody => {
    input::describe(RoleBody::declare)
        .about("The included roles; they replace those from before")
        .example(json!({"includes": ["nurse"]}))
});

/// Returns whether a role can have this name.
pub fn is_role(name: &str) -> bool {
    within(name, MAX_SUBJECT) && !name.contains('\0')
}
