//! The functions of a matcher with a constant pattern, as Casbin's reference implementation in Go defines them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::str::Chars;

use super::condition::{Attribute, Condition};
use super::regex;

/// One segment of a path.
const SEGMENT: &str = "[^/]+";
/// Characters that have a meaning in a regular expression.
const SPECIAL: &str = r"\.+*?()|[]{}^$#&-~";

/// The functions with a pattern.
const FUNCTIONS: [&str; 8] = [
    "keyMatch",
    "keyMatch2",
    "keyMatch3",
    "keyMatch4",
    "keyMatch5",
    "regexMatch",
    "globMatch",
    "ipMatch",
];

/// Checks that `name` is a function with a pattern.
///
/// # Errors
/// It is a function of the application.
pub(super) fn known(name: &str) -> Result<(), String> {
    if FUNCTIONS.contains(&name) { Ok(()) } else { Err(unknown(name)) }
}

fn unknown(name: &str) -> String {
    format!(
        "the function `{name}` is not known; use a function of Casbin, or write a policy with a condition"
    )
}

/// Returns the condition that the function `name` returns true for `attribute` and `pattern`.
///
/// # Errors
/// The reason why no condition means the same.
pub(super) fn call(name: &str, attribute: Attribute, pattern: &str) -> Result<Condition, String> {
    let expression = match name {
        "keyMatch" => return Ok(key_match(attribute, pattern)),
        "ipMatch" => return ip_match(attribute, pattern),
        // Casbin makes `^*$` of it, which matches every text.
        "keyMatch2" | "keyMatch3" | "keyMatch4" | "keyMatch5" if pattern == "*" => {
            return Ok(Condition::Constant(true));
        }
        "regexMatch" => anywhere(pattern),
        "keyMatch2" => segments(pattern, ':')?,
        "keyMatch3" => segments(pattern, '{')?,
        "keyMatch4" => {
            let mut names = BTreeSet::new();
            if let Some(name) = braces(pattern).find(|name| !names.insert(*name)) {
                return Err(format!(
                    "`{name}` occurs twice in `{pattern}`, and a pattern cannot compare parts; write a policy for each case"
                ));
            }
            segments(pattern, '{')?
        }
        "keyMatch5" => without_query(pattern)?,
        "globMatch" => glob(pattern)?,
        _ => return Err(unknown(name)),
    };
    Ok(Condition::test(attribute, "matches", regex::as_in_go(&expression)?))
}

