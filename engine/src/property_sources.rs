//! Declared properties, as decisions know them: the only places that they are taken from, and the types that they refer to
//! (`docs/semantics.md`, sections 12.9 and 12.15).

use arrayvec::ArrayVec;
use hashbrown::HashMap;

use crate::json::Json;
use crate::numbered_texts::NumberedTexts;
use crate::types::{MAX_REFERENCES, PropertySource, Types, USER};
use crate::value::AttributeValue;

/// A property that decisions know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownProperty {
    /// The only place that it is taken from; `None` for every place.
    pub from: Option<PropertySource>,
    /// The type that it refers to.
    pub to: Option<Box<str>>,
}

/// The properties of one type that decisions know, by name.
type KnownProperties = Vec<(Box<str>, KnownProperty)>;

impl From<PropertySource> for KnownProperty {
    fn from(from: PropertySource) -> Self {
        Self { from: Some(from), to: None }
    }
}

/// The type that a property refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    name: Box<str>,
    /// The place of its properties, if decisions know some of them.
    place: Option<usize>,
}

/// The properties of one type that are taken from one place alone, or refer to a type, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The names with the places of their properties.
    names: NumberedTexts,
    properties: Vec<(Option<PropertySource>, Option<Target>)>,
    has_references: bool,
}

/// The properties that are taken from one place alone, or refer to a type, by type. Types without such a property are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertySources {
    /// In the order of the names of types.
    types: Vec<Sources>,
    places: HashMap<Box<str>, usize>,
}

impl PropertySources {
    /// Returns whether every property is taken from wherever it comes, and refers to nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns the references of types, whose properties are taken from wherever they come: a folder has no other places.
    pub fn of_references(types: &Types) -> Self {
        let types = types.iter().map(|(name, properties)| {
            let known = properties.iter().filter_map(|(name, property)| {
                let to = property.to.as_deref()?.into();
                Some((name.clone(), KnownProperty { from: None, to: Some(to) }))
            });
            (name.to_owned(), known.collect::<Vec<_>>())
        });
        types.collect()
    }

    fn of(&self, name: &str) -> Option<&Sources> {
        self.types.get(*self.places.get(name)?)
    }

    /// Returns the sources of `user.*`.
    pub(crate) fn for_user(&self) -> TypeSources<'_> {
        TypeSources { own: [self.of(USER), None], all: &self.types }
    }

    /// Returns the sources of `resource.*` for a resource of the type `own`, which a request may name, and of the type `object`
    /// that the checked resource names. What one of both is strict about counts: so no request leaves a declaration by naming
    /// another type.
    pub(crate) fn for_resource(&self, own: &str, object: &str) -> TypeSources<'_> {
        let other = (own != object).then(|| self.of(own)).flatten();
        let own = [self.of(object), other];
        TypeSources { own, all: &self.types }
    }

    /// Returns the only place that the attribute `name` of a subject or resource of a type is taken from, also behind references;
    /// `None` is every place.
    pub fn of_attribute(&self, of: &str, name: &str) -> Option<PropertySource> {
        self.for_resource(of, of).get(name)
    }

    /// Returns whether `name` may lead behind a reference of some type.
    pub fn may_follow(&self, name: &str) -> bool {
        self.types.iter().any(|sources| sources.split(name).is_some())
    }

    /// Returns the heap bytes.
    pub(crate) fn weight(&self) -> usize {
        let names = self.places.keys().map(|name| name.len() + size_of::<Box<str>>());
        self.types.capacity() * size_of::<Sources>()
            + self.types.iter().map(Sources::weight).sum::<usize>()
            + self.places.allocation_size()
            + names.sum::<usize>()
    }
}

