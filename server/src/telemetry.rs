//! Log lines on standard error.

use std::io::IsTerminal;

use portcullis_config::LogFormat;
use tracing_subscriber::EnvFilter;

/// Starts logging. The process calls it once, at its start.
pub(crate) fn start(format: LogFormat, filter: EnvFilter) {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().init(),
    }
}
