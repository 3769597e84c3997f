//! JSON text, written straight into a buffer: the way of a check allocates nothing.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::sync::Arc;

use chrono::DateTime;
use portcullis_engine::Json;
use portcullis_engine::value::AttributeValue;
use portcullis_model::Timestamp;
use portcullis_model::decision::Treatment;
use portcullis_model::relation::NewTuple;

use crate::bounds::{Bounds, fits};
use crate::minimisation::Minimisation;
use crate::shared::{BatchTexts, PLACEHOLDER, SentKey, SentText, SharedText, TextUse};

/// Writes the members of one JSON object.
#[derive(Debug)]
pub struct RecordMembers<'b> {
    out: &'b mut Vec<u8>,
    empty: bool,
    /// The treatments of attributes; `None` if every attribute is kept.
    terms: Option<&'b Minimisation>,
    /// The texts of the records of the batch.
    texts: Option<&'b BatchTexts>,
    bounds: &'b mut Bounds,
}

/// Writes the items of a JSON array of texts.
#[derive(Debug)]
pub struct RecordTexts<'b>(&'b mut Vec<u8>);

impl<'b> RecordMembers<'b> {
    pub(crate) fn begin(
        out: &'b mut Vec<u8>,
        (terms, texts): (Option<&'b Minimisation>, Option<&'b BatchTexts>),
        bounds: &'b mut Bounds,
    ) -> Self {
        out.push(b'{');
        Self { out, empty: true, terms, texts, bounds }
    }

    /// Returns the members that follow others of the same object.
    pub(crate) fn following(out: &'b mut Vec<u8>, bounds: &'b mut Bounds) -> Self {
        Self { out, empty: false, terms: None, texts: None, bounds }
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }

    /// Writes a text.
    pub fn text(&mut self, name: &str, text: &str) {
        quote(self.named(name), text);
    }

    /// Writes a boolean.
    pub fn boolean(&mut self, name: &str, value: bool) {
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.named(name).extend_from_slice(text);
    }

    /// Writes an integer.
    pub fn integer(&mut self, name: &str, value: i64) {
        write_integer(self.named(name), value);
    }

    /// Writes any JSON.
    pub fn json(&mut self, name: &str, json: &Json<'_>) {
        serialize(self.named(name), json);
    }

    /// Writes what the terms of the tenant and the bounds of a record leave of the attribute `name` of `namespace`; nothing for
    /// one that has no value.
    pub fn attribute(&mut self, namespace: &str, name: &str, value: AttributeValue<'_>) {
        if !matches!(value, AttributeValue::Failed | AttributeValue::NotRequested) {
            self.treated((namespace, name), |out| write_value(out, value));
        }
    }

    /// As [`RecordMembers::attribute`], for one that was sent; `None` is `null`, which a replay does not complete either.
    pub(crate) fn sent_attribute(
        &mut self,
        namespace: &str,
        name: &str,
        value: Option<AttributeValue<'_>>,
    ) {
        match value {
            Some(value) => self.attribute(namespace, name, value),
            None => self.json_attribute(namespace, name, &Json::Null),
        }
    }

    /// As [`RecordMembers::attribute`], where the value may be any JSON.
    pub fn json_attribute(&mut self, namespace: &str, name: &str, json: &Json<'_>) {
        self.treated((namespace, name), |out| serialize(out, json));
    }

