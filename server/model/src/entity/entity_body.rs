//! The body of `PUT /api/v1/entities/{type}/{id}`, and the names that it shares with its path.

use portcullis_engine::fields::within;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};
use serde_json::json;

use super::new_entity::{MAX_ID, NewEntity, TYPE_RULE, is_type};
use super::record::SourceName;
use crate::document;
use crate::fields::string;
use crate::input::{self, Field, Members};

/// The body of `PUT /api/v1/entities/{type}/{id}`: the entity, and who keeps it.
#[derive(Debug)]
pub struct EntityBody {
    pub entity: NewEntity,
    /// The job that keeps the entity up to date, if there is one.
    pub source: Option<String>,
}

impl EntityBody {
    /// Reads a request body for the entity that the path names.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, path: (&str, &str)) -> Result<Self, Invalid> {
        let (at, mut problems) = (Place::root(), Problems::default());
        let body = input::read(json, &at, &mut problems, |members| Self::declare(members, path));
        if !is_type(path.0) {
            problems.expected(&at.key("type"), format!("{TYPE_RULE} in the path"));
        }
        if !within(path.1, MAX_ID) {
            problems.expected(&at.key("id"), format!("1 to {MAX_ID} characters in the path"));
        }
        if let Some(body) = &body {
            body.entity.check(&at, &mut problems);
        }
        problems.finish(body)
    }

    fn declare(members: &mut Members<'_, '_>, path: (&str, &str)) -> Option<Self> {
        declare_names(members, path);
        let content = NewEntity::declare_content(members);
        let source = SourceName::field().about("The job that keeps this entity up to date");
        let source = members.optional("source", source);
        let entity = NewEntity { kind: path.0.to_owned(), id: path.1.to_owned(), ..content };
        Some(Self { entity, source })
    }
}

document!(EntityBody => {
    input::describe(|members| EntityBody::declare(members, ("", "")))
        .about("An entity; it replaces the stored one as a whole")
        .example(json!({
            "roles": ["doctor"],
            "domain_roles": {"ws-1": ["owner"]},
            "properties": {"ward": "er", "clearance": 3},
        }))
});

/// Reads type and id, which a body may have if they are the same as in its path.
pub(super) fn declare_names(members: &mut Members<'_, '_>, path: (&str, &str)) {
    for (name, in_path) in [("type", path.0), ("id", path.1)] {
        let sent = members.optional(name, string().about("As in the path, or absent"));
        if sent.is_some_and(|sent| sent != in_path) {
            members.expected_at(name, format!("`{in_path}`, as in the path"));
        }
    }
}
