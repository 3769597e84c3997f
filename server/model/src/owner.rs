//! Owners of managed objects (`docs/semantics.md`, section 10.2).

use crate::fields::parsed;
use crate::input::Field;
use crate::schema;

/// Longest name of an owner, in characters.
pub const MAX_OWNER: usize = 256;

/// The name of an owner, such as `git:github.com/acme/authz`.
pub fn owner<'j>() -> impl Field<'j, Value = String> {
    parsed(
        |text| is_owner(text).then(|| text.to_owned()),
        || format!("1 to {MAX_OWNER} printable characters without white space"),
        || schema::text(MAX_OWNER).pattern(Some(r"^[!-~\u00a1-\uffff]+$")),
    )
}

/// Returns whether `text` can name an owner: 1 to 256 printable characters without white space.
pub fn is_owner(text: &str) -> bool {
    (1..=MAX_OWNER).contains(&text.chars().count())
        && text.chars().all(|c| !c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_one_printable_word() {
        for (text, expected) in [
            ("git:github.com/acme/authz", true),
            ("ä", true),
            ("", false),
            ("a b", false),
            ("a\u{a0}b", false),
            ("a\n", false),
            ("a\u{7f}", false),
        ] {
            assert_eq!(is_owner(text), expected, "{text:?}");
        }
        assert!(is_owner(&"x".repeat(MAX_OWNER)));
        assert!(!is_owner(&"x".repeat(MAX_OWNER + 1)));
    }
}
