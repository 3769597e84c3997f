//! The one error type of all validation in the engine: the faults of an input, each with its place.

mod place;

use std::fmt;

use crate::excerpt::{excerpt, json_len};
use crate::nearest::nearest;

pub use place::Place;

/// The maximum number of problems that are kept: nobody mends more at once.
pub(crate) const MAX_PROBLEMS: usize = 100;
/// The maximum length of a path and of each text of a problem, in bytes of JSON. The input chooses both: without a
/// limit, each problem repeats the names above it.
const MAX_TEXT: usize = 1_024;
/// The length of all problems, in bytes of JSON, after which none is kept. The answer to the client names each problem
/// up to twice, and has at most 64 KiB (`docs/semantics.md`, section 8.4).
const MAX_TOTAL: usize = 16 * 1_024;

/// The maximum number of known members that the message about an unknown one lists.
const FEW: usize = 3;

/// A refused input: the problems that were found, in the order of the input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Invalid {
    /// Never empty.
    problems: Vec<Problem>,
    /// The number of further problems.
    left_out: usize,
}

/// One problem at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer (RFC 6901) into the input. A missing member is named at the node that misses it. A path that is too
    /// long is cut, and ends with `…`.
    pub path: String,
    /// The fault at that place.
    pub fault: Fault,
}

/// A fault at one place of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The object lacks this member.
    Missing(&'static str),
    /// The object has an unknown member.
    Unknown {
        /// The member as written.
        name: String,
        /// The known members that may be meant: the one that it resembles, else all if they are few.
        meant: Vec<&'static str>,
    },
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
    /// Returns the first problems, in the order of the input.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the number of problems that [`Self::problems`] leaves out.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Makes an error with one problem at `path`; `expected` completes "expected …".
    pub fn expected(path: &str, expected: impl Into<String>) -> Self {
        let problem = Problem::new(path, Fault::Expected(expected.into()));
        Self { problems: vec![problem], left_out: 0 }
    }

    /// Makes an error about the member `name`, which this sender must send; `expected` completes "expected …".
    pub fn missing(name: &'static str, expected: &str) -> Self {
        let faults = [Fault::Missing(name), Fault::Expected(expected.to_owned())];
        Self { problems: faults.map(|fault| Problem::new("", fault)).into(), left_out: 0 }
    }

    /// Prefixes every path with the JSON pointer `parent`, for an input that is part of a larger one.
    pub fn under(mut self, parent: &str) -> Self {
        for problem in &mut self.problems {
            problem.path.insert_str(0, parent);
        }
        self
    }

    /// Returns the problems at the paths that `is_kept` accepts; `None` if there are none.
    #[must_use]
    pub fn filter_paths(mut self, is_kept: impl Fn(&str) -> bool) -> Option<Self> {
        self.problems.retain(|problem| is_kept(&problem.path));
        (!self.problems.is_empty()).then_some(self)
    }

    /// Replaces every path by what `place` returns for it, for an input that was made of another one.
    #[must_use]
    pub fn replace_paths(mut self, place: impl Fn(&str) -> String) -> Self {
        for problem in &mut self.problems {
            problem.path = place(&problem.path);
        }
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().take(3).enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        match self.problems.len().saturating_sub(3) + self.left_out {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl Problem {
    /// Makes a problem within the limits.
    fn new(path: impl fmt::Display, fault: Fault) -> Self {
        Self { path: excerpt(path, MAX_TEXT), fault: fault.within_limits() }
    }

    /// Returns the length of its texts, in bytes of JSON.
    fn json_len(&self) -> usize {
        let fault = match &self.fault {
            Fault::Missing(name) => json_len(name),
            Fault::Unknown { name, meant } => {
                json_len(name) + meant.iter().map(|name| json_len(name)).sum::<usize>()
            }
            Fault::Expected(what) => json_len(what),
            Fault::Token { expected, token, .. } => json_len(expected) + json_len(token),
        };
        json_len(&self.path) + fault
    }
}

impl Fault {
    /// Cuts texts that are too long.
    fn within_limits(self) -> Self {
        match self {
            Self::Missing(_) => self,
            Self::Unknown { name, meant } => Self::Unknown { name: cut(name), meant },
            Self::Expected(what) => Self::Expected(cut(what)),
            Self::Token { expected, token, position } => {
                Self::Token { expected: cut(expected), token: cut(token), position }
            }
        }
    }
}

fn cut(text: String) -> String {
    excerpt(text, MAX_TEXT)
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
            Self::Unknown { name, meant } => {
                write!(f, "field `{name}` is unknown")?;
                match meant.split_last() {
                    None => Ok(()),
                    Some((last, [])) => write!(f, "; did you mean `{last}`?"),
                    Some((last, others)) => {
                        write!(f, "; did you mean `{}` or `{last}`?", others.join("`, `"))
                    }
                }
            }
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

/// Collects problems while an input is read, so that one answer names many. Beyond its limits it only counts.
#[derive(Debug, Default)]
pub struct Problems {
    kept: Vec<Problem>,
    /// The length of the kept problems, in bytes of JSON.
    json_len: usize,
    left_out: usize,
}

impl Problems {
    /// Notes that the object at `at` lacks `name`.
    pub fn missing(&mut self, at: &Place<'_>, name: &'static str) {
        self.push(at, Fault::Missing(name));
    }

    /// Notes that the object at `at` has an unknown member `name`, where members are called `known`.
    pub fn unknown(&mut self, at: &Place<'_>, name: &str, known: &[&'static str]) {
        if self.is_full() {
            // Only a kept problem pays for the comparison: an input may have any number of unknown members.
            self.left_out += 1;
            return;
        }
        let meant = match nearest(name, known.iter().copied()) {
            Some(nearest) => vec![nearest],
            None if known.len() <= FEW => known.to_vec(),
            None => Vec::new(),
        };
        self.push(at, Fault::Unknown { name: name.to_owned(), meant });
    }

    /// Notes that the value at `at` is not `what`, which completes "expected …".
    pub fn expected(&mut self, at: &Place<'_>, what: impl Into<String>) {
        self.push(at, Fault::Expected(what.into()));
    }

    /// Notes that the value at `at` has this fault.
    pub fn push(&mut self, at: &Place<'_>, fault: Fault) {
        if self.is_full() {
            self.left_out += 1;
            return;
        }
        let problem = Problem::new(at, fault);
        self.json_len += problem.json_len();
        self.kept.push(problem);
    }

    /// Returns whether no problem was noted.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns whether further problems are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= MAX_PROBLEMS || self.json_len >= MAX_TOTAL
    }

    /// Returns `Ok` if no problem was noted.
    ///
    /// # Errors
    /// The noted problems.
    pub fn into_result(self) -> Result<(), Invalid> {
        if self.kept.is_empty() { Ok(()) } else { Err(self.into()) }
    }

    /// Returns the value that was read, if no problem was noted. A reader that returns no value must note a problem; if
    /// one does not, the input is refused with a general message.
    ///
    /// # Errors
    /// The noted problems.
    pub fn finish<T>(mut self, read: Option<T>) -> Result<T, Invalid> {
        match read {
            Some(value) if self.kept.is_empty() => Ok(value),
            _ => {
                if self.kept.is_empty() {
                    self.expected(&Place::root(), "a valid value");
                }
                Err(self.into())
            }
        }
    }
}

impl From<Problems> for Invalid {
    fn from(problems: Problems) -> Self {
        Self { problems: problems.kept, left_out: problems.left_out }
    }
}

#[cfg(test)]
mod tests;
