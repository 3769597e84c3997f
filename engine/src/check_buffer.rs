//! Reads a check from JSON text without allocating. Allocation would be most of the cost of a decision.
//!
//! Nearly every check is *plain*: each known member at most once, strings without escapes, few attributes. The fast
//! path reads a plain text directly into a [`CheckBody`]. Every other text, and every faulty one, goes through the
//! tree of [`json::parse`], so that one place finds faults and words their messages. The tests compare both paths.

use std::borrow::Cow;
use std::ops::Range;

use arrayvec::ArrayVec;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::attributes::{
    AttributeMap, Attributes, FlatAttribute, FlatAttributes, FlatValue, MAX_FLAT_ITEMS,
};
use crate::fields::within;
use crate::json::{self, Json, JsonError, TreeSeed};
use crate::rbac::{MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use crate::request::CheckBody;
use crate::resource::split_resource;

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
    flat: FlatAttributes<'a>,
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

/// A plain check, whose attributes are in a buffer.
#[derive(Default)]
struct Plain<'a> {
    subject: Option<&'a str>,
    resource: Option<&'a str>,
    action: Option<&'a str>,
    domain: Option<&'a str>,
    attributes: Option<[Range<u8>; 4]>,
}

impl<'a> Plain<'a> {
    fn is_valid(&self) -> bool {
        self.subject.is_some_and(|subject| within(subject, MAX_SUBJECT))
            && self.action.is_some_and(|action| within(action, MAX_ACTION))
            && self.resource.is_some_and(|resource| split_resource(resource).is_some())
            && self.domain.is_none_or(|domain| within(domain, MAX_DOMAIN))
    }

    fn body<'b>(self, flat: &'b FlatAttributes<'a>) -> CheckBody<'b> {
        let [user, resource, action, context] =
            self.attributes.unwrap_or_default().map(|range| AttributeMap::of_flat(flat, range));
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
fn read_plain<'a>(text: &'a [u8], flat: &mut FlatAttributes<'a>) -> Option<Plain<'a>> {
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

/// Returns the place of the next element. A check that is read without a tree has few.
fn place<T>(elements: &[T]) -> u8 {
    u8::try_from(elements.len()).unwrap_or(u8::MAX)
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
    flat: &'b mut FlatAttributes<'a>,
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
    flat: &'b mut FlatAttributes<'a>,
}

impl<'a> DeserializeSeed<'a> for AttributesSeed<'_, 'a> {
    type Value = [Range<u8>; 4];

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for AttributesSeed<'_, 'a> {
    type Value = [Range<u8>; 4];

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
    flat: &'b mut FlatAttributes<'a>,
}

impl<'a> DeserializeSeed<'a> for MapSeed<'_, 'a> {
    type Value = Range<u8>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Range<u8>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for MapSeed<'_, 'a> {
    type Value = Range<u8>;

    expecting!("a map of attributes");

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Range<u8>, A::Error> {
        let start = place(&self.flat.attributes);
        while let Some(name) = map.next_key::<&str>()? {
            // A plain check has few names: comparing all pairs is faster than hashing.
            let known = &self.flat.attributes[usize::from(start)..];
            if known.iter().any(|known| known.name == name) {
                return Err(not_plain());
            }
            let value = map.next_value_seed(AttributeSeed { items: &mut self.flat.items })?;
            let attribute = FlatAttribute { name, value };
            self.flat.attributes.try_push(attribute).map_err(|_| not_plain())?;
        }
        Ok(start..place(&self.flat.attributes))
    }
}

/// Reads a scalar, or a list of strings and numbers.
struct AttributeSeed<'b, 'a> {
    items: &'b mut ArrayVec<Json<'a>, MAX_FLAT_ITEMS>,
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
        let start = place(self.items);
        while let Some(item) = sequence.next_element_seed(TreeSeed::LEAF)? {
            match item {
                Json::String(Cow::Borrowed(_)) | Json::Number(_) => {
                    self.items.try_push(item).map_err(|_| not_plain())?;
                }
                _ => return Err(not_plain()),
            }
        }
        Ok(FlatValue::List(start..place(self.items)))
    }
}
