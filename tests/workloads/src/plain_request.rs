//! A request for hand-written code: borrowed strings, and pairs of attribute name and value.

use std::fmt;

use arrayvec::ArrayVec;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use crate::model::{DOMAIN, SampleAttribute, SampleRequest};

/// A request. [`PlainRequest::parse`] is also the bare parse with which W5 is compared: typed, borrowed, without an allocation.
/// It handles no escapes, no duplicate members and no further attributes, and its errors are not useful.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the body of a check")]
pub struct PlainRequest<'a> {
    pub subject: &'a str,
    pub resource: &'a str,
    pub action: &'a str,
    pub domain: &'a str,
    #[serde(borrow)]
    pub attributes: PlainAttributes<'a>,
}

/// The attributes of a request.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the body of a check")]
pub struct PlainAttributes<'a> {
    #[serde(borrow)]
    pub user: Pairs<'a, 3>,
    #[serde(borrow, default)]
    pub resource: Pairs<'a, 1>,
}

/// The name and value of each attribute, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs<'a, const MAX: usize>(pub ArrayVec<(&'a str, PlainScalar<'a>), MAX>);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PlainScalar<'a> {
    Text(&'a str),
    Number(i64),
    Texts(ArrayVec<&'a str, 2>),
}

impl SampleRequest {
    /// Writes the body of the check as JSON text. The subject's roles are an attribute, since there is no token.
    pub fn text(&self) -> String {
        let object = |pairs: &[(String, SampleAttribute)]| -> Map<String, Value> {
            let value = |value: &SampleAttribute| match value {
                SampleAttribute::Text(text) => json!(text),
                SampleAttribute::Number(number) => json!(number),
            };
            pairs.iter().map(|(name, own)| (name.clone(), value(own))).collect()
        };
        let mut user = object(&self.user);
        user.insert("roles".to_owned(), json!(self.roles));
        let mut attributes = json!({ "user": user });
        if !self.object.is_empty() {
            attributes["resource"] = object(&self.object).into();
        }
        let (subject, resource, action) = (&self.subject, &self.resource, &self.action);
        json!({
            "subject": subject, "resource": resource, "action": action, "domain": DOMAIN,
            "attributes": attributes,
        })
        .to_string()
    }
}

impl<'a> PlainRequest<'a> {
    /// Reads the text of a request.
    ///
    /// # Errors
    /// The error of `serde_json`.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }
}

/// Reads the texts of many requests.
///
/// # Errors
/// The error of `serde_json` for the first unreadable text.
pub fn read_all(texts: &[String]) -> serde_json::Result<Vec<PlainRequest<'_>>> {
    texts.iter().map(|text| PlainRequest::parse(text)).collect()
}

impl<'de: 'a, 'a, const MAX: usize> Deserialize<'de> for Pairs<'a, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor::<MAX>)
    }
}

struct PairsVisitor<const MAX: usize>;

impl<'de, const MAX: usize> Visitor<'de> for PairsVisitor<MAX> {
    type Value = Pairs<'de, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("attributes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Pairs::default();
        while let Some(pair) = map.next_entry()? {
            pairs.0.try_push(pair).map_err(A::Error::custom)?;
        }
        Ok(pairs)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PlainScalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = PlainScalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an integer or a list of strings")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(PlainScalar::Text(text))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(PlainScalar::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        i64::try_from(number).map(PlainScalar::Number).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut texts = ArrayVec::new();
        while let Some(text) = sequence.next_element()? {
            texts.try_push(text).map_err(A::Error::custom)?;
        }
        Ok(PlainScalar::Texts(texts))
    }
}
