//! Reads a check from JSON text without allocating. Allocation would be most of the cost of a decision.
//!
//! Nearly every check is *plain*: each known member at most once, strings without escapes, few attributes. The fast
//! path reads a plain text directly into a [`CheckBody`]. Every other text, and every faulty one, goes through the
//! tree of [`json::parse`], so that one place finds faults and words their messages. The tests compare both paths.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use smallvec::SmallVec;

use crate::attributes::{AttributeMap, Attributes, FlatAttribute, FlatValue};
use crate::fields::within;
use crate::json::{self, Json, JsonError, TreeSeed};
use crate::rbac::{MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use crate::request::CheckBody;
use crate::resource::split_resource;

/// The maximum number of attributes of a plain check.
const MAX_PLAIN: usize = 16;

/// The memory for one check while it is read.
///
/// ```
/// use portcullis_engine::CheckBuffer;
///
/// let mut buffer = CheckBuffer::default();
/// let body = buffer.read(br#"{"subject": "ann", "resource": "wiki:read", "action": "read"}"#)?;
/// assert_eq!(body.subject, "ann");
/// # Ok::<(), portcullis_engine::json::JsonError>(())
/// ```
#[derive(Debug, Default)]
pub struct CheckBuffer<'a> {
    /// The attributes of a plain check.
    flat: Flat<'a>,
    /// The tree of any other check.
    tree: Option<Json<'a>>,
}

impl<'a> CheckBuffer<'a> {
    /// Reads the body of `POST /api/v1/check`.
    ///
    /// # Errors
    /// The fault of the JSON text; or every missing, unknown or ill-typed field, by JSON pointer.
    pub fn read(&mut self, text: &'a [u8]) -> Result<CheckBody<'_>, JsonError> {
        self.flat.attributes.clear();
        self.flat.items.clear();
        match read_plain(text, &mut self.flat) {
            Some(plain) => Ok(plain.body(&self.flat)),
            None => Ok(CheckBody::parse(self.tree.insert(json::parse(text)?))?),
        }
    }
}

/// All attributes of a check, and the items of their lists.
#[derive(Debug, Default)]
struct Flat<'a> {
    attributes: SmallVec<[FlatAttribute<'a>; MAX_PLAIN]>,
    items: SmallVec<[Json<'a>; MAX_PLAIN]>,
}

/// A plain check, whose attributes are in a buffer.
#[derive(Default)]
struct Plain<'a> {
    subject: Option<&'a str>,
    resource: Option<&'a str>,
    action: Option<&'a str>,
    domain: Option<&'a str>,
    attributes: Option<[Range<usize>; 4]>,
}

impl<'a> Plain<'a> {
    fn is_valid(&self) -> bool {
        self.subject.is_some_and(|subject| within(subject, MAX_SUBJECT))
            && self.action.is_some_and(|action| within(action, MAX_ACTION))
            && self.resource.is_some_and(|resource| split_resource(resource).is_some())
            && self.domain.is_none_or(|domain| within(domain, MAX_DOMAIN))
    }

    fn body<'b>(self, flat: &'b Flat<'a>) -> CheckBody<'b> {
        let [user, resource, action, context] = self
            .attributes
            .unwrap_or_default()
            .map(|range| AttributeMap::of_flat(&flat.attributes[range], &flat.items));
        CheckBody {
            subject: self.subject.unwrap_or_default(),
            resource: self.resource.unwrap_or_default(),
            action: self.action.unwrap_or_default(),
            domain: self.domain,
            attributes: Attributes { user, resource, action, context },
        }
    }
}

/// Reads a check; `None` if it is not plain or has a fault.
fn read_plain<'a>(text: &'a [u8], flat: &mut Flat<'a>) -> Option<Plain<'a>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut parser = serde_json::Deserializer::from_str(text);
    let plain = BodySeed { flat }.deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    plain.is_valid().then_some(plain)
}

/// The error that ends the fast path. Nobody reads its message: the tree finds the fault again and words it.
fn not_plain<E: Error>() -> E {
    E::custom("not plain")
}

/// Stores a value in an option that must be empty: a second value is a duplicate member.
fn fill<T, E: Error>(place: &mut Option<T>, value: T) -> Result<(), E> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(not_plain()),
    }
}

macro_rules! expecting {
    ($what:literal) => {
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str($what)
        }
    };
}

struct BodySeed<'b, 'a> {
    flat: &'b mut Flat<'a>,
}

