//! Resource names, and the patterns by which rules and policies name resources.

use std::fmt::{self, Write as _};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fields::{string, within};
use crate::invalid::{Place, Problems};
use crate::json::Json;

/// The maximum length of a resource name, in characters (`docs/semantics.md`, section 2.1).
pub const MAX_RESOURCE: usize = 256;

const NAME_SHAPE: &str = "`<name>:<verb>`: both parts non-empty, no white space or control characters, at most 256 characters";
const PATTERN_SHAPE: &str = "`*`, `<name>:*` or `<name>:<verb>` without any other `*`, white space or control characters, of at most 256 characters";

/// Splits a resource name at its last colon into name and verb; `None` if it does not have the form `<name>:<verb>`
/// (`docs/semantics.md`, section 2.1).
pub fn split_resource(resource: &str) -> Option<(&str, &str)> {
    let (name, verb) = resource.rsplit_once(':')?;
    let sound = !name.is_empty()
        && !verb.is_empty()
        && within(resource, MAX_RESOURCE)
        // Most names need no look at their characters.
        && (resource.bytes().all(|byte| byte.is_ascii_graphic())
            || !resource.contains(|c: char| c.is_whitespace() || c.is_control()));
    sound.then_some((name, verb))
}

/// Returns the resource of two texts that may have any characters: white space, control characters and `%` are percent-encoded,
/// and in the verb also colons, so that two pairs never have one resource (`docs/semantics.md`, section 11.6).
pub fn encoded_resource(name: &str, verb: &str) -> String {
    let mut resource = String::with_capacity(name.len() + 1 + verb.len());
    encode(name, |_| false, &mut resource);
    resource.push(':');
    encode_verb(verb, &mut resource);
    resource
}

/// Returns the verb that [`encoded_resource`] makes of a text.
pub fn encoded_verb(verb: &str) -> String {
    let mut encoded = String::with_capacity(verb.len());
    encode_verb(verb, &mut encoded);
    encoded
}

fn encode_verb(verb: &str, to: &mut String) {
    encode(verb, |c| c == ':', to);
}

/// Returns the name that [`encoded_resource`] makes of a text.
pub fn encoded_name(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    encode(name, |_| false, &mut encoded);
    encoded
}

fn encode(text: &str, also: impl Fn(char) -> bool, to: &mut String) {
    // Most names need no encoding.
    if text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%' && !also(byte.into())) {
        to.push_str(text);
        return;
    }
    for c in text.chars() {
        if c == '%' || c.is_whitespace() || c.is_control() || also(c) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string does not fail.
                let _ = write!(to, "%{byte:02X}");
            }
        } else {
            to.push(c);
        }
    }
}

/// Returns the resource without its verb.
pub fn object_of(resource: &str) -> &str {
    resource.rsplit_once(':').map_or(resource, |(name, _)| name)
}

/// Reads the resource of a check.
pub fn resource<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j str> {
    let text = string(json, at, problems)?;
    if split_resource(text).is_none() {
        problems.expected(at, NAME_SHAPE);
        return None;
    }
    Some(text)
}

/// Reads the name of a resource to register. Refuses `*`: a rule could not tell such a name from a pattern.
pub fn registered_resource<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j str> {
    let text = resource(json, at, problems)?;
    if text.contains('*') {
        problems.expected(at, "a resource name without `*`");
        return None;
    }
    Some(text)
}

/// The resources to which a rule or policy applies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourcePattern {
    /// `*`: every resource.
    Any,
    /// `<name>:*`: every verb of one name. Contains the name.
    Name(String),
    /// `<name>:<verb>`: one resource. Contains the whole text.
    Exact(String),
}

impl ResourcePattern {
    /// Returns the name without a verb; `None` for every resource.
    pub fn object(&self) -> Option<&str> {
        match self {
            Self::Any => None,
            Self::Name(name) => Some(name),
            Self::Exact(resource) => Some(object_of(resource)),
        }
    }

