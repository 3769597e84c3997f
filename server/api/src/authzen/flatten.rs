//! Properties of AuthZEN entities become attributes: nested objects by dotted path (`docs/semantics.md`, section 11.6).

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use portcullis_engine::Json;
use portcullis_engine::json::Member;

/// The most bytes of the dotted names of one request. Without it a long name around many members would take the product
/// of both.
pub(super) const MAX_NAMES: usize = 1 << 20;

/// The attributes that an entity gets beside its properties: type and id.
const ADDED: usize = 2;

/// The bytes that the dotted names of a request may still take.
#[derive(Debug)]
pub(super) struct NameBudget(usize);

impl Default for NameBudget {
    fn default() -> Self {
        Self(MAX_NAMES)
    }
}

impl NameBudget {
    /// Takes the bytes of a name; `None` if too few are left.
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}

/// Returns the attributes of an object: each member by its name, and each member of an object inside by its dotted path.
/// Of two with one name, the one that nests less counts. `null` stays: it is an absent attribute. An object, and a list
/// of anything but strings and numbers, is a present value that no operator compares.
///
/// Returns `None` if the budget is spent.
pub(super) fn attributes<'j>(
    members: &'j [Member<'j>],
    budget: &mut NameBudget,
) -> Option<Vec<Member<'j>>> {
    let has_objects = members.iter().any(|(_, value)| value.as_object().is_some());
    let own = |(name, value): &'j Member<'j>| (Cow::Borrowed(&**name), attribute(value));
    let mut found: Vec<Member<'j>> = Vec::with_capacity(members.len() + ADDED);
    found.extend(members.iter().map(own));
    if !has_objects {
        return Some(found);
    }
    let mut names: HashSet<String> = members.iter().map(|(name, _)| name.to_string()).collect();
    let mut queue: VecDeque<(String, &'j [Member<'j>])> = nested("", members).collect();
    while let Some((prefix, members)) = queue.pop_front() {
        for (name, value) in members {
            budget.take(prefix.len() + name.len())?;
            let path = format!("{prefix}{name}");
            if names.insert(path.clone()) {
                found.push((Cow::Owned(path), attribute(value)));
            }
        }
        for (prefix, members) in nested(&prefix, members) {
            budget.take(prefix.len())?;
            queue.push_back((prefix, members));
        }
    }
    Some(found)
}

/// Returns the objects among `members`, with the prefix of the paths inside.
fn nested<'j>(
    prefix: &str,
    members: &'j [Member<'j>],
) -> impl Iterator<Item = (String, &'j [Member<'j>])> {
    members.iter().filter_map(move |(name, value)| {
        value.as_object().map(|members| (format!("{prefix}{name}."), members))
    })
}

/// Returns the value as an attribute, without a copy of its text.
fn attribute<'j>(value: &'j Json<'j>) -> Json<'j> {
    match value {
        Json::Null => Json::Null,
        Json::Bool(value) => Json::Bool(*value),
        Json::Number(number) => Json::Number(*number),
        Json::String(text) => Json::String(Cow::Borrowed(text)),
        Json::Array(items) => list(items).unwrap_or(Json::Object(Vec::new())),
        Json::Object(_) => Json::Object(Vec::new()),
    }
}

fn list<'j>(items: &'j [Json<'j>]) -> Option<Json<'j>> {
    let item = |item: &'j Json<'j>| match item {
        Json::String(_) | Json::Number(_) => Some(attribute(item)),
        _ => None,
    };
    items.iter().map(item).collect::<Option<_>>().map(Json::Array)
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json::parse;

    use super::*;

    fn flat(text: &str) -> Option<String> {
        let json = parse(text.as_bytes()).expect("JSON");
        let members = json.as_object().expect("an object");
        let found = attributes(members, &mut NameBudget::default())?;
        Some(Json::Object(found).to_string())
    }

    #[test]
    fn nested_objects_have_dotted_paths() {
        for (text, expected) in [
            (r#"{}"#, r#"{}"#),
            (r#"{"a":1,"b":"x","c":null,"d":["x",1]}"#, r#"{"a":1,"b":"x","c":null,"d":["x",1]}"#),
            (r#"{"a":{"b":{"c":true}}}"#, r#"{"a":{},"a.b":{},"a.b.c":true}"#),
            // Present, and of no type that an operator compares.
            (r#"{"a":[{"b":1}],"c":[null],"d":[true]}"#, r#"{"a":{},"c":{},"d":{}}"#),
            // The one that nests less counts, `null` too.
            (r#"{"a":{"b":1},"a.b":2}"#, r#"{"a":{},"a.b":2}"#),
            (r#"{"a":{"b":1},"a.b":null}"#, r#"{"a":{},"a.b":null}"#),
            (r#"{"a":{"b":{"c":1},"b.c":2}}"#, r#"{"a":{},"a.b":{},"a.b.c":2}"#),
        ] {
            assert_eq!(flat(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn long_names_around_many_members_spend_the_budget() {
        let members: Vec<_> = (0..2_000).map(|n| format!(r#""{n}":0"#)).collect();
        let text =
            |name: usize| format!(r#"{{"{}": {{{}}}}}"#, "n".repeat(name), members.join(","));
        assert!(flat(&text(400)).is_some());
        assert_eq!(flat(&text(600)), None);
    }
}
