//! The modules of a crate as `mod` declarations reach them, without the code that only tests see.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::Metadata;
use quote::ToTokens;
use syn::{Attribute, Item, Meta};

use crate::workspace::{crate_root, product_packages, root};

/// A file of a crate.
pub(crate) struct Module {
    /// The names from the root of the crate; none for the root itself.
    pub(crate) path: Vec<String>,
    /// Relative to the repository.
    pub(crate) file: PathBuf,
    /// The items that a normal build has.
    pub(crate) items: Vec<Item>,
}

/// A crate of the product.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) modules: Vec<Module>,
}

/// Reads all crates of the product.
pub(crate) fn product_crates(metadata: &Metadata) -> Result<Vec<Crate>> {
    let mut crates = Vec::new();
    for package in product_packages(metadata) {
        let mut modules = Vec::new();
        load(Vec::new(), &crate_root(metadata, package)?, &mut modules)?;
        crates.push(Crate { name: package.name.to_string(), modules });
    }
    Ok(crates)
}

/// Makes a module from text, for negative controls.
pub(crate) fn module(path: &[&str], text: &str) -> Result<Module> {
    let file = PathBuf::from(format!(
        "{}.rs",
        if path.is_empty() { "lib".to_owned() } else { path.join("/") }
    ));
    Ok(Module { path: path.iter().map(ToString::to_string).collect(), file, items: parse(text)? })
}

/// Adds the module in `file` and all modules below it.
fn load(path: Vec<String>, file: &Path, modules: &mut Vec<Module>) -> Result<()> {
    let text =
        std::fs::read_to_string(root().join(file)).with_context(|| file.display().to_string())?;
    let items = parse(&text).with_context(|| file.display().to_string())?;
    let folder = folder_of(file, path.is_empty());
    for name in declared(&items) {
        // The file of a module is beside the folder of its submodules: there is no `mod.rs`.
        let child = folder.join(format!("{name}.rs"));
        load([path.clone(), vec![name]].concat(), &child, modules)?;
    }
    modules.push(Module { path, file: file.to_path_buf(), items });
    Ok(())
}

/// Returns the folder in which the children of the module in `file` are.
fn folder_of(file: &Path, is_root: bool) -> PathBuf {
    if is_root {
        return file.parent().map(Path::to_path_buf).unwrap_or_default();
    }
    file.with_extension("")
}

/// Returns the names of the modules that `items` declares in their own files.
fn declared(items: &[Item]) -> Vec<String> {
    let name = |item: &Item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module.ident.to_string()),
        _ => None,
    };
    items.iter().filter_map(name).collect()
}

/// Parses a file and drops the items that only tests see.
fn parse(text: &str) -> Result<Vec<Item>> {
    let mut items = syn::parse_file(text)?.items;
    drop_tests(&mut items);
    Ok(items)
}

fn drop_tests(items: &mut Vec<Item>) {
    items.retain(|item| !attributes(item).iter().any(is_for_tests));
    for item in items {
        match item {
            Item::Mod(module) => {
                if let Some((_, items)) = &mut module.content {
                    drop_tests(items);
                }
            }
            Item::Impl(block) => block.items.retain(|item| match item {
                syn::ImplItem::Fn(function) => !function.attrs.iter().any(is_for_tests),
                _ => true,
            }),
            _ => {}
        }
    }
}

/// Returns whether an attribute is a `cfg` that names `test`, as in `cfg(test)` and `cfg(any(test, …))`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    let text = list.tokens.to_string();
    list.path.is_ident("cfg")
        && text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        && !text.contains("not")
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns the line on which `item` begins.
pub(crate) fn line_of(item: &impl ToTokens) -> usize {
    item.to_token_stream().into_iter().next().map_or(0, |token| token.span().start().line)
}

#[cfg(test)]
mod tests {
    use super::module;

    #[test]
    fn code_of_tests_is_left_out() -> anyhow::Result<()> {
        let module = module(
            &[],
            "#[cfg(test)] mod tests; #[cfg(any(test, feature = \"x\"))] fn a() {} fn b() {}",
        )?;
        anyhow::ensure!(module.items.len() == 1);
        Ok(())
    }
}
