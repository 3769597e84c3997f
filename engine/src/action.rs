//! The action of a check: as it was sent, or else the verb of the resource (`docs/semantics.md`, section 2.1).

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::resource::split_resource;

/// The action of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action<'r> {
    /// An action that was sent, or the verb of the resource that stands for one that was not.
    Plain(&'r str),
    /// A verb that stands for an action that was not sent, and is percent-encoded (`docs/semantics.md`, section 11.6).
    Encoded(&'r str),
}

impl<'r> Action<'r> {
    /// Returns the action of a check of `resource`: the verb of the resource if none was `sent`.
    #[inline]
    pub fn of(sent: Option<&'r str>, resource: &'r str) -> Self {
        sent.map_or_else(|| Self::verb(verb_of(resource)), Self::Plain)
    }

    /// Returns the action that a verb stands for.
    #[inline]
    pub fn verb(verb: &'r str) -> Self {
        match verb.contains('%') {
            true => Self::Encoded(verb),
            false => Self::Plain(verb),
        }
    }

    /// Returns the text of the action, decoded.
    #[inline]
    pub fn text(self) -> Cow<'r, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Encoded(verb) => decoded(verb),
        }
    }

    /// Returns the action that was sent, or else the verb as the resource has it.
    pub fn written(self) -> &'r str {
        match self {
            Self::Plain(text) | Self::Encoded(text) => text,
        }
    }

    /// Returns the verb as the resource has it, if it is encoded: rules match it, too.
    pub(crate) fn encoded(self) -> Option<&'r str> {
        match self {
            Self::Plain(_) => None,
            Self::Encoded(verb) => Some(verb),
        }
    }
}

/// Returns the verb of a resource; empty if the text does not name one.
pub fn verb_of(resource: &str) -> &str {
    split_resource(resource).map_or("", |(_, verb)| verb)
}

/// Returns whether `action` is the verb of `resource`, percent-decoded or not.
pub fn is_verb(action: &str, resource: &str) -> bool {
    let verb = verb_of(resource);
    verb == action || verb.contains('%') && *decoded(verb) == *action
}

/// Returns a verb without percent-encoding. A verb that would not be a text then, or not one of a request, stays as it is.
#[cold]
pub fn decoded(verb: &str) -> Cow<'_, str> {
    match percent_decode_str(verb).decode_utf8() {
        Ok(text) if !text.contains('\0') => text,
        _ => Cow::Borrowed(verb),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_that_was_not_sent_is_the_decoded_verb() {
        for (sent, resource, text, encoded) in [
            (None, "ticket:archive", "archive", None),
            (None, "a:b:c", "c", None),
            (Some("read"), "ticket:archive", "read", None),
            (Some("a%20b"), "ticket:a%20b", "a%20b", None),
            (None, "ticket:a%20b%3Ac", "a b:c", Some("a%20b%3Ac")),
            (None, "ticket:%C3%A4", "ä", Some("%C3%A4")),
            // Not an encoding of a text.
            (None, "ticket:100%", "100%", Some("100%")),
            (None, "ticket:%FF", "%FF", Some("%FF")),
            (None, "ticket:a%00", "a%00", Some("a%00")),
        ] {
            let action = Action::of(sent, resource);
            assert_eq!((&*action.text(), action.encoded()), (text, encoded), "{sent:?} {resource}");
        }
    }
}
