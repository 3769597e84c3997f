//! The only places that declared properties are taken from (`docs/semantics.md`, section 12.9).

use hashbrown::HashMap;

use crate::json::Json;
use crate::types::{PropertySource, USER};
use crate::value::AttributeValue;

/// The properties of one type that are taken from one place alone, by name.
type Sources = HashMap<Box<str>, PropertySource>;

/// The properties that are taken from one place alone, by type. Types without such a property are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertySources(HashMap<Box<str>, Sources>);

impl PropertySources {
    /// Returns whether every property is taken from wherever it comes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sources of `user.*`.
    pub(crate) fn for_user(&self) -> TypeSources<'_> {
        TypeSources([self.0.get(USER), None])
    }

    /// Returns the sources of `resource.*` for a resource of the type `sent` that the request names, if it names one, and of
    /// the type `object` that the checked resource names. What one of both is strict about counts: so no request leaves a
    /// declaration by naming another type.
    pub(crate) fn for_resource(&self, sent: Option<&str>, object: &str) -> TypeSources<'_> {
        let sent = sent.filter(|sent| *sent != object);
        TypeSources([self.0.get(object), sent.and_then(|sent| self.0.get(sent))])
    }

    /// Returns the heap bytes.
    pub(crate) fn weight(&self) -> usize {
        let text = |text: &str| text.len() + size_of::<Box<str>>();
        let types = self.0.iter().map(|(name, sources)| {
            text(name)
                + sources.allocation_size()
                + sources.keys().map(|name| text(name)).sum::<usize>()
        });
        self.0.allocation_size() + types.sum::<usize>()
    }
}

impl<P: IntoIterator<Item = (String, PropertySource)>> FromIterator<(String, P)>
    for PropertySources
{
    fn from_iter<I: IntoIterator<Item = (String, P)>>(types: I) -> Self {
        let boxed = |(name, source): (String, _)| (name.into_boxed_str(), source);
        let types = types.into_iter().map(|(name, properties)| {
            (name.into_boxed_str(), properties.into_iter().map(boxed).collect::<Sources>())
        });
        Self(types.filter(|(_, sources)| !sources.is_empty()).collect())
    }
}

/// The sources of the properties of one subject or resource.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TypeSources<'t>([Option<&'t Sources>; 2]);

impl<'t> TypeSources<'t> {
    /// Returns whether every property is taken from wherever it comes.
    pub(crate) fn is_empty(self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Returns the only place that a property is taken from; `None` is every place.
    pub(crate) fn get(self, name: &str) -> Option<PropertySource> {
        let mut sources = self.0.iter().flatten().filter_map(|sources| sources.get(name).copied());
        let first = sources.next()?;
        Some(if first == PropertySource::Request { sources.next().unwrap_or(first) } else { first })
    }

    /// Returns the claims that are taken as properties of a subject, which has one type.
    pub(crate) fn claims<'r>(
        self,
        claims: &'r Json<'r>,
    ) -> impl Iterator<Item = (&'r str, AttributeValue<'r>)>
    where
        't: 'r,
    {
        self.0[0].into_iter().flatten().filter_map(move |(name, source)| {
            let is_claim = *source == PropertySource::Token;
            let claim = is_claim.then(|| claims.claim(name)).flatten()?;
            Some((&**name, claim.into()))
        })
    }
}
