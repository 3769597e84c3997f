//! The file of `--env-file`.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::ConfigError;

/// The name of the option, which errors show.
const OPTION: &str = "--env-file";

/// Returns the variables of the file at `path`, in its order.
///
/// # Errors
/// The file cannot be read, or a line has another form. The error shows no line, because it may hold a secret.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let entries = dotenvy::from_read_iter(text.as_bytes());
    entries.map(|entry| entry.map_err(|error| malformed(path, &text, &error))).collect()
}

fn unreadable(path: &Path, error: &io::Error) -> ConfigError {
    let path = path.display();
    let expected = match error.kind() {
        io::ErrorKind::NotFound => format!(
            "a file of NAME=value lines, but there is no file `{path}`: create it, name another file, or leave the \
             option out"
        ),
        _ => format!("a readable file of NAME=value lines, but `{path}` is none: {error}"),
    };
    ConfigError { name: OPTION, expected, found: None }
}

fn malformed(path: &Path, text: &str, error: &dotenvy::Error) -> ConfigError {
    let path = path.display();
    let number = match error {
        dotenvy::Error::LineParse(line, _) => number_of(text, line),
        _ => None,
    };
    let place = number.map_or_else(|| "a line".to_owned(), |number| format!("line {number}"));
    let expected = format!(
        "a file of NAME=value lines, but {place} of `{path}` has another form (a value with spaces needs quotes)"
    );
    ConfigError { name: OPTION, expected, found: None }
}

/// Returns the number of the first line of `fault`, which may have several: a value in quotes can go on.
fn number_of(text: &str, fault: &str) -> Option<usize> {
    let first = fault.lines().next()?;
    text.lines().position(|line| line == first).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error for a file with this content.
    fn error(content: &str) -> String {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), content).expect("writes");
        let error = read(file.path()).expect_err("refused").to_string();
        assert!(error.contains(&*file.path().display().to_string()), "{error}");
        error
    }

    #[test]
    fn a_fault_names_the_line_and_not_its_content() {
        for (content, place) in [
            ("MODE=saas\nENCRYPTION_KEY=hunter2 hunter2\n", "line 2"),
            ("hunter2\n", "line 1"),
            ("\n# comment\nADMIN_API_KEY=\"hunter2\n\n", "line 3"),
        ] {
            let error = error(content);
            assert!(error.contains(place) && !error.contains("hunter2"), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_missing_file_is_named_with_what_to_do() {
        let error = read(Path::new("/nowhere/portcullis.env")).expect_err("refused").to_string();
        assert!(error.starts_with("--env-file: expected"), "{error}");
        assert!(
            error.contains("`/nowhere/portcullis.env`") && error.contains("create it"),
            "{error}"
        );
        let directory = read(Path::new("/")).expect_err("refused").to_string();
        assert!(directory.contains("`/` is none"), "{directory}");
    }
}
