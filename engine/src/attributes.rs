//! The attributes in a check request.

use std::fmt;

use crate::entities::{EntityProperties, PropertyIter};
use crate::flat_attributes::{FlatAttributes, FlatIter, FlatRange};
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

/// The name of the attribute that lists the roles of a subject.
const ROLES: &str = "roles";

/// Attributes by name. Each name occurs once.
#[derive(Clone, Copy)]
pub struct AttributeMap<'r>(Form<'r>);

#[derive(Clone, Copy)]
enum Form<'r> {
    Plain(PlainAttributes<'r>),
    /// The attributes of a request and of the directory.
    Layers(&'r LayeredAttributes<'r>),
}

/// Attributes from one place.
#[derive(Clone, Copy)]
enum PlainAttributes<'r> {
    /// The members of an object.
    Tree(&'r [Member<'r>]),
    /// A range of the attributes that were read without a tree.
    Flat(&'r FlatAttributes<'r>, FlatRange),
    /// The properties of an entity.
    Entity(EntityProperties<'r>),
}

impl Default for AttributeMap<'_> {
    fn default() -> Self {
        Self::of_members(&[])
    }
}

impl<'r> AttributeMap<'r> {
    /// Wraps the members of an object, in which no name occurs twice. `null` is an absent attribute, and an object a
    /// present one that no operator compares. A list has strings and numbers.
    pub fn of_members(members: &'r [Member<'r>]) -> Self {
        Self(Form::Plain(PlainAttributes::Tree(members)))
    }

    /// Wraps the attributes at `range` of `flat`.
    pub fn of_flat(flat: &'r FlatAttributes<'r>, range: FlatRange) -> Self {
        Self(Form::Plain(PlainAttributes::Flat(flat, range)))
    }

    /// Wraps the properties of an entity.
    pub fn of_entity(properties: EntityProperties<'r>) -> Self {
        Self(Form::Plain(PlainAttributes::Entity(properties)))
    }

    /// Wraps the attributes of a request and of the directory.
    pub(crate) fn of_layers(layers: &'r LayeredAttributes<'r>) -> Self {
        Self(Form::Layers(layers))
    }

    /// Returns whether the directory supplies the attribute `name`.
    pub(crate) fn is_stored(self, name: &str) -> bool {
        match self.0 {
            Form::Layers(layers) => layers.is_stored(name),
            Form::Plain(PlainAttributes::Entity(properties)) => properties.get(name).is_some(),
            Form::Plain(_) => false,
        }
    }

    /// Returns whether the map names the attribute `name`, `null` included.
    pub(crate) fn has(self, name: &str) -> bool {
        match self.0 {
            Form::Plain(plain) => plain.has(name),
            Form::Layers(layers) => layers.sent.has(name) || layers.is_stored(name),
        }
    }

    /// Returns the value of the attribute `name`.
    pub fn get(self, name: &str) -> Option<AttributeValue<'r>> {
        self.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Returns each name and value.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        match self.0 {
            Form::Plain(plain) => Iter { layers: None, plain: plain.iter() },
            Form::Layers(layers) => {
                let stored = PlainAttributes::Entity(layers.stored);
                Iter { layers: Some((layers, Layer::Stored)), plain: stored.iter() }
            }
        }
    }

    /// Passes each name and value to `visitor`, as fast as possible.
    #[inline]
    pub(crate) fn visit(self, visitor: &mut impl AttributeVisitor<'r>) {
        match self.0 {
            Form::Plain(PlainAttributes::Tree(members)) => {
                for (name, value) in members {
                    if *value != Json::Null {
                        visitor.visit(name, value.into());
                    }
                }
            }
            Form::Plain(PlainAttributes::Flat(flat, range)) => {
                flat.iter(range).for_each(|(name, value)| visitor.visit(name, value));
            }
            Form::Plain(PlainAttributes::Entity(_)) | Form::Layers(_) => {
                self.iter().for_each(|(name, value)| visitor.visit(name, value));
            }
        }
    }

    /// Returns the items of the list `roles`; a scalar is a list of one. `None` for an entity, which has roles of its own.
    #[inline]
    pub fn roles(self) -> Option<&'r [Json<'r>]> {
        match self.0 {
            Form::Plain(plain) => plain.roles(),
            Form::Layers(layers) => layers.sent.roles(),
        }
    }
}

