//! The attributes in a check request.

use std::fmt;

use crate::entities::EntityProperties;
use crate::flat_attributes::{FlatAttributes, FlatRange};
use crate::json::{Json, Member};
use crate::tenant_facts::Precedence;
use crate::value::AttributeValue;

/// The attributes of a request: strings, numbers, booleans, and lists of strings or numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes<'r> {
    /// `user.*`
    pub user: AttributeMap<'r>,
    /// `resource.*`
    pub resource: AttributeMap<'r>,
    /// `action.*`
    pub action: AttributeMap<'r>,
    /// `context.*`
    pub context: AttributeMap<'r>,
}

/// Attributes by name. Each name occurs once.
#[derive(Clone, Copy)]
pub struct AttributeMap<'r>(Form<'r>);

#[derive(Clone, Copy)]
enum Form<'r> {
    /// The members of an object.
    Tree(&'r [Member<'r>]),
    /// A range of the attributes that were read without a tree.
    Flat(&'r FlatAttributes<'r>, FlatRange),
    /// The properties of an entity.
    Entity(EntityProperties<'r>),
    /// The attributes of a request and of the directory.
    Layers(&'r LayeredAttributes<'r>),
}

impl Default for AttributeMap<'_> {
    fn default() -> Self {
        Self(Form::Tree(&[]))
    }
}

impl<'r> AttributeMap<'r> {
    /// Wraps the members of an object, in which no name occurs twice. `null` is an absent attribute, and an object a
    /// present one that no operator compares. A list has strings and numbers.
    pub fn of_members(members: &'r [Member<'r>]) -> Self {
        Self(Form::Tree(members))
    }

    /// Wraps the attributes at `range` of `flat`.
    pub fn of_flat(flat: &'r FlatAttributes<'r>, range: FlatRange) -> Self {
        Self(Form::Flat(flat, range))
    }

    /// Wraps the properties of an entity.
    pub fn of_entity(properties: EntityProperties<'r>) -> Self {
        Self(Form::Entity(properties))
    }

    /// Wraps the attributes of a request and of the directory.
    pub(crate) fn of_layers(layers: &'r LayeredAttributes<'r>) -> Self {
        Self(Form::Layers(layers))
    }

    /// Returns whether the directory supplies the attribute `name`.
    pub(crate) fn is_stored(self, name: &str) -> bool {
        match self.0 {
            Form::Layers(layers) => layers.is_stored(name),
            Form::Entity(properties) => properties.get(name).is_some(),
            Form::Tree(_) | Form::Flat(..) => false,
        }
    }

    /// Returns whether the map names the attribute `name`, `null` included.
    pub(crate) fn has(self, name: &str) -> bool {
        match self.0 {
            Form::Tree(members) => members.iter().any(|(own, _)| own == name),
            Form::Flat(flat, range) => flat.has(range, name),
            Form::Entity(properties) => properties.get(name).is_some(),
            Form::Layers(layers) => layers.sent().has(name) || layers.is_stored(name),
        }
    }

    /// Returns the value of the attribute `name`.
    pub(crate) fn get(self, name: &str) -> Option<AttributeValue<'r>> {
        let mut found = None;
        self.for_each(|own, value| {
            if own == name {
                found = Some(value);
            }
        });
        found
    }

    /// Visits each name and value.
    #[inline]
    pub fn for_each(self, mut visit: impl FnMut(&'r str, AttributeValue<'r>)) {
        match self.0 {
            Form::Tree(members) => {
                for (name, value) in members {
                    if *value != Json::Null {
                        visit(name, AttributeValue::from(value));
                    }
                }
            }
            Form::Flat(flat, range) => {
                for (name, value) in flat.iter(range) {
                    visit(name, value);
                }
            }
            Form::Entity(properties) => {
                for (name, value) in properties.iter() {
                    visit(name, value);
                }
            }
            Form::Layers(layers) => layers.visit(&mut visit),
        }
    }

    /// Returns the items of the list `name`; a scalar is a list of one. `None` for an entity, which has roles of its own.
    pub fn as_list(self, name: &str) -> Option<&'r [Json<'r>]> {
        match self.0 {
            Form::Tree(members) => {
                let (_, value) = members.iter().find(|(own, _)| own == name)?;
                Some(value.as_array().unwrap_or(std::slice::from_ref(value)))
            }
            Form::Flat(flat, range) => flat.as_list(range, name),
            Form::Entity(_) => None,
            Form::Layers(layers) => layers.sent().as_list(name),
        }
    }
}

/// The attributes of one kind, from a request and from the directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayeredAttributes<'r> {
    sent: AttributeMap<'r>,
    stored: EntityProperties<'r>,
    precedence: Precedence,
    /// The names that only the request has.
    only_sent: &'static [&'static str],
}

impl<'r> LayeredAttributes<'r> {
    /// Puts together what a request has and what the directory has. The request alone has `only_sent`.
    pub(crate) fn new(
        sent: AttributeMap<'r>,
        stored: EntityProperties<'r>,
        precedence: Precedence,
        only_sent: &'static [&'static str],
    ) -> Self {
        Self { sent, stored, precedence, only_sent }
    }

    /// Visits each name once, with the value that goes before.
    pub(crate) fn visit(&self, visit: &mut dyn FnMut(&'r str, AttributeValue<'r>)) {
        for (name, value) in self.stored.iter() {
            if self.is_stored(name) {
                visit(name, value);
            }
        }
        self.sent.for_each(|name, value| {
            if !self.is_stored(name) {
                visit(name, value);
            }
        });
    }

    /// Returns whether the directory supplies the attribute `name`.
    pub(crate) fn is_stored(&self, name: &str) -> bool {
        !self.only_sent.contains(&name)
            && self.stored.get(name).is_some()
            && (self.precedence == Precedence::Directory || !self.sent.has(name))
    }

    /// Returns what the request has.
    pub(crate) fn sent(&self) -> AttributeMap<'r> {
        self.sent
    }
}

impl fmt::Debug for AttributeMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        self.for_each(|name, value| {
            map.entry(&name, &value);
        });
        map.finish()
    }
}
