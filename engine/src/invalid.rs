//! The one error type of all validation in the engine: the faults of an input, each with its place.

use std::fmt;

/// The maximum number of problems that are kept, because the list goes back to the client.
const MAX_PROBLEMS: usize = 4_000;

/// A refused input: every problem that was found, in the order of the input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Invalid {
    /// Never empty.
    problems: Vec<Problem>,
}

/// One problem at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer (RFC 6901) into the input. A missing member is named at the node that misses it.
    pub path: String,
    /// The fault at that place.
    pub fault: Fault,
}

/// A fault at one place of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The object lacks this member.
    Missing(&'static str),
    /// The object has this unknown member.
    Unknown(String),
    /// The value is of another type or form; the text completes "expected …".
    Expected(String),
    /// The value is an expression with a fault at one of its tokens.
    Token {
        /// Completes "expected …".
        expected: String,
        /// The token as written; empty at the end of the expression.
        token: String,
        /// The number of characters before the token.
        position: usize,
    },
}

impl Invalid {
    /// Returns every problem, in the order of the input.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Makes an error with one problem at `path`; `expected` completes "expected …".
    pub fn expected(path: impl Into<String>, expected: impl Into<String>) -> Self {
        let fault = Fault::Expected(expected.into());
        Self { problems: vec![Problem { path: path.into(), fault }] }
    }

    /// Prefixes every path with the JSON pointer `parent`, for an input that is part of a larger one.
    pub fn under(mut self, parent: &str) -> Self {
        for problem in &mut self.problems {
            problem.path.insert_str(0, parent);
        }
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(3).enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        match self.problems.len().saturating_sub(3) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "at `{}`: ", self.path)?;
        }
        self.fault.fmt(f)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "field `{name}` is missing"),
            Self::Unknown(name) => write!(f, "field `{name}` is unknown"),
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Token { expected, token, position } if token.is_empty() => {
                write!(f, "expected {expected}, where the text ends at position {position}")
            }
            Self::Token { expected, token, position } => {
                write!(f, "expected {expected}, not `{token}` at position {position}")
            }
        }
    }
}

/// Collects problems while an input is read, so that one answer names them all.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Notes that the object at `at` lacks `name`.
    pub fn missing(&mut self, at: &Place<'_>, name: &'static str) {
        self.push(at, Fault::Missing(name));
    }

    /// Notes that the object at `at` has an unknown member `name`.
    pub fn unknown(&mut self, at: &Place<'_>, name: &str) {
        self.push(at, Fault::Unknown(name.to_owned()));
    }

    /// Notes that the value at `at` is not `what`, which completes "expected …".
    pub fn expected(&mut self, at: &Place<'_>, what: impl Into<String>) {
        self.push(at, Fault::Expected(what.into()));
    }

    /// Notes that the value at `at` has this fault.
    pub(crate) fn push(&mut self, at: &Place<'_>, fault: Fault) {
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(Problem { path: at.to_string(), fault });
        }
    }

    /// Returns `Ok` if no problem was noted.
    ///
    /// # Errors
    /// The noted problems.
    pub fn into_result(self) -> Result<(), Invalid> {
        if self.0.is_empty() { Ok(()) } else { Err(self.into()) }
    }

    /// Returns the value that was read, if no problem was noted. A reader that returns no value must note a problem; if
    /// one does not, the input is refused with a general message.
    ///
    /// # Errors
    /// The noted problems.
    pub fn finish<T>(mut self, read: Option<T>) -> Result<T, Invalid> {
        match read {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => {
                if self.0.is_empty() {
                    self.expected(&Place::root(), "a valid value");
                }
                Err(self.into())
            }
        }
    }
}

impl From<Problems> for Invalid {
    fn from(problems: Problems) -> Self {
        Self { problems: problems.0 }
    }
}

/// A place in an input: a JSON pointer that is written out only for a fault.
#[derive(Debug)]
pub struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    step: Step<'p>,
}

#[derive(Debug)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl Place<'static> {
    /// Returns the place of the whole input.
    pub fn root() -> Self {
        Self { parent: None, step: Step::Root }
    }
}

impl<'p> Place<'p> {
    /// Returns the place of the member `key` of the object here.
    pub fn key(&'p self, key: &'p str) -> Place<'p> {
        Place { parent: Some(self), step: Step::Key(key) }
    }

    /// Returns the place of the item `index` of the array here.
    pub fn index(&'p self, index: usize) -> Place<'p> {
        Place { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Key(key) => write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => write!(f, "/{index}"),
        }
    }
}
