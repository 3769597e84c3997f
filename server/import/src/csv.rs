//! Comma-separated values.

/// Returns the values of a line, at least one, without the white space before them. A value in double quotes may contain
/// commas, and quotes that are doubled.
pub(crate) fn values(line: &str) -> Result<Vec<String>, String> {
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
                // Casbin for Go keeps it, and then the value is another one; others remove it. OpenFGA keeps it.
                if value.ends_with(char::is_whitespace) {
                    let value = value.trim_end();
                    return Err(format!(
                        "programs differ in the white space after `{value}`; remove it"
                    ));
                }
                values.push(value.to_owned());
                after
            }
        };
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(values),
            None => return Err(format!("expected `,` after a quoted value, not `{after}`")),
        }
    }
}

/// Returns a quoted value and the text after it. The opening quote is already removed from `text`.
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
