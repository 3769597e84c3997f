//! JSON Schemas (2020-12) of the files that people write. They come from the declarations of which the readers and the
//! document of the API come too.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::schema::{self, AnySchema};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The first part of every `$id`. The project has no public address, and an editor never fetches a URN.
const ID: &str = "urn:portcullis:schema:";
/// The last part of the names of files.
const ENDING: &str = ".schema.json";
/// The place of a named schema in the document of the API, and in its own schema.
const IN_DOCUMENT: &str = "#/components/schemas/";
const IN_SCHEMA: &str = "#/$defs/";

/// The schema of one kind of file.
#[derive(Clone, Copy, Debug)]
pub struct FileSchema {
    /// The name of the kind, such as `policies`.
    pub kind: &'static str,
    /// The name of the file, such as `policies.yaml`.
    pub file: &'static str,
    /// The content of the file, in a sentence.
    about: &'static str,
    /// Returns the name of the type, and all schemas by their names.
    named: fn() -> (String, BTreeMap<String, AnySchema>),
    /// The name of one item, if the file is a list.
    item: Option<&'static str>,
    /// The least number of items, if the file is a list.
    least: usize,
}

impl FileSchema {
    /// Returns the schema of a file that is a `T`.
    pub const fn for_type<T: ToSchema>(
        kind: &'static str,
        file: &'static str,
        about: &'static str,
    ) -> Self {
        Self { kind, file, about, named: named::<T>, item: None, least: 0 }
    }

    /// Returns the schema of a file that is a list of `T`, each called `item`.
    pub const fn list_of<T: ToSchema>(
        kind: &'static str,
        file: &'static str,
        item: &'static str,
        about: &'static str,
    ) -> Self {
        Self { kind, file, about, named: named::<T>, item: Some(item), least: 0 }
    }

    /// Returns the schema of a list that is not empty.
    #[must_use]
    pub const fn at_least_one(mut self) -> Self {
        self.least = 1;
        self
    }

    /// Returns the name of the file that has the schema, such as `policies.schema.json`.
    pub fn file_name(&self) -> String {
        format!("{}{ENDING}", self.kind)
    }

    /// Returns the first line of a YAML file, which tells editors that its schema is in `folder`, relative to the file.
    pub fn first_line(&self, folder: &str) -> String {
        format!("# yaml-language-server: $schema={folder}/{}", self.file_name())
    }

    /// Returns the schema. Its references stay inside it.
    pub fn to_json(&self) -> Value {
        let (name, named) = (self.named)();
        // The references are changed in each definition, because a file has no document of the API around it.
        let mut definitions: Map<String, Value> = Map::new();
        for (name, schema) in named {
            let mut schema = json!(schema);
            refer_to_definitions(&mut schema);
            definitions.insert(name.clone(), titled(&name, schema));
        }
        let head = json!({
            "$schema": DIALECT,
            "$id": format!("{ID}{}", self.kind),
            "title": self.file,
            "description": self.about,
        });
        let content = match self.item {
            Some(item) => {
                // The item has another name in the file than its type has in the document of the API.
                if let Some(schema) = definitions.remove(&name) {
                    definitions.insert(item.to_owned(), titled(item, schema));
                }
                let items = json!({"$ref": format!("{IN_SCHEMA}{item}")});
                match self.least {
                    0 => json!({"type": "array", "items": items}),
                    least => json!({"type": "array", "minItems": least, "items": items}),
                }
            }
            // The type of the file is the schema itself, and no definition of it.
            None => definitions.remove(&name).unwrap_or_default(),
        };
        let mut whole = Map::new();
        for part in [head, content, json!({"$defs": definitions})] {
            for (key, value) in part.as_object().into_iter().flatten() {
                // The head has the title and the description of the file.
                whole.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Value::Object(whole)
    }

    /// Returns the schema as the text of a file.
    pub fn to_text(&self) -> String {
        format!("{:#}\n", self.to_json())
    }
}

/// Returns the name of `T`, and its schema with those that it names.
fn named<T: ToSchema>() -> (String, BTreeMap<String, AnySchema>) {
    let mut all = Vec::new();
    schema::collect::<T>(&mut all);
    (T::name().into_owned(), all.into_iter().collect())
}

/// Returns `schema` with a title, which an editor shows above the description.
fn titled(title: &str, schema: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("title".to_owned(), json!(title));
    if let Value::Object(schema) = schema {
        // The given title is there already, and must not be replaced.
        whole.extend(schema.into_iter().filter(|(key, _)| key != "title"));
    }
    Value::Object(whole)
}

/// Makes each reference to a named schema one to a definition of the same schema.
fn refer_to_definitions(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(name) = target.strip_prefix(IN_DOCUMENT)
            {
                *target = format!("{IN_SCHEMA}{name}");
            }
            members.values_mut().for_each(refer_to_definitions);
        }
        Value::Array(items) => items.iter_mut().for_each(refer_to_definitions),
        _ => {}
    }
}
