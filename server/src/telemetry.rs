//! Log lines on standard error.

mod line_queue;

use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::time::Duration;

use portcullis_config::LogFormat;
use tracing_subscriber::EnvFilter;

use line_queue::LineQueue;

/// The lines that wait for standard error.
static LINES: LineQueue = LineQueue::new();
/// Longest time at the end of the process for the lines that wait.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Starts logging. The process calls it once, at its start.
pub(crate) fn start(format: LogFormat, filter: EnvFilter) {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(|| &LINES);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
    std::panic::set_hook(Box::new(log_panic));
    LINES.write_to(std::io::stderr());
}

/// Waits until the lines are written, but not for long. Returns false if nobody reads standard error.
pub(crate) fn flush() -> bool {
    LINES.flush(LAST_LINES)
}

/// Logs a panic: what writes to standard error itself waits for its reader.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("no message");
    let location = panic.location().map(ToString::to_string);
    tracing::error!(location, "panicked: {message}");
}
