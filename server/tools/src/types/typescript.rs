//! Types of TypeScript.

use std::fmt::Write;

use portcullis_engine::types::PropertyType;

use super::names::{NamedType, TenantNames, comment, literal};

/// The identifiers that no type of a tenant has.
pub(super) const RESERVED: &str = "ResourceName PropertiesByType";

/// Returns the module. Writing to a string cannot fail.
pub(super) fn text(names: &TenantNames<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "// The names of the tenant {}, written by `portcullis types --lang ts`.",
        comment(names.tenant)
    );
    for one in &names.types {
        interface(one, &mut out);
    }
    out.push_str(
        "\n/** The properties of each type, by its name. */\nexport interface PropertiesByType {\n",
    );
    for one in &names.types {
        let _ = writeln!(out, "  {}: {};", literal(one.name), one.identifier);
    }
    out.push_str("}\n\n/** A registered resource: `<type>:<verb>`. */\nexport type ResourceName =");
    for resource in &names.resources {
        let _ = write!(out, "\n  | {}", literal(resource));
    }
    out.push_str(if names.resources.is_empty() { " never;\n" } else { ";\n" });
    out
}

fn interface(one: &NamedType<'_>, out: &mut String) {
    out.push('\n');
    about(one.about, "", out);
    let _ = writeln!(out, "export interface {} {{", one.identifier);
    for property in &one.properties {
        about(property.about, "  ", out);
        let _ = writeln!(out, "  {}?: {};", literal(property.name), value(property.kind));
    }
    out.push_str("}\n");
}

fn about(text: Option<&str>, indent: &str, out: &mut String) {
    if let Some(text) = text {
        let _ = writeln!(out, "{indent}/** {} */", comment(text).replace("*/", "* /"));
    }
}

fn value(kind: PropertyType) -> &'static str {
    match kind {
        PropertyType::Text | PropertyType::Datetime | PropertyType::Ip => "string",
        PropertyType::Number => "number",
        PropertyType::Boolean => "boolean",
        PropertyType::Texts => "string[]",
        PropertyType::Numbers => "number[]",
    }
}
