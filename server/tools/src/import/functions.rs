//! The functions of a matcher with a constant pattern, as Casbin's reference implementation in Go defines them.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::condition::{Attribute, Condition};

/// Characters that have a meaning in a regular expression.
const SPECIAL: &str = r"\.+*?()|[]{}^$#&-~";

/// Returns the condition that the function `name` returns true for `attribute` and `pattern`.
///
/// # Errors
/// The reason why no condition means the same.
pub(super) fn call(name: &str, attribute: Attribute, pattern: &str) -> Result<Condition, String> {
    let expression = match name {
        "keyMatch" => return Ok(key_match(attribute, pattern)),
        "ipMatch" => return ip_match(attribute, pattern),
        "regexMatch" => anywhere(pattern),
        "keyMatch2" => segments(pattern, ':', "[^/]+")?,
        "keyMatch3" => segments(pattern, '{', "[^/]+")?,
        "keyMatch4" => {
            let mut names = BTreeSet::new();
            if let Some(name) = braces(pattern).find(|name| !names.insert(*name)) {
                return Err(format!("`{name}` occurs twice, and a pattern cannot compare parts"));
            }
            segments(pattern, '{', "[^/]+")?
        }
        "keyMatch5" => without_query(pattern)?,
        "globMatch" => glob(pattern)?,
        _ => {
            return Err(format!(
                "the function `{name}` is not known; write a policy with a condition instead"
            ));
        }
    };
    Ok(Condition::test(attribute, "matches", ascii(&expression)?))
}

/// The text before the first `*` is a prefix, and the text after it has no meaning.
fn key_match(attribute: Attribute, pattern: &str) -> Condition {
    match pattern.split_once('*') {
        Some(("", _)) => Condition::Constant(true),
        Some((prefix, _)) => Condition::test(attribute, "starts_with", prefix),
        None => equal(attribute, pattern),
    }
}

/// Returns the condition that an attribute is a text.
pub(super) fn equal(attribute: Attribute, text: &str) -> Condition {
    match attribute {
        Attribute::Field(field) => Condition::is(field, text),
        path @ Attribute::Path(_) => Condition::test(path, "eq", text),
    }
}

/// Returns the condition that `keyGet(attribute, pattern)` is `text`: the part of the attribute at the `*`.
///
/// # Errors
/// The text is empty, which `keyGet` also returns if nothing matches.
pub(super) fn key_get(
    attribute: Attribute,
    pattern: &str,
    text: &str,
) -> Result<Condition, String> {
    if text.is_empty() {
        return Err("`keyGet` cannot be compared with an empty text".to_owned());
    }
    match pattern.split_once('*') {
        Some((prefix, _)) => Ok(equal(attribute, &format!("{prefix}{text}"))),
        None => Ok(Condition::Constant(false)),
    }
}

/// Casbin's network may have host bits, which do not count.
fn ip_match(attribute: Attribute, pattern: &str) -> Result<Condition, String> {
    let fault = || format!("`{pattern}` is neither an address nor a network");
    let network = match pattern.split_once('/') {
        None => pattern.parse::<IpAddr>().map_err(|_| fault())?.to_string(),
        Some(_) => pattern.parse::<ipnet::IpNet>().map_err(|_| fault())?.trunc().to_string(),
    };
    Ok(Condition::test(attribute, "ip_in", network))
}

/// Returns an expression for a whole text of which any part matches `pattern`.
fn anywhere(pattern: &str) -> String {
    let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    match inner.filter(|inner| !inner.contains('|') && !inner.ends_with('\\')) {
        Some(inner) => inner.to_owned(),
        None => format!("(?s:.*)(?:{pattern})(?s:.*)"),
    }
}

