//! Types of Python.

use std::fmt::Write;

use portcullis_engine::types::PropertyType;

use super::names::{NamedType, TenantNames, comment, literal};

/// The identifiers that no type of a tenant has.
pub(super) const RESERVED: &str = "ResourceName Literal NoReturn TypedDict None True False";

/// Returns the module. Writing to a string cannot fail.
pub(super) fn text(names: &TenantNames<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# The names of the tenant {}, written by `portcullis types --lang python`.\n\n\
         from typing import Literal, NoReturn, TypedDict",
        comment(names.tenant)
    );
    for one in &names.types {
        dictionary(one, &mut out);
    }
    out.push_str("\n# A registered resource: `<type>:<verb>`.\nResourceName = ");
    if names.resources.is_empty() {
        out.push_str("NoReturn\n");
        return out;
    }
    out.push_str("Literal[\n");
    for resource in &names.resources {
        let _ = writeln!(out, "    {},", literal(resource));
    }
    out.push_str("]\n");
    out
}

fn dictionary(one: &NamedType<'_>, out: &mut String) {
    out.push('\n');
    about(one.about, "", out);
    let _ = writeln!(out, "{0} = TypedDict(\"{0}\", {{", one.identifier);
    for property in &one.properties {
        about(property.about, "    ", out);
        let _ = writeln!(out, "    {}: {},", literal(property.name), value(property.kind));
    }
    out.push_str("}, total=False)\n");
}

fn about(text: Option<&str>, indent: &str, out: &mut String) {
    if let Some(text) = text {
        let _ = writeln!(out, "{indent}# {}", comment(text));
    }
}

fn value(kind: PropertyType) -> &'static str {
    match kind {
        PropertyType::Text | PropertyType::Datetime | PropertyType::Ip => "str",
        PropertyType::Number => "float",
        PropertyType::Boolean => "bool",
        PropertyType::Texts => "list[str]",
        PropertyType::Numbers => "list[float]",
    }
}