impl<K: Into<KnownProperty>, P: IntoIterator<Item = (String, K)>> FromIterator<(String, P)>
    for PropertySources
{
    fn from_iter<I: IntoIterator<Item = (String, P)>>(types: I) -> Self {
        let known = types.into_iter().map(|(name, properties)| {
            let properties = properties.into_iter();
            let properties =
                properties.map(|(name, property)| (name.into_boxed_str(), property.into()));
            (name.into_boxed_str(), properties.collect::<KnownProperties>())
        });
        let mut known: Vec<(Box<str>, KnownProperties)> =
            known.filter(|(_, properties)| !properties.is_empty()).collect();
        known.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        // Places follow this order, in which the types are collected.
        let names = known.iter().map(|(name, _)| name.clone());
        let places: HashMap<Box<str>, usize> = names.zip(0..).collect();
        let types = known.into_iter().map(|(_, properties)| Sources::new(properties, &places));
        Self { types: types.collect(), places }
    }
}

impl Sources {
    fn new(mut known: KnownProperties, places: &HashMap<Box<str>, usize>) -> Self {
        known.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut names = NumberedTexts::default();
        for (place, (name, _)) in (0..).zip(&known) {
            names.find_or_insert(name, place);
        }
        names.shrink_to_fit();
        let has_references = known.iter().any(|(_, known)| known.to.is_some());
        let properties = known.into_iter().map(|(_, known)| {
            let target = known.to.map(|name| Target { place: places.get(&name).copied(), name });
            (known.from, target)
        });
        Self { names, properties: properties.collect(), has_references }
    }

    /// Returns the heap bytes.
    fn weight(&self) -> usize {
        let targets = self.properties.iter().filter_map(|(_, target)| target.as_ref());
        self.names.weight()
            + self.properties.capacity() * size_of::<(Option<PropertySource>, Option<Target>)>()
            + targets.map(|target| target.name.len()).sum::<usize>()
    }

    fn property(&self, name: &str) -> Option<&(Option<PropertySource>, Option<Target>)> {
        self.properties.get(self.names.find(name)? as usize)
    }

    fn get(&self, name: &str) -> Option<PropertySource> {
        self.property(name)?.0
    }

    /// Returns the length of the reference that `name` begins with, the only place that it is taken from, and the type that it
    /// refers to.
    #[inline]
    fn split(&self, name: &str) -> Option<(usize, Option<PropertySource>, &Target)> {
        if !self.has_references {
            return None;
        }
        // A property may have a dot in its own name: the first part that is a reference counts.
        let dots = (0..).zip(name.bytes()).filter(|(_, byte)| *byte == b'.');
        dots.map(|(dot, _): (usize, _)| dot).find_map(|dot| {
            let (from, target) = self.property(&name[..dot])?;
            Some((dot, *from, target.as_ref()?))
        })
    }
}

/// The sources of the properties of one subject or resource.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TypeSources<'t> {
    own: [Option<&'t Sources>; 2],
    /// The types that references lead to, by place.
    all: &'t [Sources],
}

/// The end of a name that begins at the properties of a subject or resource.
#[derive(Debug)]
pub(crate) enum NameEnd<'t, 'n> {
    /// A property of its own, which is taken from this place alone; `None` is every place.
    Own(Option<PropertySource>),
    /// A property behind references.
    Related(RelatedName<'t, 'n>),
}

/// A name that leads behind references.
#[derive(Debug)]
pub(crate) struct RelatedName<'t, 'n> {
    /// The references, the first one first: at least one.
    pub(crate) references: ArrayVec<RelatedPart<'t, 'n>, MAX_REFERENCES>,
    /// The property behind them.
    pub(crate) end: RelatedPart<'t, 'n>,
}

/// A part of a name that leads behind references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelatedPart<'t, 'n> {
    /// The name up to here: `ticket.owner` of `ticket.owner.team`.
    pub(crate) name: &'n str,
    /// The property of the entity to which the part before refers: `owner`.
    pub(crate) property: &'n str,
    /// The type that it refers to; empty for the end.
    pub(crate) to: &'t str,
    /// The only place that the property is taken from, as its type declares.
    from: Option<PropertySource>,
    /// Whether a reference before it is not up to the request, so that nothing behind that is.
    is_settled: bool,
}

impl<'t, 'n> RelatedName<'t, 'n> {
    /// Returns the last reference.
    pub(crate) fn reference(&self) -> RelatedPart<'t, 'n> {
        self.references.last().copied().unwrap_or(self.end)
    }
}

