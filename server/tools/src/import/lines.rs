//! Casbin policy files: comma-separated lines, each with its number.

use super::Fault;

/// A line that is neither empty nor a comment.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) number: usize,
    /// `p` or `g`, as it is written.
    pub(super) kind: String,
    pub(super) values: Vec<String>,
}

/// Reads each line on its own, so that one that cannot be read spoils no other.
pub(super) fn read(text: &str) -> impl Iterator<Item = Result<Line, Fault>> {
    let lines = text.trim_start_matches('\u{feff}').lines().zip(1..);
    let lines = lines.filter(|(line, _)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    lines.map(|(line, number)| {
        let mut values = values(line).map_err(|reason| Fault::at(number, reason))?;
        let kind = values.remove(0);
        Ok(Line { number, kind, values })
    })
}

/// The values of a line, at least one, without the white space around them. One in double quotes may hold
/// commas, and quotes that are doubled.
fn values(line: &str) -> Result<Vec<String>, String> {
    let (mut values, mut rest) = (Vec::new(), line);
    loop {
        rest = rest.trim_start();
        let after = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (value, after) = unquoted(quoted)?;
                values.push(value);
                after.trim_start()
            }
            None => {
                let (value, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                values.push(value.trim_end().to_owned());
                after
            }
        };
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(values),
            None => return Err(format!("expected `,` behind a quoted value, not `{after}`")),
        }
    }
}

/// A quoted value, whose opening quote is gone, and what follows it.
fn unquoted(text: &str) -> Result<(String, &str), String> {
    let (mut value, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('"') {
        value.push_str(before);
        let Some(doubled) = after.strip_prefix('"') else { return Ok((value, after)) };
        value.push('"');
        rest = doubled;
    }
    Err("expected a `\"` that closes the value".to_owned())
}
