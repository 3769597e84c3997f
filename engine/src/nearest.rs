//! Known names in messages: all of them, and the one that a misspelt name most resembles.

use std::collections::BTreeSet;
use std::fmt;

/// The maximum length of a name that is compared, in bytes. Known names are shorter, and the input chooses the other.
const MAX_NAME: usize = 64;
/// The number of characters of a name for which one may be wrong: `efect` resembles `effect`, `x` resembles nothing.
const PER_MISTAKE: usize = 3;
/// The maximum number of names that a message lists if none is near.
const FEW: usize = 5;

/// Lists names as alternatives: "`a`, `b` or `c`".
pub fn any_of<T: fmt::Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        Some((only, _)) => only.clone(),
        None => String::new(),
    }
}

/// Returns the name of `known` that `name` most resembles, or `None` if it resembles none. One character of each three
/// may be added, left out, replaced, or exchanged with its neighbour; case does not count.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let lower = name.to_lowercase();
    let length = name.chars().count();
    let most = length / PER_MISTAKE;
    // Most names differ by their length alone, which is much faster to see.
    let known = known.into_iter();
    let known = known.filter(|known| known.chars().count().abs_diff(length) <= most);
    let distances = known.map(|known| (strsim::osa_distance(&lower, &known.to_lowercase()), known));
    let near = distances.filter(|(distance, _)| *distance <= most);
    // Of equally near names, the first one.
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Returns what follows "expected …" for an unknown name: the known one that it resembles, or all of them if they are few.
/// `shown` writes a name.
pub fn hint<'k, T: AsRef<str> + ?Sized + 'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k T>,
    shown: impl Fn(&str) -> String,
) -> String {
    // Sorted, whatever the order in which the names come.
    let known: BTreeSet<&str> = known.into_iter().map(AsRef::as_ref).collect();
    match nearest(name, known.iter().copied()) {
        Some(meant) => format!(" (did you mean `{}`?)", shown(meant)),
        None if (1..=FEW).contains(&known.len()) => {
            format!(", {}", any_of(known.into_iter().map(shown)))
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_resembles_the_right_one() {
        let known = ["effect", "sub", "obj", "defaultRoles", "starts_with", "x"];
        for (name, expected) in [
            ("efect", Some("effect")),
            ("effetc", Some("effect")),
            ("Effect", Some("effect")),
            ("default_roles", Some("defaultRoles")),
            ("start_with", Some("starts_with")),
            ("suj", Some("sub")),
            ("su", None),
            ("y", None),
            ("", None),
            ("condition", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }

    #[test]
    fn names_are_listed_as_alternatives() {
        assert_eq!(any_of(["a"]), "`a`");
        assert_eq!(any_of(["a", "b"]), "`a` or `b`");
        assert_eq!(any_of(["a", "b", "c"]), "`a`, `b` or `c`");
    }

    #[test]
    fn a_long_name_is_not_compared() {
        let known = "e".repeat(MAX_NAME);
        assert_eq!(nearest(&known, [&*known]), Some(&*known));
        let longer = format!("{known}e");
        assert_eq!(nearest(&longer, [&*known]), None);
    }
}
