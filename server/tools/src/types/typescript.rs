//! Types of TypeScript.

use std::fmt::Write;

use portcullis_engine::types::{ACTION, CONTEXT, PropertyType, USER};

use portcullis_engine::resource::split_resource;

use super::names::{NamedType, TenantNames, comment, literal};

/// The identifiers that no type of a tenant has.
pub(super) const RESERVED: &str = "ResourceName PropertiesByType Tenant";

/// Attributes of any name.
const ANY: &str = "{ [name: string]: unknown }";
/// The attributes that people and resources have beside their properties.
const ROLES: &str = r#"{ "roles"?: string[] }"#;
const IDENTITY: &str = r#"{ "id"?: string; "type"?: string }"#;

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
    // A union without members is not valid TypeScript, and `never` is what it would mean.
    out.push_str(if names.resources.is_empty() { " never;\n" } else { ";\n" });
    tenant(names, &mut out);
    out
}

/// Writes what a client of the tenant asks about. A person without declared properties may have any attribute, and so may a
/// resource where no type is declared.
fn tenant(names: &TenantNames<'_>, out: &mut String) {
    let people = names.types.iter().find(|one| one.name == USER && !one.properties.is_empty());
    let user = people.map_or(ANY.to_owned(), |one| format!("{} & {ROLES}", one.identifier));
    let resource = match &*types_of_resources(names) {
        [] => ANY.to_owned(),
        // Several types need parentheses, because `&` binds more tightly than `|`.
        [one] => format!("{one} & {IDENTITY}"),
        several => format!("({}) & {IDENTITY}", several.join(" | ")),
    };
    let _ = write!(
        out,
        "
/** What a client of the tenant asks about: `new Portcullis<Tenant>(…)`. */
export interface Tenant {{
  resource: ResourceName;
  attributes: {{
    user?: {user};
    resource?: {resource};
    action?: Action;
    context?: Context;
  }};
}}
"
    );
}

/// Returns the types that resources may have: those that are declared beside the three of every tenant, and with them people if
/// a resource is about people.
fn types_of_resources<'n>(names: &'n TenantNames<'_>) -> Vec<&'n str> {
    let about_people = names
        .resources
        .iter()
        .any(|resource| split_resource(resource).is_some_and(|(kind, _)| kind == USER));
    let types = names.types.iter().filter(|one| match one.name {
        CONTEXT | ACTION => false,
        USER => about_people && !one.properties.is_empty(),
        _ => true,
    });
    let types: Vec<_> = types.collect();
    let are_declared = types.iter().any(|one| one.name != USER);
    // People alone do not declare the resources, so every attribute stays possible then.
    types.into_iter().filter(|_| are_declared).map(|one| &*one.identifier).collect()
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
        // The text of the tenant must not end the comment.
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
