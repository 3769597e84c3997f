//! Log lines on standard error.

mod line_queue;

use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::time::Duration;

use portcullis_config::LogFormat;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use line_queue::{LineQueue, SHOWN};

/// The lines that wait for standard error.
static LINES: LineQueue = LineQueue::new();
/// Longest time at the end of the process for the lines that wait.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Writes the lines that wait if a panic drops it.
pub(crate) struct FlushedByPanic;

impl Drop for FlushedByPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            flush();
        }
    }
}

/// Starts logging. The process calls it once, at its start.
///
/// # Errors
/// A directive of the filter cannot be read.
pub(crate) fn start(format: LogFormat, filter: EnvFilter) -> Result<(), ParseError> {
    let filter = showing(filter)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(|| &LINES);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
    std::panic::set_hook(Box::new(log_panic));
    // Lines that came before this have waited in the queue.
    LINES.write_to(std::io::stderr());
    Ok(())
}

/// Returns the filter without what would hide a line of [`SHOWN`].
fn showing(filter: EnvFilter) -> Result<EnvFilter, ParseError> {
    Ok(filter.add_directive(format!("{SHOWN}=warn").parse()?))
}

/// Waits until the lines are written, but not for long. Returns false if nobody reads standard error.
pub(crate) fn flush() -> bool {
    LINES.flush(LAST_LINES)
}

/// Logs a panic: what writes to standard error itself waits for its reader.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("no message");
    let location = panic.location().map(ToString::to_string);
    tracing::error!(target: SHOWN, location, "panicked: {message}");
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Place(Arc<Mutex<Vec<u8>>>);

    impl Write for Place {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(data);
            Ok(data.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_waits_for_its_lines() {
        let place = Place::default();
        LINES.write_to(place.clone());
        let panicked = std::thread::spawn(|| {
            let _flushed = FlushedByPanic;
            (&LINES).write_all(b"panicked\n").expect("a queue takes or drops each line");
            panic!("on purpose");
        });
        assert!(panicked.join().is_err());
        assert_eq!(*place.0.lock(), b"panicked\n");
    }

    #[test]
    fn no_filter_hides_what_is_always_shown() {
        for filter in ["off", "portcullis=off", "portcullis::log=off", "sqlx=info"] {
            let place = Place::default();
            let writer = place.clone();
            let lines = tracing_subscriber::fmt()
                .with_env_filter(showing(EnvFilter::new(filter)).expect("a filter"))
                .with_writer(move || writer.clone());
            tracing::subscriber::with_default(lines.finish(), || {
                tracing::error!("hidden");
                tracing::warn!(target: SHOWN, "shown");
            });
            let text = String::from_utf8(place.0.lock().clone()).expect("text");
            assert!(text.contains("shown") && !text.contains("hidden"), "{filter}: {text}");
        }
    }
}
