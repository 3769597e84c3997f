//! The attributes in a check request.

use std::fmt;

use crate::condition::AttributePath;
use crate::entities::{EntityProperties, EntityTable};
use crate::flat_attributes::{FlatAttributes, FlatRange};
use crate::json::{Json, Member};
use crate::layers::Layers;
use crate::property_sources::{NameEnd, TypeSources};
use crate::tenant_facts::Precedence;
use crate::types::PropertySource;
use crate::value::AttributeValue;

/// The attributes of a request: strings, numbers, booleans, lists of strings or numbers, and `null`.
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

impl<'r> Attributes<'r> {
    /// Returns the map and the name of an attribute that a request can send.
    pub(crate) fn attribute<'p>(
        &self,
        path: &'p AttributePath,
    ) -> Option<(AttributeMap<'r>, &'p str)> {
        match path {
            AttributePath::Action(name) => Some((self.action, name)),
            AttributePath::Context(name) => Some((self.context, name)),
            path => self.entity_attribute(path),
        }
    }

    /// Returns the map and the name of an attribute of a subject or a resource, which the directory may have.
    pub(crate) fn entity_attribute<'p>(
        &self,
        path: &'p AttributePath,
    ) -> Option<(AttributeMap<'r>, &'p str)> {
        match path {
            AttributePath::User(name) => Some((self.user, name)),
            AttributePath::Resource(name) => Some((self.resource, name)),
            _ => None,
        }
    }
}

/// The name of the attribute that lists the roles of a subject.
pub(crate) const ROLES: &str = "roles";

/// Attributes by name. Each name occurs once.
#[derive(Clone, Copy)]
pub struct AttributeMap<'r>(Form<'r>);

#[derive(Clone, Copy)]
enum Form<'r> {
    Plain(PlainAttributes<'r>),
    /// The attributes of a request and of the directory.
    Layers(&'r LayeredAttributes<'r>),
}

/// The place of sent attributes in memory: an address, and their number or their range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SentPlace {
    Tree(usize, usize),
    Flat(usize, FlatRange),
}

/// Attributes from one place.
#[derive(Clone, Copy)]
pub(crate) enum PlainAttributes<'r> {
    /// The members of an object.
    Tree(&'r [Member<'r>]),
    /// A range of the attributes that were read without a tree.
    Flat(&'r FlatAttributes<'r>, FlatRange),
    /// The properties of an entity.
    Entity(EntityProperties<'r>),
}

impl Default for AttributeMap<'_> {
    fn default() -> Self {
        Self::from_members(&[])
    }
}