impl<'a> DeserializeSeed<'a> for BodySeed<'_, 'a> {
    type Value = Plain<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Plain<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for BodySeed<'_, 'a> {
    type Value = Plain<'a>;

    expecting!("a check");

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Plain<'a>, A::Error> {
        let mut plain = Plain::default();
        while let Some(key) = map.next_key::<&str>()? {
            match key {
                "subject" => fill(&mut plain.subject, map.next_value()?)?,
                "resource" => fill(&mut plain.resource, map.next_value()?)?,
                "action" => fill(&mut plain.action, map.next_value()?)?,
                "domain" => fill(&mut plain.domain, map.next_value()?)?,
                "attributes" => {
                    let seed = AttributesSeed { flat: self.flat };
                    fill(&mut plain.attributes, map.next_value_seed(seed)?)?;
                }
                _ => return Err(not_plain()),
            }
        }
        Ok(plain)
    }
}

/// Reads `attributes`. Returns the ranges of the user's, the resource's, the action's and the context's attributes in
/// the buffer.
struct AttributesSeed<'b, 'a> {
    flat: &'b mut Flat<'a>,
}

impl<'a> DeserializeSeed<'a> for AttributesSeed<'_, 'a> {
    type Value = [Range<usize>; 4];

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for AttributesSeed<'_, 'a> {
    type Value = [Range<usize>; 4];

    expecting!("attributes");

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut user, mut resource, mut action, mut context) = (None, None, None, None);
        while let Some(key) = map.next_key::<&str>()? {
            let place = match key {
                "user" => &mut user,
                "resource" => &mut resource,
                "action" => &mut action,
                "context" => &mut context,
                _ => return Err(not_plain()),
            };
            fill(place, map.next_value_seed(MapSeed { flat: self.flat })?)?;
        }
        Ok([user, resource, action, context].map(Option::unwrap_or_default))
    }
}

struct MapSeed<'b, 'a> {
    flat: &'b mut Flat<'a>,
}

impl<'a> DeserializeSeed<'a> for MapSeed<'_, 'a> {
    type Value = Range<usize>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Range<usize>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for MapSeed<'_, 'a> {
    type Value = Range<usize>;

    expecting!("a map of attributes");

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Range<usize>, A::Error> {
        let start = self.flat.attributes.len();
        while let Some(name) = map.next_key::<&str>()? {
            // A plain check has few names: comparing all pairs is faster than hashing.
            let known = &self.flat.attributes[start..];
            if known.iter().any(|known| known.name == name) || start + known.len() == MAX_PLAIN {
                return Err(not_plain());
            }
            let value = map.next_value_seed(AttributeSeed { items: &mut self.flat.items })?;
            self.flat.attributes.push(FlatAttribute { name, value });
        }
        Ok(start..self.flat.attributes.len())
    }
}

/// Reads a scalar, or a list of strings and numbers.
struct AttributeSeed<'b, 'a> {
    items: &'b mut SmallVec<[Json<'a>; MAX_PLAIN]>,
}

impl<'a> DeserializeSeed<'a> for AttributeSeed<'_, 'a> {
    type Value = FlatValue<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<FlatValue<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for AttributeSeed<'_, 'a> {
    type Value = FlatValue<'a>;

    expecting!("an attribute");

    fn visit_bool<E>(self, value: bool) -> Result<FlatValue<'a>, E> {
        Ok(FlatValue::Scalar(Json::Bool(value)))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<FlatValue<'a>, E> {
        TreeSeed::LEAF.visit_u64(value).map(FlatValue::Scalar)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<FlatValue<'a>, E> {
        TreeSeed::LEAF.visit_i64(value).map(FlatValue::Scalar)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<FlatValue<'a>, E> {
        TreeSeed::LEAF.visit_f64(value).map(FlatValue::Scalar)
    }

    fn visit_borrowed_str<E: Error>(self, value: &'a str) -> Result<FlatValue<'a>, E> {
        TreeSeed::LEAF.visit_borrowed_str(value).map(FlatValue::Scalar)
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut sequence: A) -> Result<FlatValue<'a>, A::Error> {
        let place = |items: &[Json<'a>]| u32::try_from(items.len()).map_err(A::Error::custom);
        let start = place(self.items)?;
        while let Some(item) = sequence.next_element_seed(TreeSeed::LEAF)? {
            match item {
                Json::String(Cow::Borrowed(_)) | Json::Number(_) => self.items.push(item),
                _ => return Err(not_plain()),
            }
        }
        Ok(FlatValue::List(start..place(self.items)?))
    }
}
