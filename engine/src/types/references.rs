//! Names that follow references to other entities, such as `ticket.team` of a comment (`docs/semantics.md`, section 12.15).

use super::{ACTION, CONTEXT, DeclaredProperties, Property, PropertySource, Types, USER};
use crate::excerpt::quoted;
use crate::nearest::hint;

/// Most references that a name follows.
pub const MAX_REFERENCES: usize = 2;

/// The attributes of a resource that find its entity. Only requests have them.
pub(crate) const KEYS: [&str; 2] = ["id", "type"];

/// A property whose values are ids of a type that nobody declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferenceFault<'t> {
    /// The type that has the property.
    pub of: &'t str,
    /// The property.
    pub name: &'t str,
    /// The type that it refers to.
    pub to: &'t str,
}

/// The end of a name that begins at the properties of a type.
pub(super) enum Reached<'t> {
    /// A declared property.
    Property(&'t Property),
    /// A name of a type that declares no properties, so that it may be any.
    Open,
    /// Nowhere: neither a property nor behind a reference.
    Undeclared,
    /// Behind a reference, to what is not there; completes "expected …".
    Missing(String),
}

impl Types {
    /// Returns the references to types that nobody declares, in the order of names.
    pub fn unknown_references(&self) -> impl Iterator<Item = ReferenceFault<'_>> {
        self.properties.iter().flat_map(move |(of, properties)| {
            properties.iter().filter_map(move |(name, property)| {
                let to = property.to.as_deref().filter(|to| !self.has_entities(to))?;
                Some(ReferenceFault { of, name, to })
            })
        })
    }

    /// Returns whether a type is known whose entities a property can refer to.
    fn has_entities(&self, name: &str) -> bool {
        match name {
            USER => true,
            CONTEXT | ACTION => false,
            other => self.properties.contains_key(other),
        }
    }

    /// Returns where `name` leads from `properties`, which are those of one type.
    pub(super) fn reach<'t>(
        &'t self,
        properties: &'t DeclaredProperties,
        name: &str,
    ) -> Reached<'t> {
        let (mut properties, mut rest, mut behind) = (properties, name, Behind::default());
        loop {
            // A declared name goes before a reference that it begins with.
            if let Some(property) = properties.get(rest) {
                return match property.from {
                    Some(PropertySource::Token) if behind.references > 0 => behind.of_token(rest),
                    _ => Reached::Property(property),
                };
            }
            let Some((reference, property, next)) = split(properties, rest) else {
                return behind.missing(properties, rest);
            };
            if behind.references == MAX_REFERENCES {
                return behind.too_far();
            }
            // Behind a reference a token has nothing: its claims are about the caller (section 12.15).
            if behind.references > 0 && property.from == Some(PropertySource::Token) {
                return behind.of_token(reference);
            }
            behind.references += 1;
            // `split` finds references alone.
            let Some(to) = property.to.as_deref() else { return Reached::Undeclared };
            behind.to = to;
            if KEYS.contains(&next) {
                // Without the key, and the dot before it.
                return behind.key(&name[..name.len() - next.len() - 1], next);
            }
            match self.properties.get(to).filter(|declared| !declared.is_empty()) {
                Some(declared) => (properties, rest) = (declared, next),
                None => return Reached::Open,
            }
        }
    }
}

/// Returns the reference that `name` begins with, its declaration, and the name behind it.
fn split<'p, 'n>(
    properties: &'p DeclaredProperties,
    name: &'n str,
) -> Option<(&'n str, &'p Property, &'n str)> {
    name.match_indices('.').find_map(|(dot, _)| {
        let property = properties.get(&name[..dot]).filter(|property| property.to.is_some())?;
        Some((&name[..dot], property, &name[dot + 1..]))
    })
}

/// The part of a name that was followed.
#[derive(Default)]
struct Behind<'t> {
    references: usize,
    /// The type that the last reference is to.
    to: &'t str,
}

impl Behind<'_> {
    fn missing<'t>(&self, properties: &DeclaredProperties, rest: &str) -> Reached<'t> {
        if self.references == 0 {
            return Reached::Undeclared;
        }
        let between = rest.match_indices('.').map(|(dot, _)| &rest[..dot]);
        let mut between = between.filter(|name| properties.contains_key(*name));
        Reached::Missing(match between.next() {
            Some(name) => format!(
                "a reference before the last name: {} of `{}` is not one",
                quoted(name),
                self.to
            ),
            None => {
                let known = properties.keys().map(|known| &**known);
                let hint = hint(rest, known, str::to_owned);
                format!("a declared property of `{}`{hint}", self.to)
            }
        })
    }

    fn too_far<'t>(&self) -> Reached<'t> {
        Reached::Missing(format!("at most {MAX_REFERENCES} references before the last name"))
    }

    fn key<'t>(&self, reference: &str, key: &str) -> Reached<'t> {
        Reached::Missing(match key {
            "id" => format!("{} itself, which is the id", quoted(reference)),
            _ => format!("a property: the type of {} is always `{}`", quoted(reference), self.to),
        })
    }

    fn of_token<'t>(&self, name: &str) -> Reached<'t> {
        Reached::Missing(format!(
            "a property that the directory can have: {} of `{}` is a claim of the caller's token",
            quoted(name),
            self.to
        ))
    }
}
