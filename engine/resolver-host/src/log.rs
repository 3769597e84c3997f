//! The log of a guest during a call.

use crate::contract::Level;
use crate::limits::{LOG_LINES, TEXT_BYTES};

impl Level {
    /// Every level, the least important first.
    pub const ALL: [Self; 5] = [Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Critical];

    /// Returns the name in the contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}

/// A line of a guest's log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// The severity.
    pub level: Level,
    /// The guest's text, cut to [`TEXT_BYTES`].
    pub text: String,
}

/// The log of one call, bounded in lines and bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The first [`LOG_LINES`] lines.
    pub lines: Vec<LogLine>,
    /// The number of lines that were dropped after them.
    pub dropped: u64,
    last_words: Option<String>,
}

impl Log {
    /// Adds a line, or counts it as dropped if the log is full.
    pub(crate) fn push(&mut self, level: Level, text: String) {
        let text = cut(text);
        if level == Level::Critical {
            self.last_words = Some(text.clone());
        }
        if self.lines.len() < LOG_LINES {
            self.lines.push(LogLine { level, text });
        } else {
            self.dropped += 1;
        }
    }

    /// Returns the last critical line, which announces a trap.
    pub(crate) fn last_words(&self) -> Option<&str> {
        self.last_words.as_deref()
    }
}

/// Cuts a text to [`TEXT_BYTES`]. Copies a longer text, so that its memory is freed.
pub(crate) fn cut(text: String) -> String {
    if text.len() <= TEXT_BYTES {
        text
    } else {
        text[..text.floor_char_boundary(TEXT_BYTES)].to_owned()
    }
}