impl<'r> AttributeMap<'r> {
    /// Wraps the members of an object, in which no name occurs twice. `null` is an absent attribute, and an object a
    /// present one that no operator compares. A list has strings and numbers.
    pub fn from_members(members: &'r [Member<'r>]) -> Self {
        Self(Form::Plain(PlainAttributes::Tree(members)))
    }

    /// Wraps the attributes at `range` of `flat`.
    pub fn from_flat(flat: &'r FlatAttributes<'r>, range: FlatRange) -> Self {
        Self(Form::Plain(PlainAttributes::Flat(flat, range)))
    }

    /// Wraps the properties of an entity.
    pub fn from_entity(properties: EntityProperties<'r>) -> Self {
        Self(Form::Plain(PlainAttributes::Entity(properties)))
    }

    /// Wraps the attributes of a request and of the directory.
    pub(crate) fn from_layers(layers: &'r LayeredAttributes<'r>) -> Self {
        Self(Form::Layers(layers))
    }

    /// Returns the attributes as they were sent.
    pub(crate) fn sent(self) -> PlainAttributes<'r> {
        match self.0 {
            Form::Plain(plain) => plain,
            Form::Layers(layers) => layers.sent,
        }
    }

    /// Returns where the attributes that were sent are in memory: maps with the same place have the same attributes, as long as
    /// the request is there. `None` for attributes of the directory.
    pub fn sent_place(self) -> Option<SentPlace> {
        match self.sent() {
            PlainAttributes::Tree(members) => {
                Some(SentPlace::Tree(members.as_ptr().addr(), members.len()))
            }
            PlainAttributes::Flat(flat, range) => {
                Some(SentPlace::Flat(std::ptr::from_ref(flat).addr(), range))
            }
            PlainAttributes::Entity(_) => None,
        }
    }

    /// Returns the map of the attributes as they were sent.
    pub(crate) fn only_sent(self) -> Self {
        Self(Form::Plain(self.sent()))
    }

    /// Returns the layers with `members` in place of what the request sent; `None` if the request has all attributes.
    pub(crate) fn layers_over<'n>(self, members: &'n [Member<'n>]) -> Option<LayeredAttributes<'n>>
    where
        'r: 'n,
    {
        let Form::Layers(layers) = self.0 else { return None };
        Some(LayeredAttributes { sent: PlainAttributes::Tree(members), ..*layers })
    }

    /// Returns whether the attribute `name` has the value that the request sends, if it sends one.
    pub(crate) fn is_up_to_request(self, name: &str) -> bool {
        match self.0 {
            Form::Plain(PlainAttributes::Entity(_)) => false,
            Form::Plain(_) => true,
            Form::Layers(layers) => match layers.declared(name) {
                Some(source) => source == PropertySource::Request,
                // What the directory does not have is taken from the request, whatever goes first.
                None => layers.precedence == Precedence::Request || layers.stored(name).is_none(),
            },
        }
    }

    /// Returns the place that the attribute `name` is taken from.
    pub(crate) fn place(self, name: &str) -> PropertySource {
        match self.0 {
            Form::Layers(layers) => layers.place(name),
            Form::Plain(PlainAttributes::Entity(_)) => PropertySource::Directory,
            Form::Plain(_) => PropertySource::Request,
        }
    }

    /// Returns the place, other than the request, that alone says which value the attribute `name` has, or that it has none.
    pub(crate) fn settled_by(self, name: &str) -> Option<PropertySource> {
        let Form::Layers(layers) = self.0 else { return None };
        layers.settled_by(name)
    }

    /// Returns whether only the directory has the attribute `name`.
    pub(crate) fn is_of_directory(self, name: &str) -> bool {
        let Form::Layers(layers) = self.0 else { return false };
        layers.declared(name) == Some(PropertySource::Directory)
    }

    /// Returns whether the request sent the attribute `name`, or a reference that leads to it, and what it sent is taken from
    /// another place alone.
    pub(crate) fn is_overridden(self, name: &str) -> bool {
        let Form::Layers(layers) = self.0 else { return false };
        let related = layers.sources.related(name);
        let way = related.iter().flat_map(|related| related.references.iter().map(|one| one.name));
        way.chain([name]).any(|name| layers.is_overridden(name) && layers.sent.has(name))
    }

    /// Returns whether the map names the attribute `name`, `null` included.
    pub(crate) fn has(self, name: &str) -> bool {
        match self.0 {
            Form::Plain(plain) => plain.has(name),
            Form::Layers(layers) => {
                layers.sent.has(name)
                    || matches!(layers.settled(name), (PropertySource::Directory, Some(_)))
            }
        }
    }

    /// Returns the value of the attribute `name`: `None` if nothing has the name. The value of `null` is `None`.
    pub(crate) fn find(self, name: &str) -> Option<Option<AttributeValue<'r>>> {
        match self.0 {
            Form::Plain(plain) => plain.find(name),
            Form::Layers(_) => self.has(name).then(|| self.get(name)),
        }
    }

    /// Returns whether the request has a say about the attribute `name`, and sent it: without a value it sent `null`.
    pub(crate) fn is_as_sent(self, name: &str) -> bool {
        self.place(name) == PropertySource::Request && self.sent().has(name)
    }

    /// Returns each name that was sent with its value. `None` is `null`: the attribute is absent, and nothing but a
    /// declared source or the precedence of the directory supplies it.
    pub fn named(self) -> impl Iterator<Item = (&'r str, Option<AttributeValue<'r>>)> {
        self.sent().named()
    }

    /// Returns the value of the attribute `name`.
    pub fn get(self, name: &str) -> Option<AttributeValue<'r>> {
        match self.0 {
            Form::Plain(plain) => plain.get(name),
            Form::Layers(layers) => layers.value(name),
        }
    }

    /// Returns each name and value.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        // Two options give both forms one type of iterator.
        let (plain, layers) = match self.0 {
            Form::Plain(plain) => (Some(plain.iter()), None),
            Form::Layers(layers) => (None, Some(layers.iter())),
        };
        plain.into_iter().flatten().chain(layers.into_iter().flatten())
    }

    /// Returns each name and value that the directory supplies.
    pub fn from_directory(self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        self.supplied_by(PropertySource::Directory)
    }

    /// Returns each name and value that the caller's token supplies as a property of the subject.
    pub fn from_token(self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        self.supplied_by(PropertySource::Token)
    }

    fn supplied_by(
        self,
        source: PropertySource,
    ) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        let layers = matches!(self.0, Form::Layers(_));
        let all = layers.then(|| self.iter()).into_iter().flatten();
        all.filter(move |(name, _)| self.place(name) == source)
    }

    /// Returns the references that lead to the attribute `name` in the directory, the first one first; none if the request
    /// sent the attribute itself, or if it is not behind a reference.
    pub(crate) fn way_to(self, name: &str) -> Vec<FollowedReference<'r>> {
        let Form::Layers(layers) = self.0 else { return Vec::new() };
        let is_of_request =
            || layers.place(name) == PropertySource::Request && layers.is_sent(name);
        if is_of_request() { Vec::new() } else { layers.way_to(name) }
    }

    /// Returns whether the plan follows the attribute `name` to another entity.
    pub fn is_followed(self, name: &str) -> bool {
        let Form::Layers(layers) = self.0 else { return false };
        layers.related_names().any(|related| {
            let rest = related.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with('.'))
                && layers.way_to(related).iter().any(|one| one.reference == name)
        })
    }

    /// Returns each reference with its value that the directory supplies and the plan follows. One can occur several times.
    pub fn followed_in_directory(self) -> impl Iterator<Item = (String, &'r str)> {
        let layers = match self.0 {
            Form::Layers(layers) => Some(layers),
            Form::Plain(_) => None,
        };
        let names = layers.into_iter().flat_map(|layers| layers.related_names());
        let followed = names.flat_map(move |name| self.way_to(name));
        let of_directory = followed.filter(|one| one.place == PropertySource::Directory);
        of_directory.map(|one| (one.reference, one.id))
    }

    /// Passes each name that is wanted to `visitor` with its value, as fast as possible. It may get others, too.
    #[inline]
    pub(crate) fn visit(
        self,
        wants: impl Fn(&str) -> bool + Copy,
        visitor: &mut impl AttributeVisitor<'r>,
    ) {
        match self.0 {
            Form::Plain(PlainAttributes::Tree(members)) => {
                for (name, value) in members {
                    if *value != Json::Null {
                        visitor.visit(name, value.into());
                    }
                }
            }
            Form::Plain(PlainAttributes::Flat(flat, range)) => {
                for (name, value) in flat.named(range) {
                    if let Some(value) = value {
                        visitor.visit(name, value);
                    }
                }
            }
            Form::Plain(PlainAttributes::Entity(properties)) => {
                properties.iter().for_each(|(name, value)| visitor.visit(name, value));
            }
            Form::Layers(layers) => {
                layers.wanted(wants).for_each(|(name, value)| visitor.visit(name, value));
            }
        }
    }

    /// Returns the items of the list `roles`; a scalar is a list of one. `None` for an entity, which has its own roles.
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
        self.find(name).is_some()
    }

    fn get(self, name: &str) -> Option<AttributeValue<'r>> {
        self.find(name).flatten()
    }

    /// Returns the value of the attribute `name`: `None` if nothing has the name. The value of `null` is `None`.
    #[inline]
    fn find(self, name: &str) -> Option<Option<AttributeValue<'r>>> {
        match self {
            Self::Tree(members) => {
                let (_, value) = members.iter().find(|(own, _)| own == name)?;
                Some((*value != Json::Null).then(|| value.into()))
            }
            Self::Flat(flat, range) => flat.find(range, name),
            Self::Entity(properties) => properties.get(name).map(Some),
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
    fn named(self) -> impl Iterator<Item = (&'r str, Option<AttributeValue<'r>>)> {
        let (tree, flat, entity) = match self {
            Self::Tree(members) => (Some(members), None, None),
            Self::Flat(flat, range) => (None, Some(flat.named(range)), None),
            Self::Entity(properties) => (None, None, Some(properties.iter())),
        };
        let tree = tree.into_iter().flatten().map(|(name, value)| {
            let value = (*value != Json::Null).then(|| value.into());
            (&**name, value)
        });
        let entity = entity.into_iter().flatten().map(|(name, value)| (name, Some(value)));
        tree.chain(flat.into_iter().flatten()).chain(entity)
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        self.named().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// The attributes of one kind, from a request, from the directory and from the caller's token.
#[derive(Clone, Copy)]
pub(crate) struct LayeredAttributes<'r> {
    /// The attributes of the request.
    pub(crate) sent: PlainAttributes<'r>,
    /// The properties in the directory; `None` if it does not know the entity.
    pub(crate) stored: Option<EntityProperties<'r>>,
    /// The entities behind references to other entities; `None` if no entities are known.
    pub(crate) related: Option<RelatedEntities<'r>>,
    /// The claims of the caller, if it is the subject.
    pub(crate) claims: Option<&'r Json<'r>>,
    /// The place that goes first where no source is declared.
    pub(crate) precedence: Precedence,
    /// The declared sources.
    pub(crate) sources: TypeSources<'r>,
    /// The names that only the request has.
    pub(crate) only_sent: &'static [&'static str],
    /// Whether the request names the entity, be it known or not.
    pub(crate) is_named: bool,
}

