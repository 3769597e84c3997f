//! The texts that an evaluation makes of a check, because the check has them in another form.

use std::fmt::Write;

use arrayvec::ArrayString;
use chrono::{DateTime, Datelike, SecondsFormat, Timelike, Utc};

use crate::request::{Action, Check};

/// The text of `request.time`. The longest that chrono can write has 27 characters.
type TimeText = ArrayString<32>;

/// The texts that the attributes of one evaluation borrow; those that nobody needs are empty.
#[derive(Debug)]
pub(crate) struct MadeTexts {
    time: TimeText,
    /// The decoded action of a check whose verb is encoded.
    action: Option<Box<str>>,
}

/// No text at all.
pub(crate) static NO_TEXTS: MadeTexts = MadeTexts::new();

impl MadeTexts {
    pub(crate) const fn new() -> Self {
        Self { time: TimeText::new_const(), action: None }
    }

    /// Returns `request.time` in RFC 3339.
    pub(crate) fn time(&self) -> &str {
        &self.time
    }

    /// Returns `request.action`.
    #[inline]
    pub(crate) fn action<'v>(&'v self, check: &Check<'v>) -> &'v str {
        match check.action {
            Action::Plain(text) => text,
            Action::Encoded(verb) => self.action.as_deref().unwrap_or(verb),
        }
    }

    /// Makes the text of the action, if the check does not have it.
    #[inline]
    pub(crate) fn make_action(&mut self, check: &Check<'_>) {
        if check.action.encoded().is_some() {
            self.action = Some(check.action.text().into());
        }
    }

    /// Makes the text of the instant, with milliseconds. Uses chrono's formatting, which allocates, only for years that need
    /// a sign.
    #[cold]
    pub(crate) fn make_time(&mut self, now: DateTime<Utc>) {
        if !self.time.is_empty() {
            return;
        }
        // The buffer is longer than any text that chrono writes, so writing cannot fail.
        let _ = write_time(&mut self.time, now);
    }
}

fn write_time(text: &mut TimeText, now: DateTime<Utc>) -> std::fmt::Result {
    if !(0..=9_999).contains(&now.year()) {
        return text.write_str(&now.to_rfc3339_opts(SecondsFormat::Millis, true));
    }
    // chrono represents a leap second as a second of up to 2,000 milliseconds.
    let millis = now.nanosecond() / 1_000_000;
    write!(text, "{:04}-{:02}-{:02}", now.year(), now.month(), now.day())?;
    write!(text, "T{:02}:{:02}:", now.hour(), now.minute())?;
    write!(text, "{:02}.{:03}Z", now.second() + millis / 1_000, millis % 1_000)
}