    /// Writes what the terms and bounds of `user.roles` leave of the roles that the directory supplied. Returns whether they are
    /// there.
    pub fn roles<'t>(&mut self, roles: impl IntoIterator<Item = &'t str>) -> bool {
        self.treated(("user", "roles"), |out| {
            write_list(out, |list| roles.into_iter().for_each(|role| list.text(role)));
        })
    }

    /// Writes the tuples that a request assumed, within the bounds of an attribute.
    pub(crate) fn assumed(&mut self, tuples: &[NewTuple]) {
        self.bounded(("request", "assumed"), Treatment::Keep, |out| {
            write_list(out, |list| tuples.iter().for_each(|tuple| list.serialized(tuple)));
        });
    }

    /// Writes what the terms leave of an attribute. Returns whether it is there.
    fn treated(
        &mut self,
        (namespace, name): (&str, &str),
        write: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let treatment =
            self.terms.map_or(Treatment::Keep, |terms| terms.treatment(namespace, name));
        if treatment == Treatment::Drop {
            self.bounds.drop(namespace, name);
            return false;
        }
        self.bounded((namespace, name), treatment, write)
    }

    /// Writes an attribute; its path alone if it is beyond the bounds, or cannot be hashed. Returns whether it is there.
    fn bounded(
        &mut self,
        (namespace, name): (&str, &str),
        treatment: Treatment,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let (before, was_empty) = (self.out.len(), self.empty);
        let start = self.named(name).len();
        // Length and depth are known only once the text is written: what is beyond the bounds is cut off again.
        write(self.out);
        let text = self.out.get(start..).unwrap_or_default();
        let is_kept = fits(text)
            && match self.terms.filter(|_| treatment == Treatment::Hash) {
                None => true,
                Some(terms) => match terms.hashed(text, &mut self.bounds.hashes) {
                    None => false,
                    Some(hashed) => {
                        self.out.truncate(start);
                        self.out.extend_from_slice(&hashed);
                        true
                    }
                },
            };
        if !is_kept {
            self.out.truncate(before);
            self.empty = was_empty;
            self.bounds.drop(namespace, name);
        }
        is_kept
    }

    /// Writes an object with the members that `write` writes.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut RecordMembers<'_>)) {
        self.named(name);
        self.members(write);
    }

    /// Writes an object as the value of the last name.
    fn members(&mut self, write: impl FnOnce(&mut RecordMembers<'_>)) {
        let with = (self.terms, self.texts);
        let mut members = RecordMembers::begin(self.out, with, self.bounds);
        write(&mut members);
        members.end();
    }

    /// As [`RecordMembers::object`], apart from the record if others of its batch have the text.
    pub(crate) fn shared_object(&mut self, name: &str, write: impl FnOnce(&mut RecordMembers<'_>)) {
        let start = self.named(name).len();
        self.members(write);
        _ = self.set_apart_from(start);
    }

    /// As [`RecordMembers::shared_object`], for the attributes that were sent, which come before other members with bounds.
    /// `sent` is their place in memory, unless their text depends on more than them and the terms.
    pub(crate) fn attributes(
        &mut self,
        sent: Option<SentKey>,
        write: impl FnOnce(&mut RecordMembers<'_>),
    ) {
        let start = self.named("attributes").len();
        let known = self.texts.zip(sent).and_then(|(texts, key)| texts.sent(&key));
        if let Some(SentText { text, hashes, dropped }) = known {
            (self.bounds.hashes, self.bounds.dropped) = (hashes, dropped);
            return self.set_apart(text);
        }
        self.members(write);
        let Some(text) = self.set_apart_from(start) else { return };
        if let (Some(texts), Some(key)) = (self.texts, sent) {
            let (hashes, dropped) = (self.bounds.hashes, self.bounds.dropped.clone());
            texts.note_sent(key, SentText { text, hashes, dropped });
        }
    }

    /// Puts the text from `start` on apart, and returns it, if it is shared.
    fn set_apart_from(&mut self, start: usize) -> Option<Arc<SharedText>> {
        let text = self.texts?.shared(self.out.get(start..).unwrap_or_default())?;
        self.out.truncate(start);
        self.set_apart(Arc::clone(&text));
        Some(text)
    }

    /// Writes the placeholder of a text that is apart.
    fn set_apart(&mut self, text: Arc<SharedText>) {
        let at = self.out.len() - self.bounds.start;
        self.bounds.uses.push(TextUse { at, text });
        self.out.extend_from_slice(PLACEHOLDER);
    }

    pub(crate) fn list(&mut self, name: &str, write: impl FnOnce(&mut RecordTexts<'_>)) {
        write_list(self.named(name), write);
    }

    /// Writes the paths of the attributes that the record leaves out, if there are any.
    pub(crate) fn dropped(&mut self) {
        let dropped = std::mem::take(&mut self.bounds.dropped);
        if !dropped.is_empty() {
            self.list("dropped", |list| dropped.iter().for_each(|path| list.text(path)));
        }
    }

    pub(crate) fn display(&mut self, name: &str, value: &dyn fmt::Display) {
        let out = self.named(name);
        out.push(b'"');
        // Writing to memory does not fail.
        let _ = write!(Escaped(out), "{value}");
        out.push(b'"');
    }

    /// Writes a member of the record whose name, with its punctuation, is known: one copy.
    #[inline]
    pub(crate) fn known(&mut self, name: &'static str, text: &str) {
        self.raw(name, |out| quote(out, text));
    }

    /// As [`RecordMembers::known`], where `write` writes the JSON text of the value.
    #[inline]
    pub(crate) fn raw(&mut self, name: &'static str, write: impl FnOnce(&mut Vec<u8>)) {
        self.empty = false;
        self.out.extend_from_slice(name.as_bytes());
        write(self.out);
    }

    #[inline]
    fn named(&mut self, name: &str) -> &mut Vec<u8> {
        let start: &[u8] = if std::mem::take(&mut self.empty) { b"\"" } else { b",\"" };
        self.out.extend_from_slice(start);
        escape(self.out, name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }
}

impl RecordTexts<'_> {
    /// Writes what serializes as an item.
    fn serialized(&mut self, item: &impl serde::Serialize) {
        serialize(self.0, item);
        self.0.push(b',');
    }

    /// Writes an item.
    pub fn text(&mut self, text: &str) {
        quote(self.0, text);
        self.0.push(b',');
    }

    /// Writes what is displayed as an item.
    pub fn display(&mut self, value: &dyn fmt::Display) {
        self.0.push(b'"');
        // Writing to memory does not fail.
        let _ = write!(Escaped(self.0), "{value}");
        self.0.extend_from_slice(b"\",");
    }
}

/// Writes text into a JSON string.
struct Escaped<'b>(&'b mut Vec<u8>);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        escape(self.0, text.as_bytes());
        Ok(())
    }
}

