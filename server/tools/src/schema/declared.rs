//! Schemas with the names that a tenant declares, which editors complete. They accept what the schemas without them accept.

use std::collections::BTreeMap;

use portcullis_engine::types::{ACTION, CONTEXT, USER};
use portcullis_model::types::{NewType, PropertyDeclaration};
use serde_json::{Map, Value, json};

/// The members of the attributes of a check, in the schema of cases.
const ATTRIBUTES: &str = "/$defs/Check/properties/attributes/properties";
/// The name of the schema of a condition on an item.
const ITEM_CONDITION: &str = "ItemCondition";
/// The namespace of the attributes of resources.
const RESOURCE: &str = "resource";

/// Adds the declared names to the schema of a file: to the attributes of cases, and to those that condition trees read.
pub(super) fn add_names(schema: &mut Value, types: &[NewType]) {
    let namespaces = [USER, RESOURCE, ACTION, CONTEXT]
        .map(|namespace| (namespace, declared_in(namespace, types)));
    for (namespace, properties) in &namespaces {
        let attributes = schema.pointer_mut(ATTRIBUTES).and_then(|all| all.get_mut(namespace));
        if let Some(Value::Object(attributes)) = attributes {
            attributes.insert("properties".to_owned(), described(attributes, properties));
        }
    }
    let paths = namespaces.iter().flat_map(|(namespace, properties)| {
        properties.keys().map(move |name| Value::from(format!("{namespace}.{name}")))
    });
    add_paths(schema, &paths.collect());
}

/// Returns the properties that the attributes of a namespace can have. The properties of a resource may be of any type.
fn declared_in<'t>(
    namespace: &str,
    types: &'t [NewType],
) -> BTreeMap<&'t str, &'t PropertyDeclaration> {
    let types = types.iter().filter(|declared| match namespace {
        // The file does not say of which type a resource is, so the properties of all types are offered.
        RESOURCE => ![USER, CONTEXT, ACTION].contains(&&*declared.kind),
        namespace => declared.kind == namespace,
    });
    let properties = types.flat_map(|declared| &declared.properties);
    properties.map(|(name, property)| (&**name, property)).collect()
}

/// Returns a schema for each property: the schema of any other attribute, with a description.
fn described(
    attributes: &Map<String, Value>,
    properties: &BTreeMap<&str, &PropertyDeclaration>,
) -> Value {
    // A declared property keeps the schema of any attribute, and only gains a description.
    let any = attributes.get("additionalProperties").cloned().unwrap_or_else(|| json!({}));
    let described = properties.iter().map(|(name, declared)| {
        let about = declared.about.iter().map(|about| format!(": {about}"));
        let about = format!("{}{}", declared.kind, about.collect::<String>());
        let mut schema = any.clone();
        schema["description"] = about.into();
        ((*name).to_owned(), schema)
    });
    Value::Object(described.collect())
}

/// Adds the paths as examples to each member `attribute` of a condition, and `item` to those of one on an item.
fn add_paths(schema: &mut Value, paths: &Vec<Value>) {
    match schema {
        Value::Object(object) => {
            let attribute = object.get_mut("properties").and_then(|all| all.get_mut("attribute"));
            if let Some(Value::Object(attribute)) = attribute {
                attribute.insert("examples".to_owned(), Value::Array(paths.clone()));
            }
            for (name, part) in object {
                match &**name {
                    ITEM_CONDITION => {
                        let item = std::iter::once(Value::from("item"));
                        add_paths(part, &item.chain(paths.iter().cloned()).collect());
                    }
                    _ => add_paths(part, paths),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add_paths(item, paths)),
        _ => {}
    }
}