/// Takes the attributes of a map. A method can be copied into each loop, a closure that is called in several places is not.
pub(crate) trait AttributeVisitor<'r> {
    /// Takes one name and value.
    fn visit(&mut self, name: &'r str, value: AttributeValue<'r>);
}

impl<'r> PlainAttributes<'r> {
    fn has(self, name: &str) -> bool {
        match self {
            Self::Tree(members) => members.iter().any(|(own, _)| own == name),
            Self::Flat(flat, range) => flat.has(range, name),
            Self::Entity(properties) => properties.get(name).is_some(),
        }
    }

    #[inline]
    fn roles(self) -> Option<&'r [Json<'r>]> {
        match self {
            Self::Tree(members) => {
                let (_, value) = members.iter().find(|(name, _)| &**name == ROLES)?;
                Some(value.as_array().unwrap_or(std::slice::from_ref(value)))
            }
            Self::Flat(flat, range) => flat.as_list(range, ROLES),
            Self::Entity(_) => None,
        }
    }

    #[inline]
    fn iter(self) -> PlainIter<'r> {
        match self {
            Self::Tree(members) => PlainIter::Tree(members.iter()),
            Self::Flat(flat, range) => PlainIter::Flat(flat.iter(range)),
            Self::Entity(properties) => PlainIter::Entity(properties.iter()),
        }
    }
}

/// The names and values of a map. An enum, so that a loop over them exists once.
enum PlainIter<'r> {
    Tree(std::slice::Iter<'r, Member<'r>>),
    Flat(FlatIter<'r>),
    Entity(PropertyIter<'r>),
}

impl<'r> Iterator for PlainIter<'r> {
    type Item = (&'r str, AttributeValue<'r>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Tree(members) => {
                let (name, value) = members.find(|(_, value)| *value != Json::Null)?;
                Some((name, value.into()))
            }
            Self::Flat(attributes) => attributes.next(),
            Self::Entity(properties) => properties.next(),
        }
    }
}

/// The names and values of a map: of layers, those that are stored come first.
struct Iter<'r> {
    layers: Option<(&'r LayeredAttributes<'r>, Layer)>,
    plain: PlainIter<'r>,
}

/// The layer that is visited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Stored,
    Sent,
}

impl<'r> Iterator for Iter<'r> {
    type Item = (&'r str, AttributeValue<'r>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.layers {
            None => self.plain.next(),
            Some((layers, layer)) => self.next_of(layers, layer),
        }
    }
}

impl<'r> Iter<'r> {
    /// Returns the next attribute that its layer supplies.
    fn next_of(
        &mut self,
        layers: &'r LayeredAttributes<'r>,
        layer: Layer,
    ) -> Option<(&'r str, AttributeValue<'r>)> {
        let is_stored = layer == Layer::Stored;
        let found = self.plain.find(|(name, _)| layers.is_stored(name) == is_stored);
        if found.is_some() || !is_stored {
            return found;
        }
        *self = Self { layers: Some((layers, Layer::Sent)), plain: layers.sent.iter() };
        self.next_of(layers, Layer::Sent)
    }
}

/// The attributes of one kind, from a request and from the directory.
#[derive(Clone, Copy)]
pub(crate) struct LayeredAttributes<'r> {
    sent: PlainAttributes<'r>,
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
        let sent = match sent.0 {
            Form::Plain(plain) => plain,
            Form::Layers(layers) => layers.sent,
        };
        Self { sent, stored, precedence, only_sent }
    }

    /// Returns whether the directory supplies the attribute `name`.
    fn is_stored(&self, name: &str) -> bool {
        !self.only_sent.contains(&name)
            && self.stored.get(name).is_some()
            && (self.precedence == Precedence::Directory || !self.sent.has(name))
    }
}

impl fmt::Debug for LayeredAttributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AttributeMap::of_layers(self).fmt(f)
    }
}

impl fmt::Debug for AttributeMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
