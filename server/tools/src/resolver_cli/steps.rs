//! How far a command is: a spinner on a terminal, a line for each step elsewhere.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// A step that has begun, told on standard error; it is over when it is dropped.
pub(super) struct Step(Option<ProgressBar>);

impl Step {
    pub(super) fn begin(what: impl Into<String>) -> Self {
        let what = what.into();
        if !std::io::stderr().is_terminal() {
            say(&format!("{what} …"));
            return Self(None);
        }
        let style = ProgressStyle::with_template("{spinner} {msg} … {elapsed}");
        let bar = ProgressBar::new_spinner();
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(what);
        bar.enable_steady_tick(TICK);
        Self(Some(bar))
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// A line on standard error; where that is gone, nobody misses it.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
