//! What a guest said during a call.

use crate::contract::Level;
use crate::limits::{LOG_LINES, TEXT_BYTES};

impl Level {
    /// Every level, the least important first.
    pub const ALL: [Self; 5] = [Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Critical];

    /// The name in the contract.
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
    /// How much it matters.
    pub level: Level,
    /// The text, as the guest wrote it, up to [`TEXT_BYTES`].
    pub text: String,
}

/// The log of one call, bounded in lines and bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// The first [`LOG_LINES`] lines.
    pub lines: Vec<LogLine>,
    /// How many were dropped after those.
    pub dropped: u64,
    last_words: Option<String>,
}

impl Log {
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

    /// The last line that announced a trap.
    pub(crate) fn last_words(&self) -> Option<&str> {
        self.last_words.as_deref()
    }
}

/// The text up to [`TEXT_BYTES`], in a string that holds no more than that.
pub(crate) fn cut(text: String) -> String {
    if text.len() <= TEXT_BYTES {
        text
    } else {
        text[..text.floor_char_boundary(TEXT_BYTES)].to_owned()
    }
}
