//! The matchers of models: the few shapes that rules express.

use super::model::{Column, Compare};

/// The comparison that a part of a matcher is.
pub(super) fn comparison(part: &str, columns: &[Column]) -> Option<(Column, Compare)> {
    let has_domain = columns.contains(&Column::Dom);
    if part == "g(r.sub,p.sub)" || (has_domain && part == "g(r.sub,p.sub,r.dom)") {
        return Some((Column::Sub, Compare::Role));
    }
    let inner = part.strip_prefix('(').and_then(|part| part.strip_suffix(')'));
    columns.iter().filter(|column| **column != Column::Eft).find_map(|column| {
        let [r, p] = ["r", "p"].map(|side| format!("{side}.{}", column.name()));
        let equal = [format!("{r}=={p}"), format!("{p}=={r}")];
        let star = format!("{p}==\"*\"");
        let mut alternatives = split(inner.unwrap_or(part), "||");
        alternatives.sort_unstable_by_key(|part| *part == star);
        let compare = match &*alternatives {
            [one] if equal.contains(&(*one).to_owned()) => Compare::Equal,
            [one, other] if equal.contains(&(*one).to_owned()) && *other == star => Compare::OrStar,
            [one] if *column != Column::Sub && *one == format!("keyMatch({r},{p})") => {
                Compare::KeyMatch
            }
            _ => return None,
        };
        Some((*column, compare))
    })
}

/// The text without white space and with double quotes, outside of strings.
pub(super) fn squeezed(text: &str) -> String {
    let mut quote = None;
    let mut squeezed = String::with_capacity(text.len());
    for char in text.chars() {
        match (quote, char) {
            (None, char) if char.is_whitespace() => continue,
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), char) if char == open => quote = None,
            _ => {
                squeezed.push(char);
                continue;
            }
        }
        squeezed.push('"');
    }
    squeezed
}

/// The parts of `text` between `symbol`s that stand in no parentheses and no string.
pub(super) fn split<'t>(text: &'t str, symbol: &str) -> Vec<&'t str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0, false);
    for (at, char) in text.char_indices() {
        match char {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ if !quoted && depth == 0 && at >= start && text[at..].starts_with(symbol) => {
                parts.push(&text[start..at]);
                start = at + symbol.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
