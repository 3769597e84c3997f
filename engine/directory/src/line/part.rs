//! The parts of a line.

use portcullis_engine::invalid::Fault;

/// A word of a line.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: Box<str>,
    /// The number of characters before the word.
    pub(crate) position: usize,
}

/// Words are equal wherever they stand.
impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Word {
    /// Makes the fault of a word that is not what is `expected`.
    pub(crate) fn fault(&self, expected: impl Into<String>) -> Fault {
        let token = self.text.clone().into();
        Fault::Token { expected: expected.into(), token, position: self.position }
    }
}

/// A part of a line.
#[derive(Clone, Debug)]
pub(crate) enum LinePart {
    /// `[user, group#member]`: who is stored.
    Stored(Vec<StoredSubjects>),
    /// `viewer`: a relation of the same object. `parent.viewer`: the relation `viewer` of the objects in `parent`.
    Path(Vec<Word>),
    /// Two or more parts, none of which is an [`LinePart::Any`].
    Any(Vec<LinePart>),
    /// Two or more factors, one of which is positive. No positive one is a [`LinePart::All`].
    All(Vec<Factor>),
}

/// A factor of [`LinePart::All`].
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    pub(crate) part: LinePart,
    /// The place of the `!` before it.
    pub(crate) negation: Option<usize>,
}

/// Subjects that can be stored: an item between `[` and `]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredSubjects {
    pub(crate) subject_type: Word,
    pub(crate) which: Subjects,
}

/// The subjects that one tuple names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Subjects {
    /// `user`: one subject.
    One,
    /// `group#member`: all who have the relation to one object.
    Related(Word),
    /// `user:*`: everybody of the type.
    Everyone,
}
