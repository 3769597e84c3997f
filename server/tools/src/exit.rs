//! The exit codes of commands that judge: 0 if everything is as expected, 1 if not, and 2 if nothing was judged.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// The exit code if nothing was judged, because something is missing or invalid.
pub(crate) const REFUSED: u8 = 2;

/// Returns the exit code of a judgement. Writes to `err` why nothing could be judged.
pub(crate) fn judged<E: Display>(outcome: Result<bool, Vec<E>>, err: &mut dyn Write) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(errors) => {
            for error in errors {
                // If standard error is closed too, the exit code still reports the failure.
                let _ = writeln!(err, "{error}");
            }
            ExitCode::from(REFUSED)
        }
    }
}

/// Returns the exit code of a judgement that fails as a whole.
pub(crate) fn judged_at_once(outcome: anyhow::Result<bool>, err: &mut dyn Write) -> ExitCode {
    judged(outcome.map_err(|error| vec![format!("portcullis: {error:#}")]), err)
}
