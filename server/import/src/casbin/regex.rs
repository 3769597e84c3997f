//! Regular expressions of Go in the syntax of Rust, which Portcullis uses.

/// Returns an expression that matches the same texts as `expression` does in Go.
///
/// # Errors
/// A part that has another meaning in Go.
pub(super) fn as_in_go(expression: &str) -> Result<String, String> {
    let (mut rewritten, mut rest) = (String::new(), expression);
    while let Some(char) = rest.chars().next() {
        let part = match char {
            '\\' => escape(rest)?,
            '[' => class(rest)?,
            _ => (char.to_string(), char.len_utf8()),
        };
        rewritten.push_str(&part.0);
        rest = rest.get(part.1..).unwrap_or_default();
    }
    Ok(rewritten)
}

/// Rewrites the escape at the start of `text`. Returns it and its length in bytes.
fn escape(text: &str) -> Result<(String, usize), String> {
    let escaped = text.chars().nth(1).unwrap_or('\\');
    // In Go these are ASCII characters, whatever the flags are.
    let class = match escaped {
        'd' => "0-9",
        'D' => "^0-9",
        'w' => "0-9A-Za-z_",
        'W' => "^0-9A-Za-z_",
        's' => r"\t\n\x0C\r ",
        'S' => r"^\t\n\x0C\r ",
        'b' | 'B' | '<' | '>' => {
            return Err(format!(
                r"`\{escaped}` means something else in Portcullis; write the characters around it as a class"
            ));
        }
        '\\' => match text.chars().nth(2).filter(|next| "dDwWsSbB".contains(*next)) {
            Some(letter) => {
                return Err(format!(
                    "implementations read `\\\\{letter}` differently: as `\\{letter}`, or as a backslash before a `{letter}`; write \
                     the characters as a class, such as `[0-9]`"
                ));
            }
            None => return Ok((r"\\".to_owned(), 2)),
        },
        other => return Ok((format!("\\{other}"), 1 + other.len_utf8())),
    };
    Ok((format!("(?-i:[{class}])"), 2))
}

/// Rewrites the class at the start of `text`. Returns it and its length in bytes.
fn class(text: &str) -> Result<(String, usize), String> {
    let (mut rewritten, mut at) = ("[".to_owned(), 1);
    if text.get(at..).is_some_and(|rest| rest.starts_with('^')) {
        rewritten.push('^');
        at += 1;
    }
    let first = at;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(char) = rest.chars().next() else { return Err(refused("[")) };
        if let Some(operator) = ["&&", "--", "~~"].into_iter().find(|part| rest.starts_with(part)) {
            return Err(refused(operator));
        }
        at += char.len_utf8();
        match char {
            // A `]` that comes first is a plain character.
            ']' if at > first + 1 => break,
            // Go has `[:alpha:]` and the like, and else a plain character.
            '[' if rest.starts_with("[:") => return Err(refused("[:")),
            '[' => rewritten.push_str(r"\["),
            '\\' => {
                let escaped = rest.chars().nth(1).unwrap_or('\\');
                at += escaped.len_utf8();
                match escaped {
                    'd' => rewritten.push_str("0-9"),
                    'w' => rewritten.push_str("0-9A-Za-z_"),
                    's' => rewritten.push_str(r"\t\n\x0C\r "),
                    'D' | 'W' | 'S' | 'b' | 'B' => return Err(refused(&format!("\\{escaped}"))),
                    other => rewritten.extend(['\\', other]),
                }
            }
            char => rewritten.push(char),
        }
    }
    rewritten.push(']');
    Ok((rewritten, at))
}

fn refused(part: &str) -> String {
    format!("`{part}` in a class of characters means something else in Portcullis")
}