impl RelatedPart<'_, '_> {
    /// Returns the only place that the value is taken from; `None` is every place.
    pub(crate) fn source(&self) -> Option<PropertySource> {
        if self.is_settled { Some(PropertySource::Directory) } else { self.from }
    }

    /// Returns whether the directory may supply the value.
    pub(crate) fn is_stored(&self) -> bool {
        self.from.is_none_or(|from| from == PropertySource::Directory)
    }
}

impl<'t> TypeSources<'t> {
    /// Returns whether every property is taken from wherever it comes, and refers to nothing.
    pub(crate) fn is_empty(self) -> bool {
        self.own.iter().all(Option::is_none)
    }

    /// Returns the only place that a property is taken from, which may be behind references; `None` is every place.
    pub(crate) fn get(self, name: &str) -> Option<PropertySource> {
        match self.end_of(name) {
            NameEnd::Own(from) => from,
            NameEnd::Related(related) => related.end.source(),
        }
    }

    /// Returns where `name` leads.
    #[inline]
    pub(crate) fn end_of<'n>(self, name: &'n str) -> NameEnd<'t, 'n> {
        self.related(name).map_or_else(|| NameEnd::Own(self.own(name)), NameEnd::Related)
    }

    /// Returns the only place that a property of the subject or resource itself is taken from.
    fn own(self, name: &str) -> Option<PropertySource> {
        let mut sources = self.own.iter().flatten().filter_map(|sources| sources.get(name));
        let first = sources.next()?;
        // `request` is the least strict source: another declaration goes before it.
        Some(if first == PropertySource::Request { sources.next().unwrap_or(first) } else { first })
    }

    /// Returns where `name` leads if it leads behind a reference: of the type that the checked resource names, or else of the
    /// one that the request names.
    #[inline]
    pub(crate) fn related<'n>(self, name: &'n str) -> Option<RelatedName<'t, 'n>> {
        let mut own = self.own.into_iter().flatten();
        own.find_map(|sources| self.related_to(sources, name))
    }

    #[inline]
    fn related_to<'n>(self, own: &'t Sources, name: &'n str) -> Option<RelatedName<'t, 'n>> {
        let (mut end, from, mut target) = own.split(name)?;
        let first = &name[..end];
        // With two types, the stricter source of both counts, as for a property of its own.
        let from = if let [Some(_), Some(_)] = self.own { self.own(first) } else { from };
        let mut last =
            RelatedPart { name: first, property: first, to: &target.name, from, is_settled: false };
        let mut references = ArrayVec::new();
        loop {
            references.push(last);
            let (start, rest) = (end + 1, &name[end + 1..]);
            let is_settled = last.source().is_some_and(|from| from != PropertySource::Request);
            let sources = target.place.and_then(|place| self.all.get(place));
            // A third reference is not followed: the rest is the name of a property.
            let next = sources.filter(|_| !references.is_full()).and_then(|of| of.split(rest));
            let Some((length, from, next)) = next else {
                let from = sources.and_then(|of| of.get(rest));
                let end = RelatedPart { name, property: rest, to: "", from, is_settled };
                return Some(RelatedName { references, end });
            };
            (end, target) = (start + length, next);
            let (name, property) = (&name[..end], &rest[..length]);
            last = RelatedPart { name, property, to: &next.name, from, is_settled };
        }
    }

    /// Returns the claims that are taken as properties of a subject, which has one type.
    pub(crate) fn claims<'r>(
        self,
        claims: &'r Json<'r>,
    ) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)>
    where
        't: 'r,
    {
        let own = self.own[0].into_iter().flat_map(|sources| {
            sources.names.iter().map(|(name, place)| (name, sources.properties.get(place as usize)))
        });
        own.filter_map(move |(name, property)| {
            let (from, _) = property?;
            let is_claim = *from == Some(PropertySource::Token);
            let claim = is_claim.then(|| claims.claim(name)).flatten()?;
            Some((name, claim.into()))
        })
    }
}