/// The entities that references lead to, and the names that may lead there.
#[derive(Clone, Copy)]
pub(crate) struct RelatedEntities<'r> {
    pub(crate) table: &'r EntityTable,
    /// The names with a dot that each layer of a plan reads.
    pub(crate) names: [&'r [Box<str>]; 2],
}

impl<'r> Layers<'r> for LayeredAttributes<'r> {
    fn sources(&self) -> TypeSources<'r> {
        self.sources
    }

    fn precedence(&self) -> Precedence {
        self.precedence
    }

    fn directory(&self) -> Option<&'r EntityTable> {
        self.related.map(|related| related.table)
    }

    fn own(&self, name: &str) -> Option<AttributeValue<'r>> {
        self.stored?.get(name)
    }

    fn claim(&self, name: &str) -> Option<AttributeValue<'r>> {
        self.claims?.claim(name).map(AttributeValue::from)
    }

    fn sent(&self, name: &str) -> Option<Option<AttributeValue<'r>>> {
        self.sent.find(name)
    }

    fn is_only_sent(&self, name: &str) -> bool {
        self.only_sent.contains(&name)
    }
}

impl<'r> LayeredAttributes<'r> {
    /// Returns each name and value, of the place that it is taken from: first the directory, then the token.
    fn iter(&'r self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        self.wanted(|_| true)
    }

