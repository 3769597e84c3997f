//! The paths that code names: in `use`, in expressions and types, in macros, and in attributes such as
//! `#[serde(with = "stored::url")]`.

use anyhow::{Context, Result};
use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Ident, Item, ItemUse, UseTree, Visibility};

/// A path as the code writes it.
pub(crate) struct NamedPath {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    pub(crate) place: Place,
}

/// The construct that names a path.
#[derive(PartialEq, Eq)]
pub(crate) enum Place {
    /// A `use` of the name, which code of the same module means by it.
    Use { name: String, is_reexport: bool },
    /// A `use` of everything in a module.
    Glob { is_reexport: bool },
    /// An expression, a type, a pattern, or a macro.
    Code,
}

/// Returns the paths of one item. An inline module has none: its items have.
pub(crate) fn paths_of(item: &Item) -> Result<Vec<NamedPath>> {
    let mut paths = Vec::new();
    match item {
        Item::Use(import) => add_use(import, &mut paths),
        Item::Mod(_) => {}
        _ => add_tokens(item.to_token_stream(), &mut paths)?,
    }
    Ok(paths)
}

fn add_use(import: &ItemUse, paths: &mut Vec<NamedPath>) {
    let line = import.use_token.span.start().line;
    let is_reexport = !matches!(import.vis, Visibility::Inherited);
    let mut open = vec![(Vec::new(), &import.tree)];
    while let Some((mut prefix, tree)) = open.pop() {
        let place = match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                open.push((prefix, &path.tree));
                continue;
            }
            UseTree::Group(group) => {
                open.extend(group.items.iter().map(|tree| (prefix.clone(), tree)));
                continue;
            }
            UseTree::Name(name) => {
                if name.ident != "self" {
                    prefix.push(name.ident.to_string());
                }
                Place::Use { name: prefix.last().cloned().unwrap_or_default(), is_reexport }
            }
            UseTree::Rename(rename) => {
                prefix.push(rename.ident.to_string());
                Place::Use { name: rename.rename.to_string(), is_reexport }
            }
            UseTree::Glob(_) => Place::Glob { is_reexport },
        };
        paths.push(NamedPath { segments: prefix, line, place });
    }
}

/// Adds every path in `tokens`, and those of nested groups. It reads tokens and not syntax, since the arguments of a
/// macro have no syntax that is known here.
fn add_tokens(tokens: TokenStream, paths: &mut Vec<NamedPath>) -> Result<()> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Group(group) => add_tokens(group.stream(), paths)?,
            TokenTree::Literal(literal) => add_literal(literal, paths),
            TokenTree::Ident(ident) if ident == "use" && is_import(&tokens, at) => {
                let end = end_of_statement(&tokens, at);
                let statement: TokenStream = tokens.iter().take(end).skip(at).cloned().collect();
                let import = syn::parse2(statement)
                    .with_context(|| format!("line {}", ident.span().start().line))?;
                add_use(&import, paths);
                at = end;
                continue;
            }
            TokenTree::Ident(ident) => {
                let segments = path_at(&tokens, at);
                let length = 3 * segments.len() - 2;
                if !follows_dot_or_path(&tokens, at) {
                    paths.push(NamedPath {
                        segments,
                        line: ident.span().start().line,
                        place: Place::Code,
                    });
                }
                at += length;
                continue;
            }
            TokenTree::Punct(_) => {}
        }
        at += 1;
    }
    Ok(())
}

/// Returns the segments of the path that begins at `at`: `a`, `:`, `:`, `b`, and so on.
fn path_at(tokens: &[TokenTree], at: usize) -> Vec<String> {
    let mut segments = Vec::new();
    let mut at = at;
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        segments.push(ident.to_string());
        if !(is_punct(tokens.get(at + 1), ':') && is_punct(tokens.get(at + 2), ':')) {
            break;
        }
        at += 3;
    }
    segments
}

/// Returns whether the identifier at `at` belongs to something before it: a field, a method, or a longer path.
fn follows_dot_or_path(tokens: &[TokenTree], at: usize) -> bool {
    let [third, second, first] =
        [3, 2, 1].map(|distance| at.checked_sub(distance).and_then(|at| tokens.get(at)));
    match first {
        Some(TokenTree::Ident(word)) => word == "fn" || word == "let",
        // A range such as `0..LEN` ends with a path.
        Some(TokenTree::Punct(punct)) if punct.as_char() == '.' => !is_punct(second, '.'),
        Some(TokenTree::Punct(punct)) if punct.as_char() == ':' => {
            is_punct(second, ':') && third.is_some()
        }
        Some(TokenTree::Punct(punct)) => punct.as_char() == '\'',
        _ => false,
    }
}

/// Returns whether `use` begins a statement. In `impl Trait + use<'a>` it does not.
fn is_import(tokens: &[TokenTree], at: usize) -> bool {
    !is_punct(tokens.get(at + 1), '<')
}

/// Returns the index behind the semicolon that ends the statement at `at`.
fn end_of_statement(tokens: &[TokenTree], at: usize) -> usize {
    let length = tokens.iter().skip(at).take_while(|token| !is_punct(Some(token), ';')).count();
    at + length + 1
}

/// Adds a string that is written as a path, as attributes of serde have it.
fn add_literal(literal: &Literal, paths: &mut Vec<NamedPath>) {
    let text = literal.to_string();
    let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return };
    let segments: Vec<String> = text.split("::").map(str::to_owned).collect();
    if segments.len() > 1 && segments.iter().all(|name| syn::parse_str::<Ident>(name).is_ok()) {
        paths.push(NamedPath { segments, line: literal.span().start().line, place: Place::Code });
    }
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// Calls `visit` with every identifier in `tokens` and its line.
pub(crate) fn each_identifier(tokens: TokenStream, visit: &mut impl FnMut(String, usize)) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => each_identifier(group.stream(), visit),
            TokenTree::Ident(ident) => visit(ident.to_string(), ident.span().start().line),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, paths_of};

    #[test]
    fn every_way_to_name_something_is_a_path() -> anyhow::Result<()> {
        let text = "#[serde(with = \"a::b\")] fn f() { use c::{D, e::*}; g::h(x.i(), m!(j::K)); }";
        let paths = paths_of(&syn::parse_str(text)?)?;
        let names: Vec<String> = paths.iter().map(|path| path.segments.join("::")).collect();
        for name in ["a::b", "c::D", "c::e", "g::h", "j::K"] {
            anyhow::ensure!(names.iter().any(|it| it == name), "no `{name}` in {names:?}");
        }
        anyhow::ensure!(!names.iter().any(|it| it == "i"), "a method is no path");
        anyhow::ensure!(paths.iter().any(|path| path.place == Place::Glob { is_reexport: false }));
        Ok(())
    }
}
