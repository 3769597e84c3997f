//! Entities as audit records have them: with the names of their attributes, or with the values too.

use portcullis_model::audit::AuditAction;
use portcullis_model::entity::NewEntity;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::content::Content;
use super::found::StoredEntity;
use crate::transactions::audit_entry::AuditEntry;

/// The entities of a call that its audit record has.
#[derive(Debug, Default)]
pub(super) struct AuditedEntities {
    /// Whether the values of attributes are shown.
    with_values: bool,
    entries: Vec<AuditEntry>,
    /// The entities that changed.
    count: usize,
}

/// The most entities of a call that its audit record names.
const MAX_NAMED: usize = 100;

impl AuditedEntities {
    pub(super) fn new(with_values: bool) -> Self {
        Self { with_values, entries: Vec::new(), count: 0 }
    }

    /// Notes that an entity was written in place of `old`.
    pub(super) fn write(&mut self, old: Option<&StoredEntity>, new: &NewEntity, content: &Content) {
        self.count += 1;
        if self.entries.len() < MAX_NAMED {
            let texts = [&content.roles, &content.domain_roles, &content.properties];
            let after = self.shown(&new.kind, &new.id, texts);
            let before = old.map(|old| self.stored(old));
            let name = format!("{}:{}", new.kind, new.id);
            let entry = AuditEntry::new(AuditAction::EntitiesWritten, name);
            self.entries.push(entry.with_change(before, Some(after)));
        }
    }

    /// Notes that an entity was deleted.
    pub(super) fn delete(&mut self, old: &StoredEntity) {
        self.count += 1;
        if self.entries.len() < MAX_NAMED {
            let name = format!("{}:{}", old.kind, old.id);
            let entry = AuditEntry::new(AuditAction::EntitiesDeleted, name);
            self.entries.push(entry.with_change(Some(self.stored(old)), None));
        }
    }

    pub(super) fn entries(&self) -> &[AuditEntry] {
        &self.entries
    }

    /// Returns the number of entities that changed.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn stored(&self, old: &StoredEntity) -> String {
        self.shown(&old.kind, &old.id, [&old.roles, &old.domain_roles, &old.properties])
    }

    fn shown(&self, kind: &str, id: &str, texts: [&String; 3]) -> String {
        let [roles, domain_roles, properties] =
            texts.map(|text| serde_json::from_str::<&RawValue>(text).ok());
        let properties = match self.with_values {
            true => json!(properties),
            false => {
                let members: Option<Value> =
                    properties.and_then(|text| serde_json::from_str(text.get()).ok());
                let names = members.as_ref().and_then(Value::as_object);
                names.into_iter().flat_map(serde_json::Map::keys).cloned().collect()
            }
        };
        json!({"type": kind, "id": id, "roles": roles, "domain_roles": domain_roles,
            "properties": properties})
        .to_string()
    }
}
