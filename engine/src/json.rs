//! Strict JSON: a borrowed tree without texts that two readers could interpret differently.
//!
//! `serde_json` parses the text. This module keeps every member of an object, so that it finds a duplicate key instead
//! of silently replacing it. It names each fault by its JSON pointer (RFC 6901).

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde::{Serialize, Serializer};

use crate::excerpt::quoted;
use crate::invalid::{Invalid, Place, Problems};
use crate::number::Number;

/// A JSON value. Borrows its strings from the text, except those with escapes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A finite number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object, with its members in the order of the text.
    #[serde(serialize_with = "write_members")]
    Object(Vec<Member<'a>>),
}

/// One member of an object: name and value.
pub type Member<'a> = (Cow<'a, str>, Json<'a>);

/// The maximum nesting of arrays and objects (`docs/semantics.md`, section 8.1).
pub const MAX_DEPTH: usize = 128;

/// The reason to refuse a text.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text is not JSON, is not UTF-8, or nests deeper than [`MAX_DEPTH`].
    #[error("the text is not valid JSON: {0}")]
    Syntax(String),
    /// The text is JSON, but contains a duplicate key, U+0000, or a number that is too large for a double.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Parses `text`. Refuses duplicate keys and U+0000 anywhere in it.
///
/// # Errors
/// The syntax error, or every other fault by JSON pointer.
pub fn parse(text: &[u8]) -> Result<Json<'_>, JsonError> {
    let mut parser = serde_json::Deserializer::from_slice(text);
    // serde_json's own limit is 127 and cannot be changed; `TreeSeed` enforces ours.
    parser.disable_recursion_limit();
    let json = Json::deserialize(&mut parser).and_then(|json| parser.end().map(|()| json));
    let json = json.map_err(parse_error)?;
    check(&json)?;
    Ok(json)
}

/// Finds the faults that [`parse`] refuses, in a tree that was read from another format.
///
/// # Errors
/// Every fault, by JSON pointer.
pub fn check(json: &Json<'_>) -> Result<(), Invalid> {
    let mut problems = Problems::default();
    json.find_faults(&Place::root(), &mut problems);
    problems.into_result()
}

/// Converts an error of `serde_json`, which reports a number out of range as a syntax error. For a client it is a
/// fault of the content.
fn parse_error(error: serde_json::Error) -> JsonError {
    let message = error.to_string();
    if message.starts_with("number out of range") {
        let mut problems = Problems::default();
        problems.expected(&Place::root(), format!("numbers that a double can hold: {message}"));
        JsonError::Invalid(problems.into())
    } else {
        JsonError::Syntax(message)
    }
}

impl<'a> Json<'a> {
    /// Returns the string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns a copy without a copy of its text, if it is a string, a number or a boolean.
    pub(crate) fn as_scalar(&self) -> Option<Json<'_>> {
        match self {
            Self::String(text) => Some(Json::String(Cow::Borrowed(text))),
            Self::Number(number) => Some(Json::Number(*number)),
            Self::Bool(value) => Some(Json::Bool(*value)),
            Self::Null | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Returns the items, if it is an array.
    pub fn as_array(&self) -> Option<&[Json<'a>]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the members, if it is an object.
    pub fn as_object(&self) -> Option<&[Member<'a>]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value of the member `name`, if it is an object with that member.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.as_object()?.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the claim at `path`. Reads `path` first as one literal member name, then as a dotted path, in which `\.` is a
    /// dot of a name (`docs/semantics.md`, section 4.3). A `null` counts as absent.
    pub fn claim(&self, path: &str) -> Option<&Json<'a>> {
        let literal = self.get(path).filter(|value| !value.is_null());
        let claim = literal.or_else(|| self.at_path(path))?;
        (!claim.is_null()).then_some(claim)
    }

    /// Returns the member at a dotted path.
    fn at_path(&self, path: &str) -> Option<&Json<'a>> {
        let (segment, rest) = split_at_dot(path);
        let found = self.as_object()?.iter().find(|(name, _)| is_name(segment, name));
        let (_, value) = found?;
        rest.map_or(Some(value), |rest| value.at_path(rest))
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the type of the value in words, for an error message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Copies all borrowed strings.
    pub fn into_owned(self) -> Json<'static> {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(value),
            Self::Number(number) => Json::Number(number),
            Self::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Self::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (Cow::Owned(key.into_owned()), value.into_owned()))
                    .collect(),
            ),
        }
    }

    fn find_faults(&self, at: &Place<'_>, problems: &mut Problems) {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
            Self::String(text) => find_nul(text, at, problems),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.find_faults(&at.index(index), problems);
                }
            }
            Self::Object(members) => {
                find_duplicates(members, at, problems);
                for (key, value) in members {
                    let at = at.key(key);
                    find_nul(key, &at, problems);
                    value.find_faults(&at, problems);
                }
            }
        }
    }
}

fn find_nul(text: &str, at: &Place<'_>, problems: &mut Problems) {
    if text.contains('\0') {
        problems.expected(at, "text without the character U+0000");
    }
}

fn find_duplicates(members: &[Member<'_>], at: &Place<'_>, problems: &mut Problems) {
    if are_few_and_distinct(members) {
        return;
    }
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| &**key).collect();
    keys.sort_unstable();
    for pair in keys.windows(2) {
        if pair[0] == pair[1] {
            let what = format!("no member twice, but {} is there twice", quoted(pair[0]));
            problems.expected(at, what);
        }
    }
}

