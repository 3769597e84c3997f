//! A public type has a name that no other public type of the product has, so that a name means one idea.

use std::collections::BTreeMap;

use syn::{Ident, Item, Visibility};

use crate::source::{Module, line_of, product_crates};
use crate::{expect_none, workspace};

/// Names that several public types may have, with the reason.
const ALLOWED: [(&str, &str); 2] = [
    ("Json", "a value of JSON in the engine, and an answer in JSON, as axum names it"),
    ("Row", "a row of the table of operators, and one of a table of routes"),
];

/// The places that define each public type.
type Places = BTreeMap<String, Vec<String>>;

fn add(items: &[Item], module: &Module, places: &mut Places) {
    for item in items {
        if let Item::Mod(inline) = item
            && let Some((_, items)) = &inline.content
        {
            add(items, module, places);
        }
        if let Some((ident, Visibility::Public(_))) = type_of(item) {
            places.entry(ident.to_string()).or_default().push(format!(
                "{}:{}",
                module.file.display(),
                line_of(ident)
            ));
        }
    }
}

fn type_of(item: &Item) -> Option<(&Ident, &Visibility)> {
    match item {
        Item::Enum(item) => Some((&item.ident, &item.vis)),
        Item::Struct(item) => Some((&item.ident, &item.vis)),
        Item::Trait(item) => Some((&item.ident, &item.vis)),
        Item::Type(item) => Some((&item.ident, &item.vis)),
        _ => None,
    }
}

/// Returns the names that several types have, and the exceptions that none needs.
fn faults(places: &Places, allowed: &[(&str, &str)]) -> Vec<String> {
    let mut shared: BTreeMap<&str, &Vec<String>> = places
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| (name.as_str(), places))
        .collect();
    let mut faults = Vec::new();
    for (name, _) in allowed {
        if shared.remove(name).is_none() {
            faults.push(format!("`{name}` needs no exception"));
        }
    }
    faults.extend(
        shared.into_iter().map(|(name, places)| format!("`{name}` is in {}", places.join(" and "))),
    );
    faults
}

#[test]
fn public_types_have_names_of_their_own() -> anyhow::Result<()> {
    let mut places = Places::new();
    for package in product_crates(&workspace::metadata()?)? {
        package.modules.iter().for_each(|module| add(&module.items, module, &mut places));
    }
    expect_none(&faults(&places, &ALLOWED))
}

#[test]
fn a_shared_name_and_an_unneeded_exception_are_found() -> anyhow::Result<()> {
    let mut places = Places::new();
    let modules = [
        ("a", "pub struct X; enum Y {}"),
        ("b", "mod c { pub type X = u8; } pub(crate) trait Y {}"),
    ];
    for (name, text) in modules {
        let module = crate::source::module(&[name], text)?;
        add(&module.items, &module, &mut places);
    }
    anyhow::ensure!(faults(&places, &[]).len() == 1);
    anyhow::ensure!(faults(&places, &[("X", "")]).is_empty());
    anyhow::ensure!(faults(&places, &[("X", ""), ("Y", "")]).len() == 1);
    Ok(())
}
