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
    let text = text.trim_start_matches('\u{feff}');
    refuse_substitution(path, text)?;
    let entries = dotenvy::from_read_iter(text.as_bytes());
    entries.map(|entry| entry.map_err(|error| malformed(path, text, &error))).collect()
}

fn unreadable(path: &Path, error: &io::Error) -> ConfigError {
    let path = path.display();
    let expected = match error.kind() {
        io::ErrorKind::NotFound => format!(
            "a file of NAME=value lines, but there is no file `{path}`: create it, name another file, or leave the \
             option out"
        ),
        _ => format!("a readable file of NAME=value lines, but `{path}` is not: {error}"),
    };
    ConfigError::new(OPTION, expected)
}

/// Refuses a `$` that would be replaced by the value of another variable: a password would silently become shorter.
fn refuse_substitution(path: &Path, text: &str) -> Result<(), ConfigError> {
    let mut numbered = text.lines().map(str::trim).zip(1..);
    let Some((_, number)) = numbered.find(|(line, _)| substitutes(line)) else { return Ok(()) };
    let expected = format!(
        "a file of NAME=value lines, but line {number} of `{}` has a `$` outside of single quotes: write NAME='value'",
        path.display()
    );
    Err(ConfigError::new(OPTION, expected))
}

/// Returns whether a line without white space around it sets a value with a `$` that stands for a variable.
fn substitutes(line: &str) -> bool {
    let value = line.split_once('=').map(|(_, value)| value.trim_start());
    // Single quotes keep a `$` as it is.
    value.is_some_and(|value| {
        !line.starts_with('#') && !value.starts_with('\'') && has_plain_dollar(value)
    })
}

/// Returns whether `value` has a `$` without a `\` before it.
fn has_plain_dollar(value: &str) -> bool {
    let mut is_escaped = false;
    value.chars().any(|char| {
        let found = char == '$' && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        found
    })
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
    ConfigError::new(OPTION, expected)
}

/// Returns the number of the first line of `fault`, which is a line or its value. It may have several lines: a value in
/// quotes can go on.
fn number_of(text: &str, fault: &str) -> Option<usize> {
    let first = fault.lines().next()?.trim();
    let lines = text.lines().map(str::trim);
    let mut numbered = lines.zip(1..).filter(|(line, _)| !line.starts_with('#'));
    numbered.find(|(line, _)| line.ends_with(first)).map(|(_, number)| number)
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
    fn a_dollar_is_kept_or_refused() {
        for content in ["A=1\nADMIN_API_KEY=hunter2$rest\n", "\nADMIN_API_KEY=\"hunter2$rest\"\n"] {
            let error = error(content);
            assert!(error.contains("line 2") && error.contains("NAME='value'"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        let content = "# $1\nA='hunter2$rest'\nB=hunter2\\$rest\n";
        fs::write(file.path(), content).expect("writes");
        let kept = read(file.path()).expect("read");
        assert!(kept.iter().all(|(_, value)| value == "hunter2$rest"), "{kept:?}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), "\u{feff}MODE=saas\n").expect("writes");
        let read = read(file.path()).expect("read");
        assert_eq!(read, [("MODE".to_owned(), "saas".to_owned())]);
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
        assert!(directory.contains("`/` is not: "), "{directory}");
    }
}