/// Returns whether the names are distinct. False for many members, which are compared faster when they are sorted.
fn are_few_and_distinct(members: &[Member<'_>]) -> bool {
    const FEW: usize = 8;
    if members.len() > FEW {
        return false;
    }
    let mut numbered = members.iter().enumerate();
    numbered.all(|(index, (key, _))| members.iter().take(index).all(|(own, _)| own != key))
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TreeSeed { levels_left: MAX_DEPTH }.deserialize(deserializer)
    }
}

/// Reads a tree that nests at most `levels_left` levels deeper.
#[derive(Clone, Copy)]
struct TreeSeed {
    levels_left: usize,
}

impl TreeSeed {
    fn one_level_deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let levels_left = self.levels_left.checked_sub(1);
        levels_left
            .map(|levels_left| Self { levels_left })
            .ok_or_else(|| E::custom(format!("it nests deeper than {MAX_DEPTH} levels")))
    }
}

impl<'de> DeserializeSeed<'de> for TreeSeed {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TreeSeed {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        Number::from_f64(value)
            .map(Json::Number)
            .ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Json::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Json::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let item = self.one_level_deeper()?;
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(item)? {
            push_exactly(&mut items, item);
        }
        items.shrink_to_fit();
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let value = self.one_level_deeper()?;
        let mut members = Vec::new();
        // The seed reads any value, so that a name without escapes is borrowed from the text.
        while let Some(key) = map.next_key_seed(value)? {
            let Json::String(key) = key else {
                return Err(A::Error::custom("the name of a member must be a string"));
            };
            push_exactly(&mut members, (key, map.next_value_seed(value)?));
        }
        members.shrink_to_fit();
        Ok(Json::Object(members))
    }
}

/// Appends `item`. Makes room for one, then for four, then doubles the room when it is used up.
///
/// `Vec::push` begins with room for four. A body that nests very many lists of one item would take four times the
/// memory: an allocator does not use again the small rests that shrinking leaves.
fn push_exactly<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        let more = if items.is_empty() { 1 } else { items.len().max(3) };
        items.reserve_exact(more);
    }
    items.push(item);
}

fn write_members<S: Serializer>(members: &[Member<'_>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(members.iter().map(|(key, value)| (key, value)))
}

impl fmt::Display for Json<'_> {
    /// Writes compact JSON text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// Splits a path at its first dot that no backslash precedes.
pub fn split_at_dot(path: &str) -> (&str, Option<&str>) {
    let mut dots = path.match_indices('.').map(|(at, _)| at);
    match dots.find(|at| !path[..*at].ends_with('\\')) {
        Some(at) => (&path[..at], Some(&path[at + 1..])),
        None => (path, None),
    }
}

/// Returns whether a segment of a path, in which each dot is written as `\.`, is the name `name`.
fn is_name(segment: &str, name: &str) -> bool {
    segment.split("\\.").eq(name.split('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = parse(text.as_bytes()).expect_err("the text must be refused");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }

    #[test]
    fn text_round_trips_and_borrows() {
        let text = r#"{"a":[1,-2,0.5,"x",true,null],"b":{"c":"d"}}"#;
        let json = parse(text.as_bytes()).expect("valid");
        assert_eq!(json.to_string(), text);
        let text = json.get("b").and_then(|b| b.get("c"));
        assert!(matches!(text, Some(Json::String(Cow::Borrowed("d")))));
    }

    #[test]
    fn duplicates_nul_depth_and_overflow_are_refused() {
        refused(r#"{"dom":"x","dom":"y"}"#, "`dom` is there twice");
        refused(r#"{"a":[{"b":1,"\u0062":2}]}"#, "/a/0");
        refused(r#"{"a":"x\u0000"}"#, "U+0000");
        refused(r#"{"a\u0000":1}"#, "U+0000");
        refused("1e400", "a double can hold");
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        refused(&nested(MAX_DEPTH + 1), "deeper than 128 levels");
        refused(&"{\"a\":".repeat(100_000), "deeper than 128 levels");
        refused("[1,]", "is not valid JSON");
        refused("{} {}", "trailing characters");
        refused("NaN", "is not valid JSON");
    }

    #[test]
    fn a_claim_is_a_literal_name_first_and_a_path_second() {
        let claims = br#"{"a.b":"literal","a":{"b":"path","c":{"d":1}},"n":null}"#;
        let claims = parse(claims).expect("valid");
        assert_eq!(claims.claim("a.b").and_then(Json::as_str), Some("literal"));
        assert!(claims.claim("a.c.d").is_some());
        assert!(claims.claim("a.x").is_none());
        assert!(claims.claim("n").is_none());
        let claims = parse(br#"{"a.b":null,"a":{"b":"path"}}"#).expect("valid");
        assert_eq!(claims.claim("a.b").and_then(Json::as_str), Some("path"));
    }

    #[test]
    fn an_escaped_dot_of_a_path_is_part_of_a_name() {
        let claims = br#"{"https://acme.example/x":{"a.b.c":{"d":1},"r":2},"t.":{"u":3},"p\\.q":4,"b\\":{"c":5}}"#;
        let claims = parse(claims).expect("valid");
        for (path, expected) in [
            (r"https://acme\.example/x.r", Some("2")),
            (r"https://acme\.example/x.a\.b\.c.d", Some("1")),
            (r"https://acme\.example/x.a.b\.c.d", None),
            (r"https://acme.example/x.r", None),
            (r"t\..u", Some("3")),
            // A literal name goes first, and a backslash before another character is one.
            (r"p\.q", Some("4")),
            (r"b\.c", None),
            (r"\.", None),
            ("", None),
            (".", None),
        ] {
            let found = claims.claim(path).map(ToString::to_string);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }
}
