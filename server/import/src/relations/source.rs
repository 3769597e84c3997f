//! The files of another system, which may name each other.

use std::path::Path;

use serde_saphyr::Spanned;

use super::place::Place;
use super::yaml;
use crate::files;

/// Reads a file that the file of `start` names, relative to it.
pub(crate) fn named<T>(
    name: &Spanned<String>,
    start: &Place,
    read: impl FnOnce(&Path) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let path = start.file().with_file_name("").join(&name.value);
    if path.exists() {
        return read(&path);
    }
    anyhow::bail!(yaml::place(name, start).says(format!("there is no file {}", path.display())))
}

/// Reads a file.
pub(crate) fn opened(path: &Path) -> anyhow::Result<(String, Place)> {
    Ok((files::read(path)?, Place::start(path)))
}

/// Returns the place of a text of a YAML file, whose lines are [`Place::below`] it.
pub(crate) fn first_line(value: &Spanned<String>, file: &str, start: &Place) -> Place {
    let place = yaml::place(value, start);
    let at = usize::try_from(value.referenced.line()).unwrap_or(1);
    let column = usize::try_from(value.referenced.column()).unwrap_or(1);
    let lines: Vec<&str> = file.lines().collect();
    let line = lines.get(at - 1).copied().unwrap_or_default();
    if line.chars().nth(column - 1).is_some_and(|first| matches!(first, '"' | '\'')) {
        let before: usize = file.split_inclusive('\n').take(at - 1).map(str::len).sum();
        let quoted = file[before..].chars().skip(column - 1);
        return place.with_lines(quoted_lines(quoted, at));
    }
    // The place of a block is its first line that is not empty.
    let above = lines.iter().take(at - 1).rev().position(|line| !line.trim().is_empty());
    match above {
        Some(empty) if begins_block(lines[at - 2 - empty]) => place.at(at - empty),
        _ => place,
    }
}

/// Returns whether a line ends with the `|` or `>` of a block of lines.
fn begins_block(line: &str) -> bool {
    let code = line.split(" #").next().unwrap_or_default();
    let last = code.split_whitespace().last().unwrap_or_default();
    let signs = last.strip_prefix(['|', '>']);
    signs.is_some_and(|rest| rest.chars().all(|sign| sign.is_ascii_digit() || "+-".contains(sign)))
        && code.trim_end().len() > last.len()
        // An odd number of quotes leaves a text open, and the sign is a part of it.
        && ['"', '\''].iter().all(|quote| code.matches(*quote).count() % 2 == 0)
}

/// Returns the line of the file, from 1, of each line of a text in quotes. `text` begins with the quote, in the line `first`.
fn quoted_lines(text: impl Iterator<Item = char>, first: usize) -> Vec<usize> {
    let (mut text, mut lines, mut line) = (text.peekable(), vec![first], first);
    let quote = text.next();
    // Whether the last line has nothing so far: it begins where its first word does.
    let mut is_empty = false;
    while let Some(char) = text.next() {
        let count = lines.len();
        match char {
            '\'' if quote == Some('\'') && text.next_if_eq(&'\'').is_some() => {}
            char if quote == Some(char) => break,
            '\\' if quote == Some('"') => match text.next() {
                Some('n') => lines.push(line),
                Some('\n') => line += 1,
                _ => {}
            },
            '\n' => {
                line += 1;
                // The first break is a space, each other one a break.
                while let Some(space) = text.next_if(|next| next.is_whitespace()) {
                    if space == '\n' {
                        line += 1;
                        lines.push(line);
                    }
                }
                if let Some(last) = lines.last_mut().filter(|_| is_empty) {
                    *last = line;
                }
            }
            _ => {}
        }
        is_empty = lines.len() > count || is_empty && char.is_whitespace();
    }
    lines
}
