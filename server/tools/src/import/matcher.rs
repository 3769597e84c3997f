//! The shapes of matchers that rules can express. The tokens come from the engine's Casbin lexer.

use super::columns::{Column, Comparison, RoleScope};

/// Returns the column that a part of a matcher compares, and how.
pub(super) fn comparison(part: &[&str], columns: &[Column]) -> Option<(Column, Comparison)> {
    match part {
        ["g", "(", "r.sub", ",", "p.sub", ")"] => {
            return Some((Column::Sub, Comparison::Role(RoleScope::Everywhere)));
        }
        ["g", "(", "r.sub", ",", "p.sub", ",", "r.dom", ")"] if columns.contains(&Column::Dom) => {
            return Some((Column::Sub, Comparison::Role(RoleScope::ByDomain)));
        }
        _ => {}
    }
    let inner = match part {
        ["(", inner @ .., ")"] => inner,
        whole => whole,
    };
    let alternatives = split(inner, "||");
    let compared = columns.iter().filter(|column| **column != Column::Eft);
    compared.copied().find_map(|column| Some((column, comparison_of(column, &alternatives)?)))
}

/// Returns how `alternatives` compare `column`; `None` if they do something else.
fn comparison_of(column: Column, alternatives: &[&[&str]]) -> Option<Comparison> {
    let names = ["r", "p"].map(|side| format!("{side}.{}", column.name()));
    let [request, policy] = names.each_ref().map(String::as_str);
    match *alternatives {
        [one] if is_equality(one, request, policy) => Some(Comparison::Equal),
        [["keyMatch", "(", left, ",", right, ")"]]
            if column != Column::Sub && (*left, *right) == (request, policy) =>
        {
            Some(Comparison::KeyMatch)
        }
        // The guard is tried for both orders.
        [one, other] | [other, one]
            if is_equality(one, request, policy) && is_star(other, policy) =>
        {
            Some(Comparison::OrStar)
        }
        _ => None,
    }
}

/// Returns whether `part` is `one == other` or `other == one`.
fn is_equality(part: &[&str], one: &str, other: &str) -> bool {
    match part {
        [left, "==", right] => (*left, *right) == (one, other) || (*left, *right) == (other, one),
        _ => false,
    }
}

/// Returns whether `part` is `name == "*"`.
fn is_star(part: &[&str], name: &str) -> bool {
    matches!(part, [left, "==", r#""*""# | "'*'"] if *left == name)
}

/// Returns the subject in `r.sub == "<subject>"`.
pub(super) fn superuser(part: &[&str]) -> Option<String> {
    let ["r.sub", "==", text] = part else { return None };
    let name = ['"', '\''].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote));
    // The name is taken as it is written, so it cannot have an escape.
    name.filter(|name| !name.contains(['"', '\\'])).map(str::to_owned)
}

/// Returns the parts of `tokens` between the `symbol`s that stand outside of parentheses.
pub(super) fn split<'t, 's>(tokens: &'t [&'s str], symbol: &str) -> Vec<&'t [&'s str]> {
    let mut depth = 0;
    let is_separator = |token: &&str| {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0 && *token == symbol
    };
    tokens.split(is_separator).collect()
}
