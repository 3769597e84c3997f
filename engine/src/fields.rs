//! Reads objects member by member, and notes every missing, unknown or ill-typed member.
//!
//! ```
//! use portcullis_engine::fields::{self, boolean, text};
//!
//! let json = portcullis_engine::json::parse(br#"{"name": "", "enabeld": true}"#)?;
//! let read = fields::parse(&json, |fields| {
//!     let name = fields.required("name", text(10));
//!     let enabled = fields.optional("enabled", boolean);
//!     Some((name?, enabled))
//! });
//! assert_eq!(read.unwrap_err().to_string(), "at `/name`: expected 1 to 10 characters; field `enabeld` is unknown; \
//!     did you mean `enabled`?");
//! # Ok::<(), portcullis_engine::json::JsonError>(())
//! ```

use smallvec::SmallVec;

use crate::invalid::{Fault, Invalid, Place, Problems};
use crate::json::{Json, Member};

/// The body of a request, which is one object.
pub trait Body<'r>: Sized {
    /// Reads the members.
    fn read(fields: &mut Fields<'r, '_>) -> Option<Self>;

    /// Reads the body.
    ///
    /// # Errors
    /// Every missing, unknown or ill-typed field, by JSON pointer.
    fn parse(json: &'r Json<'r>) -> Result<Self, Invalid> {
        parse(json, Self::read)
    }
}

/// Reads a member of a body that only some readers know; `None` if it is absent or has a fault.
pub type ReadBeside<T> = fn(&mut Fields<'_, '_>) -> Option<T>;

/// The members of one object, while they are read.
#[derive(Debug)]
pub struct Fields<'j, 'p> {
    members: &'j [Member<'j>],
    at: &'p Place<'p>,
    problems: &'p mut Problems,
    /// The names that were asked for. Most objects have no more: they take no allocation.
    known: SmallVec<[&'static str; 8]>,
}

impl<'j, 'p> Fields<'j, 'p> {
    /// Opens the object `json`. Returns `None` and notes a problem if it is not an object.
    pub fn open(json: &'j Json<'j>, at: &'p Place<'p>, problems: &'p mut Problems) -> Option<Self> {
        let Some(members) = json.as_object() else {
            problems.expected(at, format!("an object, not {}", json.kind()));
            return None;
        };
        Some(Self { members, at, problems, known: SmallVec::new() })
    }

    fn find(&mut self, name: &'static str) -> Option<&'j Json<'j>> {
        self.known.push(name);
        self.members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns whether the object has the member, with any value.
    pub fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(key, _)| key == name)
    }

    /// Reads a required member; `null` counts as absent. `None` means that a problem was noted.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        match self.find(name) {
            None | Some(Json::Null) => {
                self.problems.missing(self.at, name);
                None
            }
            Some(value) => read(value, &self.at.key(name), self.problems),
        }
    }

    /// Reads an optional member; `null` counts as absent. `None` means that it is absent or that a problem was noted.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        match self.find(name) {
            None | Some(Json::Null) => None,
            Some(value) => read(value, &self.at.key(name), self.problems),
        }
    }

    /// Reads a member of an update. An absent member leaves the record unchanged, and `null` is a fault.
    pub fn change<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let value = self.find(name)?;
        read(value, &self.at.key(name), self.problems)
    }

    /// Reads a member of an update that `null` clears: `Some(None)`.
    pub fn clearable<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.find(name)? {
            Json::Null => Some(None),
            value => read(value, &self.at.key(name), self.problems).map(Some),
        }
    }

    /// Accepts the member `name` without reading it.
    pub fn skip(&mut self, name: &'static str) {
        self.known.push(name);
    }

    /// Notes the member `name`, which belongs elsewhere, if the object has it. `place` says where.
    pub fn misplaced(&mut self, name: &'static str, place: &'static str) {
        if self.has(name) {
            // Known from here on, so that `close` does not note it a second time.
            self.known.push(name);
            let fault = Fault::Unknown { name: name.to_owned(), meant: vec![place] };
            self.problems.push(self.at, fault);
        }
    }

    /// Notes a problem with the object as a whole; `what` completes "expected …".
    pub fn expected(&mut self, what: impl Into<String>) {
        self.problems.expected(self.at, what);
    }

    /// Notes a problem with the member `name`; `what` completes "expected …".
    pub fn expected_at(&mut self, name: &str, what: impl Into<String>) {
        self.problems.expected(&self.at.key(name), what);
    }

    /// Notes every member that was not read.
    pub fn close(self) {
        for (key, _) in self.members {
            if !self.known.contains(&&**key) {
                self.problems.unknown(self.at, key, &self.known);
            }
        }
    }
}

/// Reads a text whose root is an object, as [`object`] does.
///
/// # Errors
/// Every missing, unknown or ill-typed member, by JSON pointer.
pub fn parse<'j, T>(
    json: &'j Json<'j>,
    read: impl FnOnce(&mut Fields<'j, '_>) -> Option<T>,
) -> Result<T, Invalid> {
    let mut problems = Problems::default();
    let value = object(json, &Place::root(), &mut problems, read);
    problems.finish(value)
}

/// Reads the object at `at` of a larger input. A member that `read` does not name is a problem.
pub fn object<'j, T>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
    read: impl FnOnce(&mut Fields<'j, '_>) -> Option<T>,
) -> Option<T> {
    let mut fields = Fields::open(json, at, problems)?;
    let value = read(&mut fields);
    fields.close();
    value
}

/// Reads a string of 1 to `max` characters.
pub fn text<'j>(
    max: usize,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<&'j str> + Copy {
    move |json, at, problems| {
        let text = string(json, at, problems)?;
        if !within(text, max) {
            problems.expected(at, format!("1 to {max} characters"));
            return None;
        }
        Some(text)
    }
}

/// Returns whether `text` has 1 to `max` characters.
pub fn within(text: &str, max: usize) -> bool {
    // A character has one to four bytes: few texts need counting, and no long one.
    let bytes = text.len();
    bytes > 0 && bytes <= 4 * max && (bytes <= max || text.chars().count() <= max)
}

/// Reads a string of any length, including the empty one.
pub fn string<'j>(json: &'j Json<'j>, at: &Place<'_>, problems: &mut Problems) -> Option<&'j str> {
    typed(json.as_str(), "a string", json, at, problems)
}

/// Reads `true` or `false`.
pub fn boolean(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<bool> {
    let value = match json {
        Json::Bool(value) => Some(*value),
        _ => None,
    };
    typed(value, "a boolean", json, at, problems)
}

/// Reads an array, each item by `read`. Notes every faulty item.
pub fn list<'j, T>(
    read: impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<T>,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<Vec<T>> {
    move |json, at, problems| {
        let items = typed(json.as_array(), "an array", json, at, problems)?;
        let read: Vec<T> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| read(item, &at.index(index), problems))
            .collect();
        (read.len() == items.len()).then_some(read)
    }
}

/// Returns `value`. Notes that `json` is not `what` if there is none.
pub(crate) fn typed<T>(
    value: Option<T>,
    what: &str,
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<T> {
    if value.is_none() {
        problems.expected(at, format!("{what}, not {}", json.kind()));
    }
    value
}
