//! Words of expressions and matchers: letters, digits and `_`, without a digit at the start.

/// Returns whether a word may begin with the character.
pub(crate) fn starts_word(char: char) -> bool {
    char.is_alphabetic() || char == '_'
}

/// Returns whether a word may have the character.
pub(crate) fn in_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns whether the whole text is one word.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(starts_word) && text.chars().all(in_word)
}
