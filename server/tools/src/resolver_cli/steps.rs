//! The progress of a command: a spinner on a terminal, otherwise a line for each step.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// The time between two frames of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// A running step, shown on standard error. Dropping it ends the step.
pub(super) struct Step(Option<ProgressBar>);

impl Step {
    /// Begins the step `what`.
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

/// Writes a line to standard error. A failure is ignored: there is no other place to report it.
pub(super) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
