//! Resolves the paths of a crate to the modules that define the named items. A module is a file; an inline module
//! belongs to its file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use syn::Item;

use crate::paths::{NamedPath, Place, paths_of};
use crate::source::Module;

/// The longest chain of re-exports that is followed.
const MAX_REEXPORTS: u32 = 16;

/// One use of another module.
pub(crate) struct Edge {
    /// The module that names something, by its path in the crate, such as `plan::index`; empty for the root.
    pub(crate) from: String,
    /// The module that defines it.
    pub(crate) to: String,
    pub(crate) line: usize,
    /// The path as the code writes it.
    pub(crate) named: String,
}

/// All modules of a crate with the names that each has.
pub(crate) struct ModuleTree {
    scopes: BTreeMap<Vec<String>, Scope>,
}

/// A module, in its own file or inline.
#[derive(Default)]
struct Scope {
    /// The module of the file.
    file: Vec<String>,
    /// The names of the items that it defines.
    items: BTreeSet<String>,
    /// The names that `use` declarations bring, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    /// The paths of the modules from which everything is imported.
    globs: Vec<Vec<String>>,
    paths: Vec<NamedPath>,
}

impl ModuleTree {
    pub(crate) fn new(modules: &[Module]) -> Result<Self> {
        let mut tree = Self { scopes: BTreeMap::new() };
        for module in modules {
            tree.add(&module.path, &module.path, &module.items)?;
        }
        Ok(tree)
    }

    fn add(&mut self, path: &[String], file: &[String], items: &[Item]) -> Result<()> {
        let mut scope = Scope { file: file.to_vec(), ..Scope::default() };
        for item in items {
            scope.items.extend(name_of(item));
            for named in paths_of(item)? {
                match &named.place {
                    Place::Use { name, .. } => {
                        scope.imports.insert(name.clone(), named.segments.clone());
                    }
                    Place::Glob { .. } => scope.globs.push(named.segments.clone()),
                    Place::Code => {}
                }
                scope.paths.push(named);
            }
            if let Item::Mod(module) = item
                && let Some((_, items)) = &module.content
            {
                self.add(&[path, &[module.ident.to_string()]].concat(), file, items)?;
            }
        }
        self.scopes.insert(path.to_vec(), scope);
        Ok(())
    }

    /// Returns every use of one module by another. A re-export is no use.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (path, scope) in &self.scopes {
            for named in scope.paths.iter().filter(|named| is_use(named)) {
                let Some(target) = self.resolve(path, &named.segments, MAX_REEXPORTS) else {
                    continue;
                };
                if target.file != scope.file {
                    let (from, to) = (scope.file.join("::"), target.file.join("::"));
                    edges.push(Edge {
                        from,
                        to,
                        line: named.line,
                        named: named.segments.join("::"),
                    });
                }
            }
        }
        edges
    }

    /// Returns the module that defines what `segments` name in the module `at`. `None` means that it is not an item of this
    /// crate.
    fn resolve(&self, at: &[String], segments: &[String], depth: u32) -> Option<&Scope> {
        let depth = depth.checked_sub(1)?;
        let (first, rest) = segments.split_first()?;
        let mut at = at.to_vec();
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop()?;
            }
            _ => return self.resolve_name(&at, segments, depth),
        }
        let mut rest = rest;
        while let Some((name, behind)) = rest.split_first()
            && name == "super"
        {
            at.pop()?;
            rest = behind;
        }
        self.descend(at, rest, depth)
    }

    /// Resolves a path that begins with a name: of a child, an import, or an item. All other names are local variables
    /// and external crates.
    fn resolve_name(&self, at: &[String], segments: &[String], depth: u32) -> Option<&Scope> {
        let scope = self.scopes.get(at)?;
        let (first, rest) = segments.split_first()?;
        if let Some(import) = scope.imports.get(first).filter(|import| *import != segments) {
            return self.resolve(at, &[import, rest].concat(), depth);
        }
        // A name alone may be a variable that is called like a module.
        let is_child = !rest.is_empty()
            && self.scopes.contains_key(&[at, std::slice::from_ref(first)].concat());
        if is_child || scope.items.contains(first) {
            return self.descend(at.to_vec(), segments, depth);
        }
        None
    }

    /// Follows `segments` from the module `at` down to the item that they name.
    fn descend(&self, at: Vec<String>, segments: &[String], depth: u32) -> Option<&Scope> {
        let scope = self.scopes.get(&at)?;
        let Some((first, rest)) = segments.split_first() else { return Some(scope) };
        let child = [at.as_slice(), std::slice::from_ref(first)].concat();
        if self.scopes.contains_key(&child) {
            return self.descend(child, rest, depth);
        }
        if scope.items.contains(first) {
            return Some(scope);
        }
        if let Some(import) = scope.imports.get(first) {
            return self.resolve(&at, &[import, rest].concat(), depth);
        }
        let from_glob = scope.globs.iter().filter_map(|glob| self.resolve(&at, glob, depth));
        let mut defining = from_glob.filter(|scope| scope.items.contains(first));
        // A macro may have made a name that no item has: it counts as an item of this module.
        Some(defining.next().unwrap_or(scope))
    }
}

/// Returns whether a path makes its module depend on what it names. A lower-case name alone is rather a variable.
fn is_use(named: &NamedPath) -> bool {
    match named.place {
        Place::Use { is_reexport, .. } | Place::Glob { is_reexport } => !is_reexport,
        Place::Code => {
            let is_type = |name: &String| name.starts_with(char::is_uppercase);
            named.segments.len() > 1 || named.segments.first().is_some_and(is_type)
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

#[cfg(test)]
mod tests {
    use super::ModuleTree;
    use crate::source::module;

    /// Returns the edges between three modules as `from -> to`.
    fn edges(root: &str, a: &str, b: &str) -> anyhow::Result<Vec<String>> {
        let modules = [module(&[], root)?, module(&["a"], a)?, module(&["a", "b"], b)?];
        let edges = ModuleTree::new(&modules)?.edges();
        Ok(edges.iter().map(|edge| format!("{} -> {}", edge.from, edge.to)).collect())
    }

    #[test]
    fn a_path_leads_to_the_module_that_defines_its_item() -> anyhow::Result<()> {
        let cases = [
            ("an item of the parent", "", "struct X;", "use super::X;", vec!["a::b -> a"]),
            ("a re-export of the parent", "", "pub use b::X;", "pub struct X;", vec![]),
            (
                "a re-export that the parent itself uses",
                "",
                "pub use b::X; fn f(x: X) {}",
                "pub struct X;",
                vec!["a -> a::b"],
            ),
            ("a private import", "", "use b::X;", "pub struct X;", vec!["a -> a::b"]),
            ("a path in code", "fn f() { a::b::g() }", "", "fn g() {}", vec![" -> a::b"]),
            (
                "a re-export of the root",
                "pub use a::b::X;",
                "fn f(x: crate::X) {}",
                "pub struct X;",
                vec!["a -> a::b"],
            ),
            (
                "a function of a module by its import",
                "use a::b; fn f() { b::g() }",
                "",
                "",
                vec![" -> a::b", " -> a::b"],
            ),
            (
                "an external crate",
                "use std::fmt;",
                "use super::fmt;",
                "fn f(b: u8) { std::b(b) }",
                vec![],
            ),
        ];
        for (name, root, a, b, expected) in cases {
            let found = edges(root, a, b)?;
            anyhow::ensure!(found == expected, "{name}: {found:?}");
        }
        Ok(())
    }
}