/// Replaces `/*` by anything below, and each name after `mark` by `segment`. The rest stays a regular expression, as in
/// Casbin. `mark` is `:`, or `{` with a closing `}`.
fn segments(pattern: &str, mark: char, segment: &str) -> Result<String, String> {
    let pattern = pattern.replace("/*", "/.*");
    let (mut expression, mut rest) = (String::new(), &*pattern);
    while let Some((before, after)) = rest.split_once(mark) {
        let end = if mark == '{' {
            after.find('}')
        } else {
            Some(after.find('/').unwrap_or(after.len()))
        };
        let end = end.ok_or_else(|| format!("`{pattern}` has a `{{` without a `}}`"))?;
        let name = after.get(..end).unwrap_or_default();
        if name.contains('/') {
            return Err(format!("`{name}` is no name of a segment"));
        }
        expression.push_str(before);
        if name.is_empty() {
            expression.push(mark);
            rest = after;
            continue;
        }
        expression.push_str(segment);
        let closing = usize::from(mark == '{');
        rest = after.get(end + closing..).unwrap_or_default();
    }
    Ok(expression + rest)
}

/// Returns the names in braces.
fn braces(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

/// Translates `keyMatch5`, which ignores what comes after a `?`.
fn without_query(pattern: &str) -> Result<String, String> {
    let path = segments(pattern, '{', "[^/?]+")?.replace("/.*", "/[^?]*");
    let plain = path.replace("[^/?]+", "").replace("[^?]*", "");
    if plain.contains(|char| SPECIAL.contains(char) && !matches!(char, '-' | '.' | '&' | '#' | '~'))
    {
        return Err(format!(
            "`{pattern}` is a regular expression, which `keyMatch5` is not translated with"
        ));
    }
    Ok(format!(r"{}(?s:\?.*)?", path.replace('.', "[^?]")))
}

/// Translates `globMatch`, Go's `path.Match`: `*` and `?` do not match `/`.
fn glob(pattern: &str) -> Result<String, String> {
    let (mut expression, mut chars) = (String::new(), pattern.chars());
    while let Some(char) = chars.next() {
        match char {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => expression.push_str(&class(&mut chars).ok_or_else(|| {
                format!("`{pattern}` has a class of characters that is not translated")
            })?),
            '\\' => expression.push_str(&literal(chars.next().unwrap_or('\\'))),
            char => expression.push_str(&literal(char)),
        }
    }
    Ok(expression)
}

/// Reads a class such as `[a-z]` or `[^0-9]`, without escapes. The `[` is read already.
fn class(chars: &mut std::str::Chars<'_>) -> Option<String> {
    let (inner, rest) = chars.as_str().split_once(']')?;
    let (negation, items) = match inner.strip_prefix('^') {
        Some(items) => ("^", items),
        None => ("", inner),
    };
    let plain = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    if items.is_empty() || !items.chars().all(plain) {
        return None;
    }
    *chars = rest.chars();
    Some(format!("[{negation}{items}]"))
}

fn literal(char: char) -> String {
    if SPECIAL.contains(char) { format!("\\{char}") } else { char.to_string() }
}

/// Rewrites the classes that have only ASCII characters in Go, such as `\d`.
fn ascii(expression: &str) -> Result<String, String> {
    let (mut rewritten, mut chars, mut in_class) = (String::new(), expression.chars(), false);
    while let Some(char) = chars.next() {
        match char {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        if char != '\\' {
            rewritten.push(char);
            continue;
        }
        let escaped = chars.next().unwrap_or('\\');
        match (escaped, in_class) {
            ('d', _) => rewritten.push_str(if in_class { "0-9" } else { "[0-9]" }),
            ('w', _) => rewritten.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
            ('s', _) => {
                rewritten.push_str(if in_class { r"\t\n\x0C\r " } else { r"[\t\n\x0C\r ]" })
            }
            ('D', false) => rewritten.push_str("[^0-9]"),
            ('W', false) => rewritten.push_str("[^0-9A-Za-z_]"),
            ('S', false) => rewritten.push_str(r"[^\t\n\x0C\r ]"),
            ('D' | 'W' | 'S', true) | ('b' | 'B', _) => {
                return Err(format!(r"`\{escaped}` means something else in Go"));
            }
            _ => rewritten.extend(['\\', escaped]),
        }
    }
    Ok(rewritten)
}
