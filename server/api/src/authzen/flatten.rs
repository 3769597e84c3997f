//! Properties of AuthZEN entities become attributes: nested objects by dotted path (`docs/semantics.md`, section 11.6).

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};

use portcullis_engine::Json;
use portcullis_engine::json::Member;

/// The most bytes of the dotted names of one request. Without it a long name around many members would take the product
/// of both.
pub(super) const MAX_NAMES: usize = 1 << 20;

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

/// A name and its value.
type Property<'j> = (Cow<'j, str>, &'j Json<'j>);

/// Returns the properties of an object: each member by its name, and each member of an object inside by its dotted path. Of two
/// with one name, the one that nests less counts.
///
/// Returns `None` if the budget is spent.
pub(super) fn flattened<'j>(
    members: &'j [Member<'j>],
    budget: &mut NameBudget,
) -> Option<impl Iterator<Item = Property<'j>> + use<'j>> {
    let own = members.iter().map(|(name, value)| (Cow::Borrowed(&**name), value));
    let has_objects = members.iter().any(|(_, value)| value.as_object().is_some());
    let inside = if has_objects { inside(members, budget)? } else { Vec::new() };
    Some(own.chain(inside))
}

/// Returns the properties that are inside of members.
fn inside<'j>(members: &'j [Member<'j>], budget: &mut NameBudget) -> Option<Vec<Property<'j>>> {
    let mut found = Vec::new();
    let mut names: HashSet<String> = members.iter().map(|(name, _)| name.to_string()).collect();
    let mut queue: VecDeque<(String, &'j [Member<'j>])> = nested("", members).collect();
    // Level by level, so that of two equal paths the one that nests less is found first.
    while let Some((prefix, members)) = queue.pop_front() {
        for (name, value) in members {
            budget.take(prefix.len() + name.len())?;
            let path = format!("{prefix}{name}");
            if names.insert(path.clone()) {
                found.push((Cow::Owned(path), value));
            }
        }
        for (prefix, members) in nested(&prefix, members) {
            // A prefix takes memory even if its object is empty.
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

#[cfg(test)]
mod tests {
    use portcullis_engine::json::parse;

    use super::*;

    fn flat(text: &str) -> Option<String> {
        let json = parse(text.as_bytes()).expect("JSON");
        let members = json.as_object().expect("an object");
        let found = flattened(members, &mut NameBudget::default())?;
        let shown: Vec<_> = found.map(|(name, value)| format!("{name}={value}")).collect();
        Some(shown.join(" "))
    }

    #[test]
    fn nested_objects_have_dotted_paths() {
        for (text, expected) in [
            (r#"{}"#, ""),
            (r#"{"a":1,"b":"x","c":null,"d":["x",{}]}"#, r#"a=1 b="x" c=null d=["x",{}]"#),
            (r#"{"a":{"b":{"c":true}}}"#, r#"a={"b":{"c":true}} a.b={"c":true} a.b.c=true"#),
            // The one that nests less counts, `null` too.
            (r#"{"a":{"b":1},"a.b":2}"#, r#"a={"b":1} a.b=2"#),
            (r#"{"a":{"b":1},"a.b":null}"#, r#"a={"b":1} a.b=null"#),
            (r#"{"a":{"b":{"c":1},"b.c":2}}"#, r#"a={"b":{"c":1},"b.c":2} a.b={"c":1} a.b.c=2"#),
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
