//! Which of several places an attribute is taken from, also behind references (`docs/semantics.md`, sections 12.5, 12.9 and
//! 12.15).

use crate::entities::EntityTable;
use crate::property_sources::{RelatedName, TypeSources};
use crate::tenant_facts::Precedence;
use crate::types::PropertySource;
use crate::value::AttributeValue;

/// The places that the attributes of one subject or resource are taken from.
pub(crate) trait Layers<'r> {
    /// Returns the declared sources.
    fn sources(&self) -> TypeSources<'r>;

    /// Returns the place that goes first where no source is declared.
    fn precedence(&self) -> Precedence;

    /// Returns the entities that references lead to; `None` if nobody knows them but `own` has what is behind references.
    fn directory(&self) -> Option<&'r EntityTable>;

    /// Returns the property `name` of the entity itself.
    fn own(&self, name: &str) -> Option<AttributeValue<'r>>;

    /// Returns the claim that stands for the property `name`.
    fn claim(&self, name: &str) -> Option<AttributeValue<'r>>;

    /// Returns whether the request sent the attribute `name`, `null` included.
    fn is_sent(&self, name: &str) -> bool;

    /// Returns the value of the attribute `name` that the request sent.
    fn sent(&self, name: &str) -> Option<AttributeValue<'r>>;

    /// Returns the only place that the attribute `name` is taken from; `None` is every place.
    fn declared(&self, name: &str) -> Option<PropertySource> {
        self.sources().get(name)
    }

    /// Returns the place that the attribute `name` is taken from.
    fn place(&self, name: &str) -> PropertySource {
        self.declared(name).unwrap_or_else(|| self.open_place(name, self.stored(name).is_some()))
    }

    /// Returns the place of the attribute `name`, which no declaration says. `is_stored` is whether the directory has it.
    fn open_place(&self, name: &str, is_stored: bool) -> PropertySource {
        let wins = || self.precedence() == Precedence::Directory || !self.is_sent(name);
        if is_stored && wins() { PropertySource::Directory } else { PropertySource::Request }
    }

    /// Returns the value of the attribute `name` in the directory.
    fn stored(&self, name: &str) -> Option<AttributeValue<'r>> {
        match self.sources().related(name) {
            Some(related) => self.behind(&related, name),
            None => self.own(name),
        }
    }

    /// Returns the value that the directory has behind a reference.
    fn behind(&self, related: &RelatedName<'r, '_>, name: &str) -> Option<AttributeValue<'r>> {
        let Some(table) = self.directory() else { return self.own(name) };
        if !related.is_stored() {
            return None;
        }
        let AttributeValue::Text(id) = self.value(related.reference)? else { return None };
        table.get(related.to, id)?.properties().get(related.property)
    }

    /// Returns the value of the attribute `name`, of the place that it is taken from.
    fn value(&self, name: &str) -> Option<AttributeValue<'r>> {
        self.settled(name).1
    }

    /// Returns the place that the attribute `name` is taken from, and its value.
    fn settled(&self, name: &str) -> (PropertySource, Option<AttributeValue<'r>>) {
        match self.sources().related(name) {
            Some(related) => self.settled_behind(&related, name),
            None => self.settled_as(self.declared(name), name, || self.own(name)),
        }
    }

    /// Returns the place that an attribute behind a reference is taken from, and its value.
    fn settled_behind(
        &self,
        related: &RelatedName<'r, '_>,
        name: &str,
    ) -> (PropertySource, Option<AttributeValue<'r>>) {
        self.settled_as(related.source(), name, || self.behind(related, name))
    }

    /// Returns the place that the attribute `name` is taken from, and its value. `declared` is the only place of it, and `stored`
    /// returns its value in the directory.
    fn settled_as(
        &self,
        declared: Option<PropertySource>,
        name: &str,
        stored: impl FnOnce() -> Option<AttributeValue<'r>>,
    ) -> (PropertySource, Option<AttributeValue<'r>>) {
        let (place, stored) = match declared {
            Some(PropertySource::Directory) => (PropertySource::Directory, stored()),
            Some(other) => (other, None),
            None => {
                let stored = stored();
                (self.open_place(name, stored.is_some()), stored)
            }
        };
        let value = match place {
            PropertySource::Directory => stored,
            PropertySource::Token => self.claim(name),
            PropertySource::Request => self.sent(name),
        };
        (place, value)
    }
}
