//! Which of several places an attribute is taken from, also behind references (`docs/semantics.md`, sections 12.5, 12.9 and
//! 12.15).

use crate::entities::EntityTable;
use crate::property_sources::{NameEnd, RelatedPart, TypeSources};
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

    /// Returns the value of the attribute `name` that the request sent: `None` if it sent none. The value of `null` is `None`.
    fn sent(&self, name: &str) -> Option<Option<AttributeValue<'r>>>;

    /// Returns whether nothing but the request has the property `name` of the entity itself.
    fn is_only_sent(&self, _name: &str) -> bool {
        false
    }

    /// Returns whether the request sent the attribute `name`, `null` included.
    fn is_sent(&self, name: &str) -> bool {
        self.sent(name).is_some()
    }

    /// Returns the only place that the attribute `name` is taken from; `None` is every place.
    fn declared(&self, name: &str) -> Option<PropertySource> {
        match self.sources().end_of(name) {
            NameEnd::Own(from) => self.source_of_own(name, from),
            NameEnd::Related(related) => related.end.source(),
        }
    }

    /// Returns the only place that the property `name` of the entity itself is taken from, if its type declares `from`.
    fn source_of_own(&self, name: &str, from: Option<PropertySource>) -> Option<PropertySource> {
        if self.is_only_sent(name) { Some(PropertySource::Request) } else { from }
    }

    /// Returns the value of the attribute `name` in the directory.
    fn stored(&self, name: &str) -> Option<AttributeValue<'r>> {
        match self.sources().end_of(name) {
            NameEnd::Own(_) => self.own(name),
            NameEnd::Related(related) => self.behind(&related.references, &related.end),
        }
    }

    /// Returns the value that the directory has of `part`, which is behind these references.
    #[inline]
    fn behind(
        &self,
        references: &[RelatedPart<'_, '_>],
        part: &RelatedPart<'_, '_>,
    ) -> Option<AttributeValue<'r>> {
        let Some(table) = self.directory() else { return self.own(part.name) };
        let (last, before) = references.split_last().filter(|_| part.is_stored())?;
        // The reference may itself come from the request or from a claim.
        let AttributeValue::Text(id) = self.settled_part(before, last).1? else { return None };
        table.get(last.to, id)?.properties().get(part.property)
    }

    /// Returns the value of the attribute `name`, of the place that it is taken from.
    fn value(&self, name: &str) -> Option<AttributeValue<'r>> {
        self.settled(name).1
    }

    /// Returns the place that the attribute `name` is taken from.
    fn place(&self, name: &str) -> PropertySource {
        self.settled(name).0
    }

    /// Returns the place that the attribute `name` is taken from, and its value.
    fn settled(&self, name: &str) -> (PropertySource, Option<AttributeValue<'r>>) {
        match self.sources().end_of(name) {
            NameEnd::Own(from) => self.settled_own(name, from, || self.own(name)),
            NameEnd::Related(related) => self.settled_part(&related.references, &related.end),
        }
    }

    /// Returns the place that the property `name` of the entity itself is taken from, and its value. Its type declares `from`,
    /// and `stored` returns its value in the directory.
    #[inline]
    fn settled_own(
        &self,
        name: &str,
        from: Option<PropertySource>,
        stored: impl FnOnce() -> Option<AttributeValue<'r>>,
    ) -> (PropertySource, Option<AttributeValue<'r>>) {
        self.settled_as(self.source_of_own(name, from), name, stored)
    }

    /// Returns the place that a part of a name is taken from, and its value. It is behind these references.
    fn settled_part(
        &self,
        references: &[RelatedPart<'_, '_>],
        part: &RelatedPart<'_, '_>,
    ) -> (PropertySource, Option<AttributeValue<'r>>) {
        match references {
            [] => self.settled_own(part.name, part.source(), || self.own(part.name)),
            _ => self.settled_as(part.source(), part.name, || self.behind(references, part)),
        }
    }

    /// Returns the place that the attribute `name` is taken from, and its value. `declared` is the only place of it, and `stored`
    /// returns its value in the directory.
    #[inline]
    fn settled_as(
        &self,
        declared: Option<PropertySource>,
        name: &str,
        stored: impl FnOnce() -> Option<AttributeValue<'r>>,
    ) -> (PropertySource, Option<AttributeValue<'r>>) {
        let sent = match declared {
            Some(PropertySource::Directory) => return (PropertySource::Directory, stored()),
            Some(PropertySource::Token) => return (PropertySource::Token, self.claim(name)),
            Some(PropertySource::Request) | None => self.sent(name),
        };
        // A sent `null` is `Some(None)`: if the request goes first, it hides what the directory has.
        let wins = || sent.is_none() || self.precedence() == Precedence::Directory;
        match (declared.is_none() && wins()).then(stored).flatten() {
            Some(value) => (PropertySource::Directory, Some(value)),
            // Whatever goes first, a property that the directory does not have is the one that was sent.
            None => (PropertySource::Request, sent.flatten()),
        }
    }
}
