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
    let Some(number) = substituting_line(text) else { return Ok(()) };
    let expected = format!(
        "a file of NAME=value lines, but line {number} of `{}` has a `$` outside of single quotes: write NAME='value'",
        path.display()
    );
    Err(ConfigError::new(OPTION, expected))
}

/// Returns the number of the first line with a `$` that stands for a variable: outside of single quotes and of comments, and
/// without a `\` before it. A value in quotes may have several lines.
fn substituting_line(text: &str) -> Option<usize> {
    let (mut number, mut quote, mut before) = (1, None, '\n');
    let (mut is_comment, mut is_escaped) = (false, false);
    for char in text.chars() {
        match char {
            '\n' => (number, is_comment, is_escaped) = (number + 1, false, false),
            _ if is_comment => {}
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '#' if quote.is_none() && before.is_whitespace() => is_comment = true,
            '$' if quote != Some('\'') => return Some(number),
            '"' | '\'' if quote.is_none() => quote = Some(char),
            _ if quote == Some(char) => quote = None,
            _ => {}
        }
        before = char;
    }
    None
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
        for content in [
            "A=1\nADMIN_API_KEY=hunter2$rest\n",
            "\nADMIN_API_KEY=\"hunter2$rest\"\n",
            "ADMIN_API_KEY=\"first\nhunter2$rest\"\n",
            "A='it' # it's\nADMIN_API_KEY=hunter2$rest\n",
        ] {
            let error = error(content);
            assert!(error.contains("line 2") && error.contains("NAME='value'"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        let file = tempfile::NamedTempFile::new().expect("a file");
        let content = "# $1\nA='hunter2$rest'\nB=hunter2\\$rest # $1\nC=hunter2'$rest'\n";
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