/// The text before the first `*` is a prefix, and the text after it has no meaning.
pub(super) fn key_match(attribute: Attribute, pattern: &str) -> Condition {
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

/// Returns the condition that `keyGet2(attribute, pattern, name)` is `text`: the segment of the attribute at `:name`.
///
/// # Errors
/// The text is empty, which `keyGet2` also returns if nothing matches, or the pattern has more than names.
pub(super) fn key_get2(
    attribute: Attribute,
    pattern: &str,
    name: &str,
    text: &str,
) -> Result<Condition, String> {
    if text.is_empty() {
        return Err("`keyGet2` cannot be compared with an empty text".to_owned());
    }
    // Elsewhere two segments of a path could be the one with the name.
    if !pattern.chars().all(|char| char.is_ascii_alphanumeric() || "/:_-".contains(char)) {
        return Err(format!(
            "`keyGet2` is translated with paths and names only, not with `{pattern}`"
        ));
    }
    let first = pattern
        .split('/')
        .position(|segment| segment.split_once(':').is_some_and(|(_, own)| own == name));
    let Some(first) = first else {
        return Ok(Condition::Constant(false));
    };
    let segments =
        pattern.split('/').enumerate().map(|(at, segment)| match segment.split_once(':') {
            Some((before, _)) if at == first => {
                [before.to_owned()].into_iter().chain(text.chars().map(literal)).collect()
            }
            Some((before, own)) if !own.is_empty() => format!("{before}{SEGMENT}"),
            _ => segment.to_owned(),
        });
    let expression = segments.collect::<Vec<_>>().join("/");
    // A segment has no slash, so that it is never this text.
    if text.contains('/') {
        return Ok(Condition::Constant(false));
    }
    Ok(Condition::test(attribute, "matches", expression))
}

/// Casbin's network may have host bits, which do not count.
fn ip_match(attribute: Attribute, pattern: &str) -> Result<Condition, String> {
    let network = match pattern.split_once('/') {
        None => pattern.parse::<IpAddr>().ok().map(|address| address.to_string()),
        Some(_) => pattern.parse::<ipnet::IpNet>().ok().map(|own| own.trunc().to_string()),
    };
    let network =
        network.ok_or_else(|| format!("`{pattern}` is neither an address nor a network"))?;
    Ok(Condition::test(attribute, "ip_in", network))
}

/// Returns an expression that matches a whole text if any part of it matches `pattern`.
fn anywhere(pattern: &str) -> String {
    let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    // With a `|` the signs belong to one alternative each, and after a `\` the `$` is a plain character.
    match inner.filter(|inner| !inner.contains('|') && !inner.ends_with('\\')) {
        Some(inner) => inner.to_owned(),
        None => format!("(?s:.*)(?:{pattern})(?s:.*)"),
    }
}

/// Replaces `/*` by anything below, and each name after `mark` by one segment. The rest stays a regular expression, as
/// in Casbin. `mark` is `:`, or `{` with a closing `}`.
fn segments(pattern: &str, mark: char) -> Result<String, String> {
    // Casbin puts the pattern between `^` and `$`, which then belong to one alternative each.
    if pattern.contains('|') {
        return Err(format!("`{pattern}` has a `|`; write a line for each alternative"));
    }
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
            return Err(format!(
                "`{name}` is not the name of a segment; close the `{{` before the `/`"
            ));
        }
        expression.push_str(before);
        // A mark without a name stays as it is.
        if name.is_empty() {
            expression.push(mark);
            rest = after;
            continue;
        }
        expression.push_str(SEGMENT);
        let closing = usize::from(mark == '{');
        rest = after.get(end + closing..).unwrap_or_default();
        let other = rest.split('/').next().unwrap_or_default();
        if mark == '{' && other.contains('}') {
            return Err(format!(
                "`{pattern}` has two names in one segment, which Casbin's versions read differently; use one name"
            ));
        }
    }
    Ok(expression + rest)
}

/// Returns the names in braces.
fn braces(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

/// Translates `keyMatch5`, which ignores all after a `?` of the path.
fn without_query(pattern: &str) -> Result<String, String> {
    // A path ends where its query begins, so that no part of the expression may match a `?`.
    let path = segments(pattern, '{')?.replace("/.*", "/[^?]*").replace(SEGMENT, "[^/?]+");
    let plain = path.replace("[^/?]+", "").replace("[^?]*", "");
    if plain.contains(|char| SPECIAL.contains(char) && !matches!(char, '-' | '.' | '&' | '#' | '~'))
    {
        return Err(format!(
            "`{pattern}` has signs of a regular expression; `keyMatch5` is translated with names and `/*` only"
        ));
    }
    Ok(format!(r"{}(?s:\?.*)?", path.replace('.', "[^?]")))
}

/// Translates `globMatch`: `*` and `?` do not match `/`.
fn glob(pattern: &str) -> Result<String, String> {
    if pattern.contains("**") || pattern.contains('{') {
        return Err(format!(
            "`{pattern}` has `**` or `{{`, which Casbin's versions read differently; use `*`, or `regexMatch`"
        ));
    }
    let (mut expression, mut chars) = (String::new(), pattern.chars());
    while let Some(char) = chars.next() {
        match char {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => expression.push_str(&class(&mut chars).ok_or_else(|| {
                format!(
                    "`{pattern}` has a class that is not translated; use letters, digits and ranges"
                )
            })?),
            '\\' => expression.push_str(&literal(chars.next().unwrap_or('\\'))),
            char => expression.push_str(&literal(char)),
        }
    }
    Ok(expression)
}

/// Reads a class such as `[a-z]`. Returns `None` for one with other characters than letters, digits and ranges of them.
/// The `[` is read already.
fn class(chars: &mut Chars<'_>) -> Option<String> {
    let (items, rest) = chars.as_str().split_once(']')?;
    if items.is_empty()
        || items.starts_with('-')
        || items.ends_with('-')
        || !items.chars().all(|char| char.is_ascii_alphanumeric() || char == '-')
    {
        return None;
    }
    *chars = rest.chars();
    Some(format!("[{items}]"))
}

/// Returns an expression for a character.
fn literal(char: char) -> String {
    if SPECIAL.contains(char) { format!("\\{char}") } else { char.to_string() }
}