    /// Parses a pattern; `None` for any other text. Only the three forms exist: a `*` anywhere else would look like a
    /// pattern without being one (`docs/semantics.md`, section 3.1).
    pub fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let (name, verb) = split_resource(text)?;
        match (name.contains('*'), verb) {
            (false, "*") => Some(Self::Name(name.to_owned())),
            (false, verb) if !verb.contains('*') => Some(Self::Exact(text.to_owned())),
            _ => None,
        }
    }

    /// Reads a pattern.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let text = string(json, at, problems)?;
        let pattern = Self::parse(text);
        if pattern.is_none() {
            problems.expected(at, PATTERN_SHAPE);
        }
        pattern
    }

    /// Returns every pattern that matches `resource`, as text: the keys by which a store finds rules.
    pub fn matching(resource: &str) -> [String; 3] {
        let name = split_resource(resource).map_or(resource, |(name, _)| name);
        [resource.to_owned(), format!("{name}:*"), "*".to_owned()]
    }

    /// Returns whether the pattern matches `resource`.
    pub fn matches(&self, resource: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Name(own) => split_resource(resource).is_some_and(|(name, _)| name == own),
            Self::Exact(own) => own == resource,
        }
    }

    /// Returns whether every resource that `other` matches is one that this pattern matches.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Name(own), Self::Name(name)) => own == name,
            (own, Self::Exact(resource)) => own.matches(resource),
            _ => false,
        }
    }
}

impl fmt::Display for ResourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Name(name) => write!(f, "{name}:*"),
            Self::Exact(resource) => f.write_str(resource),
        }
    }
}

impl Serialize for ResourcePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'d> Deserialize<'d> for ResourcePattern {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a pattern of resources"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_at_the_last_colon() {
        assert_eq!(split_resource("chart:read"), Some(("chart", "read")));
        assert_eq!(split_resource("a:b:c"), Some(("a:b", "c")));
        for bad in
            ["", "chart", ":", "chart:", ":read", "cha rt:read", "chart:re\nad", "a\u{a0}b:c"]
        {
            assert_eq!(split_resource(bad), None, "{bad:?}");
        }
        assert!(split_resource(&format!("{}:v", "ä".repeat(254))).is_some());
        assert!(split_resource(&format!("{}:v", "ä".repeat(255))).is_none());
    }

    #[test]
    fn a_star_stands_only_where_a_pattern_has_one() {
        assert_eq!(ResourcePattern::parse("*"), Some(ResourcePattern::Any));
        assert_eq!(ResourcePattern::parse("a:b:*"), Some(ResourcePattern::Name("a:b".into())));
        assert_eq!(ResourcePattern::parse("a:b"), Some(ResourcePattern::Exact("a:b".into())));
        for bad in ["**", "*:read", "*:*", "a*:b", "a:b*", "a:**", "a", ""] {
            assert_eq!(ResourcePattern::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn patterns_cover_narrower_ones() {
        let covers = |wide: &str, narrow: &str| {
            let [wide, narrow] = [wide, narrow].map(ResourcePattern::parse);
            wide.zip(narrow).is_some_and(|(wide, narrow)| wide.covers(&narrow))
        };
        for (wide, narrow, expected) in [
            ("*", "*", true),
            ("*", "a:*", true),
            ("*", "a:b", true),
            ("a:*", "a:*", true),
            ("a:*", "a:b", true),
            ("a:*", "a:b:c", false),
            ("a:*", "*", false),
            ("a:b", "a:b", true),
            ("a:b", "a:*", false),
            ("a:b", "a:c", false),
        ] {
            assert_eq!(covers(wide, narrow), expected, "{wide} covers {narrow}");
        }
    }

    #[test]
    fn patterns_match_what_they_say() {
        let matches = |pattern: &str, resource: &str| {
            ResourcePattern::parse(pattern).is_some_and(|pattern| pattern.matches(resource))
        };
        assert!(matches("*", "a:b"));
        assert!(matches("a:*", "a:b"));
        assert!(!matches("a:*", "a:b:c"));
        assert!(matches("a:b:*", "a:b:c"));
        assert!(!matches("a:*", "ab:c"));
        assert!(matches("a:b", "a:b"));
        assert!(!matches("a:b", "a:c"));
        for text in ResourcePattern::matching("a:b:c") {
            assert!(matches(&text, "a:b:c"), "{text}");
        }
    }
}