fn write_list(out: &mut Vec<u8>, write: impl FnOnce(&mut RecordTexts<'_>)) {
    out.push(b'[');
    write(&mut RecordTexts(out));
    // Each item ends with a comma.
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b']');
}

#[inline]
pub(crate) fn quote(out: &mut Vec<u8>, text: impl AsRef<[u8]>) {
    out.push(b'"');
    escape(out, text.as_ref());
    out.push(b'"');
}

#[inline]
fn escape(out: &mut Vec<u8>, bytes: &[u8]) {
    let (words, rest) = bytes.as_chunks::<8>();
    let is_plain = words.iter().all(is_plain_word)
        && match bytes.last_chunk::<8>() {
            // It has the rest, and a part of the word before.
            Some(last) => is_plain_word(last),
            None => rest.iter().all(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\'),
        };
    match is_plain {
        true => out.extend_from_slice(bytes),
        false => escape_slowly(out, bytes),
    }
}

/// Returns whether no byte of the word is a control character, a quotation mark or a backslash. May say no of a word with
/// bytes beyond ASCII, which then takes the slow way.
#[inline]
fn is_plain_word(word: &[u8; 8]) -> bool {
    /// A word of equal bytes.
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    /// Returns a word with the highest bit of each byte below `bound`, and of some above such a one. A byte below `n` borrows
    /// from its highest bit when `n` is subtracted; a difference of zero is a byte below 1.
    const fn below(word: u64, bound: u8) -> u64 {
        word.wrapping_sub(all(bound)) & !word
    }
    let word = u64::from_ne_bytes(*word);
    let quotes = below(word ^ all(b'"'), 1) | below(word ^ all(b'\\'), 1);
    (below(word, 0x20) | quotes | word) & all(0x80) == 0
}

#[cold]
fn escape_slowly(out: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
            _ => out.push(byte),
        }
    }
}

fn write_value(out: &mut Vec<u8>, value: AttributeValue<'_>) {
    match value {
        AttributeValue::Text(text) => quote(out, text),
        AttributeValue::Number(number) => serialize(out, &number),
        AttributeValue::Bool(value) => serialize(out, &value),
        AttributeValue::List(list) => {
            out.push(b'[');
            let start = out.len();
            list.for_each(|item| {
                if out.len() > start {
                    out.push(b',');
                }
                write_value(out, item);
            });
            out.push(b']');
        }
        AttributeValue::Instant(instant) => serialize(out, &instant),
        // A `null` is an absent attribute, an object a present one that nothing compares.
        AttributeValue::Opaque => out.extend_from_slice(b"{}"),
        AttributeValue::Period(_) | AttributeValue::Failed | AttributeValue::NotRequested => {
            out.extend_from_slice(b"null")
        }
    }
}

#[inline]
pub(crate) fn write_integer(out: &mut Vec<u8>, value: i64) {
    serialize(out, &value);
}

#[inline]
fn serialize(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(out, value);
}

/// Writes an instant as [`Timestamp`] shows it. Formatting takes as long as half of the record, so each thread keeps the
/// text of its last second.
pub(crate) fn write_instant(out: &mut Vec<u8>, at: Timestamp) {
    thread_local! {
        static SECOND: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
    }
    let (second, millis) = (at.millis().div_euclid(1_000), at.millis().rem_euclid(1_000));
    SECOND.with_borrow_mut(|(known, text)| {
        if *known != second {
            *known = second;
            text.clear();
            // Without nanoseconds, the time is shown without a fraction.
            let instant = DateTime::from_timestamp(second, 0).unwrap_or_default();
            let (date, time) = (instant.date_naive(), instant.time());
            // Writing to a string does not fail.
            let _ = write!(text, "\"{date}T{time}.");
        }
        out.extend_from_slice(text.as_bytes());
    });
    let digits =
        [100, 10, 1].map(|unit| b'0' + u8::try_from(millis / unit % 10).unwrap_or_default());
    out.extend_from_slice(&digits);
    out.extend_from_slice(b"Z\"");
}
