//! JSON as a reader goes through it: once, from front to back.
//!
//! A reader is written once, for both sources. [`PlainText`] is fast: it has no tree, and gives up at the first fault and at
//! each rare form, where a read returns `None`. [`Tree`] has every form, and notes every fault.

use crate::fields::{boolean, string, typed};
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::plain_text::PlainText;

/// JSON, and the value in it that is read next.
pub trait Source<'j> {
    /// Reads an object; `None` if the value is another one. `member` gets the place and the name of each member, and reads its
    /// value. A source may give the `known` members first, in this order.
    fn object(
        &mut self,
        at: &Place<'_>,
        known: &[&str],
        member: impl FnMut(&mut Self, &Place<'_>, &'j str) -> Option<()>,
    ) -> Option<()>;

    /// Reads an array of at most `most` items; `None` if the value is another one. `item` gets the place of each item, and reads
    /// it. `what` completes "expected …".
    fn array(
        &mut self,
        at: &Place<'_>,
        what: &str,
        most: usize,
        item: impl FnMut(&mut Self, &Place<'_>) -> Option<()>,
    ) -> Option<()>;

    /// Reads a string of any length.
    fn string(&mut self, at: &Place<'_>) -> Option<&'j str>;

    /// Reads `true` or `false`.
    fn boolean(&mut self, at: &Place<'_>) -> Option<bool>;

    /// Reads a string, a number or a boolean. Notes nothing if the value is another one.
    fn scalar(&mut self) -> Option<Json<'j>>;

    /// Returns whether the value is an array.
    fn is_array(&mut self) -> bool;

    /// Returns whether the value is an object.
    fn is_object(&mut self) -> bool;

    /// Returns whether the value is `null`. A text with `null` gives up instead.
    fn is_null(&self) -> bool;

    /// Returns the tree of the value, and the faults that were noted; `None` without a tree.
    fn tree(&mut self) -> Option<(&'j Json<'j>, &mut Problems)>;

    /// Reads by `read`. Returns the faults that this notes apart from the others.
    fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, Problems);

    /// Notes a fault by `note`, or gives up. Returns `None`.
    fn fault<T>(&mut self, note: impl FnOnce(&mut Problems)) -> Option<T> {
        let (_, problems) = self.tree()?;
        note(problems);
        None
    }

    /// Passes over the value, or gives up.
    fn ignore(&mut self) -> Option<()> {
        self.tree().map(drop)
    }
}

impl<'j> Source<'j> for PlainText<'j> {
    #[inline]
    fn object(
        &mut self,
        at: &Place<'_>,
        _: &[&str],
        mut member: impl FnMut(&mut Self, &Place<'_>, &'j str) -> Option<()>,
    ) -> Option<()> {
        // Nobody asks for the place, because this source notes no faults.
        self.object(|text, name| member(text, at, name))
    }

    #[inline]
    fn array(
        &mut self,
        at: &Place<'_>,
        _: &str,
        most: usize,
        mut item: impl FnMut(&mut Self, &Place<'_>) -> Option<()>,
    ) -> Option<()> {
        let mut left = most;
        self.array(|text| {
            // More than `most` is a fault, and the tree words it.
            left = left.checked_sub(1)?;
            item(text, at)
        })
    }

    #[inline]
    fn string(&mut self, _: &Place<'_>) -> Option<&'j str> {
        self.string()
    }

    fn boolean(&mut self, _: &Place<'_>) -> Option<bool> {
        self.boolean()
    }

    #[inline]
    fn scalar(&mut self) -> Option<Json<'j>> {
        if self.is_at_boolean() {
            return self.boolean().map(Json::Bool);
        }
        self.string_or_number()
    }

    #[inline]
    fn is_array(&mut self) -> bool {
        self.next_is(b'[')
    }

    #[inline]
    fn is_object(&mut self) -> bool {
        self.next_is(b'{')
    }

    #[inline]
    fn is_null(&self) -> bool {
        false
    }

    #[inline]
    fn tree(&mut self) -> Option<(&'j Json<'j>, &mut Problems)> {
        None
    }

    #[inline]
    fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, Problems) {
        (read(self), Problems::default())
    }
}

/// A tree of JSON, while it is read.
#[derive(Debug)]
pub struct Tree<'j, 'p> {
    json: &'j Json<'j>,
    problems: &'p mut Problems,
}

impl<'j, 'p> Tree<'j, 'p> {
    /// Begins to read `json`. Notes faults in `problems`.
    pub fn new(json: &'j Json<'j>, problems: &'p mut Problems) -> Self {
        Self { json, problems }
    }

    /// Reads a part of the value by `read`.
    fn part(&mut self, part: &'j Json<'j>, read: impl FnOnce(&mut Self) -> Option<()>) {
        let whole = std::mem::replace(&mut self.json, part);
        // Other parts are read in any case, so that all faults are noted.
        let _ = read(self);
        self.json = whole;
    }
}

impl<'j> Source<'j> for Tree<'j, '_> {
    fn object(
        &mut self,
        at: &Place<'_>,
        known: &[&str],
        mut member: impl FnMut(&mut Self, &Place<'_>, &'j str) -> Option<()>,
    ) -> Option<()> {
        let members = typed(self.json.as_object(), "an object", self.json, at, self.problems)?;
        let first = known.iter().filter_map(|name| members.iter().find(|(key, _)| key == name));
        let rest = members.iter().filter(|(key, _)| !known.contains(&&**key));
        for (name, value) in first.chain(rest) {
            self.part(value, |tree| member(tree, &at.key(name), name));
        }
        Some(())
    }

    fn array(
        &mut self,
        at: &Place<'_>,
        what: &str,
        most: usize,
        mut item: impl FnMut(&mut Self, &Place<'_>) -> Option<()>,
    ) -> Option<()> {
        let items = typed(self.json.as_array(), what, self.json, at, self.problems)?;
        if items.len() > most {
            let about = format!("at most {most} values, not {}", items.len());
            return self.fault(|problems| problems.expected(at, about));
        }
        for (index, value) in items.iter().enumerate() {
            self.part(value, |tree| item(tree, &at.index(index)));
        }
        Some(())
    }

    fn string(&mut self, at: &Place<'_>) -> Option<&'j str> {
        string(self.json, at, self.problems)
    }

    fn boolean(&mut self, at: &Place<'_>) -> Option<bool> {
        boolean(self.json, at, self.problems)
    }

    fn scalar(&mut self) -> Option<Json<'j>> {
        self.json.as_scalar()
    }

    fn is_array(&mut self) -> bool {
        matches!(self.json, Json::Array(_))
    }

    fn is_object(&mut self) -> bool {
        matches!(self.json, Json::Object(_))
    }

    fn is_null(&self) -> bool {
        *self.json == Json::Null
    }

    fn tree(&mut self) -> Option<(&'j Json<'j>, &mut Problems)> {
        Some((self.json, self.problems))
    }

    fn apart<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, Problems) {
        let others = std::mem::take(self.problems);
        let read = read(self);
        (read, std::mem::replace(self.problems, others))
    }
}