    /// Returns the names that are wanted and their values, as [`LayeredAttributes::iter`] does.
    fn wanted(
        &'r self,
        wants: impl Fn(&str) -> bool + Copy,
    ) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        let is_wanted = move |(name, _): &(&str, _)| wants(name);
        let of = |source| move |(name, _): &(&str, _)| self.place(name) == source;
        let stored = self.stored.into_iter().flat_map(EntityProperties::iter).filter(is_wanted);
        let claims = self.claims.into_iter().flat_map(|all| self.sources.claims(all));
        stored
            .filter(|(name, value)| self.is_supplied(name, *value))
            .chain(self.behind_references())
            .chain(claims.filter(is_wanted).filter(of(PropertySource::Token)))
            .chain(self.sent.iter().filter(is_wanted).filter(of(PropertySource::Request)))
    }

    /// Returns whether the directory supplies the property `name` of the entity itself, which has this value.
    fn is_supplied(&self, name: &str, value: AttributeValue<'r>) -> bool {
        let place = match self.sources.end_of(name) {
            NameEnd::Own(from) => self.settled_own(name, from, || Some(value)).0,
            // What is behind a reference is not a property of this entity.
            NameEnd::Related(_) if self.related.is_some() => return false,
            NameEnd::Related(_) => self.place(name),
        };
        place == PropertySource::Directory
    }

    /// Returns each name that the plan reads behind a reference, with its value, that the directory supplies.
    fn behind_references(&'r self) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)> {
        self.dotted_names().filter_map(|name| {
            let related = self.sources.related(name)?;
            match self.settled_part(&related.references, &related.end) {
                (PropertySource::Directory, value) => Some((name, value?)),
                _ => None,
            }
        })
    }

    /// Returns the names that the plan reads behind references.
    fn related_names(&'r self) -> impl Iterator<Item = &'r str> {
        self.dotted_names().filter(|name| self.sources.related(name).is_some())
    }

    /// Returns the names with a dot that the plan reads.
    fn dotted_names(&self) -> impl Iterator<Item = &'r str> + use<'r> {
        let names = self.related.into_iter().flat_map(|related| related.names).flatten();
        names.map(|name| &**name)
    }

    /// Returns whether the plan reads what is behind a reference.
    pub(crate) fn follows_references(&self) -> bool {
        self.related_names().next().is_some()
    }

    /// Returns the references that lead to the attribute `name`, the first one first, as far as they have values: from the last
    /// one on that the request sent.
    fn way_to(&self, name: &str) -> Vec<FollowedReference<'r>> {
        let Some(related) = self.sources.related(name) else { return Vec::new() };
        let mut way = Vec::new();
        for (before, part) in (0..).zip(&related.references) {
            let (place, value) = self.settled_part(&related.references[..before], part);
            // What the request sent does not depend on the references before it.
            if place == PropertySource::Request && self.is_sent(part.name) {
                way.clear();
            }
            if let Some(AttributeValue::Text(id)) = value {
                let (reference, to) = (part.name.to_owned(), part.to);
                way.push(FollowedReference { reference, id, to, place });
            }
        }
        way
    }

    /// Returns whether the request or a declaration says what the directory has of the attribute `name`, or that it has nothing.
    fn is_settled(&self, name: &str) -> bool {
        match self.sources.related(name) {
            Some(related) => {
                let reference = related.reference().name;
                let is_kept = || match self.settled(reference) {
                    (PropertySource::Request, value) => value.is_some(),
                    (PropertySource::Directory, value) => {
                        value.is_some() && self.precedence == Precedence::Directory
                    }
                    (PropertySource::Token, _) => false,
                };
                self.settled_by(reference).is_some() || is_kept()
            }
            None => self.is_named,
        }
    }

    /// Returns the place, other than the request, that alone says which value the attribute `name` has, or that it has none.
    fn settled_by(&self, name: &str) -> Option<PropertySource> {
        self.declared(name).filter(|source| match source {
            PropertySource::Request => false,
            PropertySource::Token => true,
            // Which entity a request means is open if it names none.
            PropertySource::Directory => self.is_settled(name),
        })
    }

    fn is_overridden(&self, name: &str) -> bool {
        self.declared(name).is_some_and(|source| source != PropertySource::Request)
    }

    /// Returns how many attributes the request sent that are taken from another place alone.
    pub(crate) fn overridden(&self) -> usize {
        if self.sources.is_empty() {
            return 0;
        }
        self.sent.named().filter(|(name, _)| self.is_overridden(name)).count()
    }
}

/// A reference that was followed.
#[derive(Clone, Debug)]
pub(crate) struct FollowedReference<'r> {
    /// The name of the reference.
    pub(crate) reference: String,
    /// The value of the property.
    pub(crate) id: &'r str,
    /// The type that it refers to.
    pub(crate) to: &'r str,
    /// The place that the value is taken from.
    pub(crate) place: PropertySource,
}

impl fmt::Debug for LayeredAttributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        AttributeMap::from_layers(self).fmt(f)
    }
}

impl fmt::Debug for AttributeMap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
