//! Subjects, actions and resources of AuthZEN requests.

use std::sync::Arc;

use portcullis_engine::Json;
use portcullis_engine::fields::{Fields, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::json::Member;

use super::flatten::{MAX_NAMES, NameBudget, attributes};

/// The kind of an entity in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Subject,
    Action,
    Resource,
}

/// A complete entity.
#[derive(Debug)]
pub(super) struct Entity<'j> {
    /// The type; empty for an action.
    pub(super) kind: &'j str,
    /// The id, or the name of an action.
    pub(super) id: &'j str,
    /// The attributes that policies read of it.
    pub(super) attributes: Vec<Member<'j>>,
}

/// An entity of a request, in which the required members may still be missing.
#[derive(Debug, Default)]
pub(super) struct PartialEntity<'j> {
    kind: Option<&'j str>,
    id: Option<&'j str>,
    properties: Vec<Member<'j>>,
}

impl Role {
    /// Returns the member that has the entity.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Action => "action",
            Self::Resource => "resource",
        }
    }

    /// Returns the member that has the id, or the name of an action.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Action => "name",
            Self::Subject | Self::Resource => "id",
        }
    }

    /// Returns the attributes that an entity gets beside its properties: the type, then the id.
    pub(super) fn added(self) -> &'static [&'static str] {
        match self {
            Self::Subject => &["type"],
            Self::Action => &[],
            Self::Resource => &["type", "id"],
        }
    }
}

impl<'j> PartialEntity<'j> {
    /// Reads the entity in `json` at `at`. Ignores unknown members.
    pub(super) fn read(
        role: Role,
        json: &'j Json<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
        names: &mut NameBudget,
    ) -> Option<Self> {
        let entity = Self::read_any(role, json, at, problems, names)?;
        let id = Fields::open(json, at, problems)?.optional(role.id(), string);
        Some(Self { id, ..entity })
    }

    /// Reads the entity in `json` at `at` without its id, whatever that is: any is meant. Ignores unknown members.
    pub(super) fn read_any(
        role: Role,
        json: &'j Json<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
        names: &mut NameBudget,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let kind = (role != Role::Action).then(|| fields.optional("type", string)).flatten();
        let properties = fields.optional("properties", |json, at, problems| {
            object_attributes(json, at, problems, names)
        });
        Some(Self { kind, id: Some(""), properties: properties.unwrap_or_default() })
    }

    /// Takes the type and the id of `default` where the entity has none. Properties are never merged.
    pub(super) fn or(mut self, default: &Self) -> Self {
        self.kind = self.kind.or(default.kind);
        self.id = self.id.or(default.id);
        self
    }

    /// Returns the type and the id alone.
    pub(super) fn names_only(&self) -> Self {
        Self { kind: self.kind, id: self.id, properties: Vec::new() }
    }

    /// Returns whether neither the type nor the id is there.
    pub(super) fn is_empty(&self) -> bool {
        self.kind.is_none() && self.id.is_none()
    }

    /// Returns whether every required member is there.
    pub(super) fn is_complete(&self, role: Role) -> bool {
        self.id.is_some() && (role == Role::Action || self.kind.is_some())
    }

    /// Returns the complete entity. Notes the members that are missing at `at`, the place of the entity.
    pub(super) fn complete(
        self,
        role: Role,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Arc<Entity<'j>>> {
        if role != Role::Action && self.kind.is_none() {
            problems.missing(at, "type");
        }
        if self.id.is_none() {
            problems.missing(at, role.id());
        }
        let kind = if role == Role::Action { "" } else { self.kind? };
        let id = self.id?;
        let mut attributes = self.properties;
        let text = |text: &'j str| Json::String(text.into());
        match role {
            // The subject's type is an attribute unless the subject has a property of that name.
            Role::Subject if !attributes.iter().any(|(name, _)| name == "type") => {
                attributes.push(("type".into(), text(kind)));
            }
            // No property stands for the resource itself.
            Role::Resource => {
                attributes.retain(|(name, _)| name != "type" && name != "id");
                attributes.push(("type".into(), text(kind)));
                attributes.push(("id".into(), text(id)));
            }
            Role::Subject | Role::Action => {}
        }
        Some(Arc::new(Entity { kind, id, attributes }))
    }
}

/// Reads an object as attributes.
pub(super) fn object_attributes<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
    names: &mut NameBudget,
) -> Option<Vec<Member<'j>>> {
    let Some(members) = json.as_object() else {
        problems.expected(at, format!("an object, not {}", json.kind()));
        return None;
    };
    let found = attributes(members, names);
    if found.is_none() {
        problems.expected(
            at,
            format!("paths of nested members with at most {MAX_NAMES} bytes together"),
        );
    }
    found
}
