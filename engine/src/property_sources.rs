//! Declared properties, as decisions know them: the only places that they are taken from, and the types that they refer to
//! (`docs/semantics.md`, sections 12.9 and 12.15).

use hashbrown::HashMap;

use crate::json::Json;
use crate::types::{DeclaredProperties, MAX_REFERENCES, PropertySource, Types, USER};
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
    properties: HashMap<Box<str>, (Option<PropertySource>, Option<Target>)>,
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
        let of_type = |(name, properties): (&str, &DeclaredProperties)| {
            let known = properties.iter().filter_map(|(name, property)| {
                let to = property.to.as_deref()?.into();
                Some((name.clone(), KnownProperty { from: None, to: Some(to) }))
            });
            (name.to_owned(), known.collect::<Vec<_>>())
        };
        types.iter().map(of_type).collect()
    }

    fn of(&self, name: &str) -> Option<&Sources> {
        self.types.get(*self.places.get(name)?)
    }

    /// Returns the sources of `user.*`.
    pub(crate) fn for_user(&self) -> TypeSources<'_> {
        TypeSources { own: [self.of(USER), None], all: &self.types }
    }

    /// Returns the sources of `resource.*` for a resource of the type `sent` that the request names, if it names one, and of
    /// the type `object` that the checked resource names. What one of both is strict about counts: so no request leaves a
    /// declaration by naming another type.
    pub(crate) fn for_resource(&self, sent: Option<&str>, object: &str) -> TypeSources<'_> {
        let sent = sent.filter(|sent| *sent != object);
        let own = [self.of(object), sent.and_then(|sent| self.of(sent))];
        TypeSources { own, all: &self.types }
    }

    /// Returns the only place that the attribute `name` of a subject or resource of a type is taken from, also behind references;
    /// `None` is every place.
    pub fn of_attribute(&self, of: &str, name: &str) -> Option<PropertySource> {
        self.for_resource(None, of).get(name)
    }

    /// Returns whether `name` may lead behind a reference of some type.
    pub fn may_follow(&self, name: &str) -> bool {
        self.types.iter().any(|sources| sources.split(name).is_some())
    }

    /// Returns the heap bytes.
    pub(crate) fn weight(&self) -> usize {
        let text = |text: &str| text.len() + size_of::<Box<str>>();
        let of_type = |sources: &Sources| {
            let targets = sources.properties.values().filter_map(|(_, target)| target.as_ref());
            sources.properties.allocation_size()
                + sources.properties.keys().map(|name| text(name)).sum::<usize>()
                + targets.map(|target| target.name.len()).sum::<usize>()
        };
        self.types.capacity() * size_of::<Sources>()
            + self.types.iter().map(of_type).sum::<usize>()
            + self.places.allocation_size()
            + self.places.keys().map(|name| text(name)).sum::<usize>()
    }
}

impl<K: Into<KnownProperty>, P: IntoIterator<Item = (String, K)>> FromIterator<(String, P)>
    for PropertySources
{
    fn from_iter<I: IntoIterator<Item = (String, P)>>(types: I) -> Self {
        let known = |(name, property): (String, K)| (name.into_boxed_str(), property.into());
        let known = types.into_iter().map(|(name, properties)| {
            (name.into_boxed_str(), properties.into_iter().map(known).collect::<KnownProperties>())
        });
        let mut known: Vec<(Box<str>, KnownProperties)> =
            known.filter(|(_, properties)| !properties.is_empty()).collect();
        known.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let names = known.iter().map(|(name, _)| name.clone());
        let places: HashMap<Box<str>, usize> = names.zip(0..).collect();
        let types = known.into_iter().map(|(_, properties)| Sources::new(properties, &places));
        Self { types: types.collect(), places }
    }
}

impl Sources {
    fn new(known: KnownProperties, places: &HashMap<Box<str>, usize>) -> Self {
        let has_references = known.iter().any(|(_, known)| known.to.is_some());
        let target = |name: Box<str>| Target { place: places.get(&name).copied(), name };
        let known =
            known.into_iter().map(|(name, known)| (name, (known.from, known.to.map(target))));
        Self { properties: known.collect(), has_references }
    }

    fn get(&self, name: &str) -> Option<PropertySource> {
        self.properties.get(name)?.0
    }

    /// Returns the reference that `name` begins with, the only place that it is taken from, the type that it refers to, and the
    /// name behind it.
    #[inline]
    fn split<'n>(
        &self,
        name: &'n str,
    ) -> Option<(&'n str, Option<PropertySource>, &Target, &'n str)> {
        if !self.has_references {
            return None;
        }
        name.match_indices('.').find_map(|(dot, _)| {
            let (from, target) = self.properties.get(&name[..dot])?;
            Some((&name[..dot], *from, target.as_ref()?, &name[dot + 1..]))
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

/// A name that leads behind a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelatedName<'t, 'n> {
    /// The reference as a name of the same subject or resource: `ticket.owner` of `ticket.owner.team`.
    pub(crate) reference: &'n str,
    /// The type that it refers to.
    pub(crate) to: &'t str,
    /// The name of the property behind it.
    pub(crate) property: &'n str,
    /// The only place that the property is taken from, as its type declares.
    from: Option<PropertySource>,
    /// Whether a reference on the way is not up to the request, so that nothing behind it is.
    is_settled: bool,
}

impl RelatedName<'_, '_> {
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
        match self.related(name) {
            Some(related) => related.source(),
            None => self.own(name),
        }
    }

    /// Returns the only place that a property of the subject or resource itself is taken from.
    fn own(self, name: &str) -> Option<PropertySource> {
        let mut sources = self.own.iter().flatten().filter_map(|sources| sources.get(name));
        let first = sources.next()?;
        Some(if first == PropertySource::Request { sources.next().unwrap_or(first) } else { first })
    }

    /// Returns where `name` leads if it leads behind a reference: of the type that the checked resource names, or else of the
    /// one that the request names.
    #[inline]
    pub(crate) fn related<'n>(self, name: &'n str) -> Option<RelatedName<'t, 'n>> {
        let mut own = self.own.iter().flatten();
        own.find_map(|sources| self.related_to(sources, name))
    }

    fn related_to<'n>(self, own: &'t Sources, name: &'n str) -> Option<RelatedName<'t, 'n>> {
        let (first, _, mut target, mut property) = own.split(name)?;
        let mut is_settled = self.own(first).is_some_and(is_not_of_request);
        let of = |target: &Target| self.all.get(target.place?);
        let mut sources = of(target);
        for _ in 1..MAX_REFERENCES {
            let Some((_, from, next, rest)) = sources.and_then(|of| of.split(property)) else {
                break;
            };
            is_settled |= from.is_some_and(is_not_of_request);
            (target, property, sources) = (next, rest, of(next));
        }
        let from = sources.and_then(|of| of.get(property));
        let reference = &name[..name.len() - property.len() - 1];
        Some(RelatedName { reference, to: &target.name, property, from, is_settled })
    }

    /// Returns the claims that are taken as properties of a subject, which has one type.
    pub(crate) fn claims<'r>(
        self,
        claims: &'r Json<'r>,
    ) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)>
    where
        't: 'r,
    {
        let own = self.own[0].into_iter().flat_map(|sources| &sources.properties);
        own.filter_map(move |(name, (from, _))| {
            let is_claim = *from == Some(PropertySource::Token);
            let claim = is_claim.then(|| claims.claim(name)).flatten()?;
            Some((&**name, claim.into()))
        })
    }
}

fn is_not_of_request(from: PropertySource) -> bool {
    from != PropertySource::Request
}
