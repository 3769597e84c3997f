//! The API document, by which requests and scripted answers are judged. Its schemas are closed: a member that it does not
//! declare is a fault, so that a renamed optional member breaks every client.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use crate::scenario::{Answer, Fault, Seen};

/// The API document, with closed schemas.
pub(crate) struct Document {
    root: Value,
    /// The compiled schemas, by their place.
    validators: Mutex<BTreeMap<String, std::sync::Arc<jsonschema::Validator>>>,
}

impl Document {
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let open: Value =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let root = closed(&open, &open);
        Ok(Self { root, validators: Mutex::default() })
    }

    /// Returns the faults of a request.
    pub(crate) fn request_faults(&self, seen: &Seen) -> Vec<String> {
        let Some((place, operation)) = self.operation(&seen.method, path_of(seen)) else {
            return vec![format!("{} {} is not a route of the document", seen.method, seen.path)];
        };
        let mut faults = self.undeclared_headers(&seen.headers, &self.parameters(operation));
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        match (schema.is_null(), seen.body.is_empty(), seen.json()) {
            (true, true, _) => {}
            (true, false, _) => faults.push("a body that the document does not have".to_owned()),
            (false, _, None) => faults.push("the body is not JSON".to_owned()),
            (false, _, Some(body)) => {
                faults.extend(self.judge(&format!("{place}/body"), schema, &body))
            }
        }
        for parameter in query_names(&seen.path) {
            if !self.parameters(operation).contains(&format!("query {parameter}")) {
                faults.push(format!("the query parameter `{parameter}` is not declared"));
            }
        }
        faults.iter().map(|fault| format!("{} {}: {fault}", seen.method, seen.path)).collect()
    }

    /// Returns the faults of a scripted answer to a request: of a 2xx with `json` alone.
    pub(crate) fn answer_faults(&self, seen: &Seen, answer: &Answer) -> Vec<String> {
        // What never arrives whole is not judged.
        let arrives = matches!(answer.fault, None | Some(Fault::Half | Fault::Slow));
        let is_good = arrives
            && (200..300).contains(&answer.status)
            && answer.body.is_none()
            && !answer.extra;
        let Some((place, operation)) =
            self.operation(&seen.method, path_of(seen)).filter(|_| is_good)
        else {
            return Vec::new();
        };
        let response = self.resolved(&operation["responses"][answer.status.to_string()]);
        if response.is_null() {
            return vec![format!("{place}: the document has no answer {}", answer.status)];
        }
        let declared: Vec<String> = response["headers"]
            .as_object()
            .map(|headers| {
                headers.keys().map(|name| format!("header {}", name.to_lowercase())).collect()
            })
            .unwrap_or_default();
        let headers =
            answer.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone()));
        let mut faults = self.undeclared_headers(&headers.collect(), &declared);
        let schema = &response["content"]["application/json"]["schema"];
        if let Some(body) = &answer.json {
            if schema.is_null() {
                faults.push("the document has no body".to_owned());
            } else {
                faults.extend(self.judge(&format!("{place}/{}", answer.status), schema, body));
            }
        }
        faults.iter().map(|fault| format!("{place}: scripted answer: {fault}")).collect()
    }

    /// Returns the operation of a route, with its name: literal segments count before parameters.
    fn operation(&self, method: &str, path: &str) -> Option<(String, &Value)> {
        let paths = self.root["paths"].as_object()?;
        let method = method.to_lowercase();
        let fitting = paths
            .iter()
            .filter(|(template, item)| fits(template, path) && item.get(&method).is_some());
        let (template, item) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
        Some((format!("{method} {template}"), &item[&method]))
    }

    /// Returns the declared parameters of an operation: `header x-domain`, `query limit`.
    fn parameters(&self, operation: &Value) -> Vec<String> {
        let schemes = self.root["components"]["securitySchemes"].as_object();
        // A key of the API is a header too, though no operation lists it.
        let keys =
            schemes.into_iter().flat_map(Map::values).filter(|scheme| scheme["type"] == "apiKey");
        let listed = operation["parameters"].as_array().into_iter().flatten();
        let listed = listed.map(|parameter| self.resolved(parameter)).chain(keys);
        listed.map(parameter_text).collect()
    }

    /// Returns a fault for each header of ours (`X-…`) that is not declared.
    fn undeclared_headers(
        &self,
        headers: &BTreeMap<String, String>,
        declared: &[String],
    ) -> Vec<String> {
        let names = headers.keys().filter(|name| name.starts_with("x-"));
        let unknown = names.filter(|name| !declared.contains(&format!("header {name}")));
        unknown.map(|name| format!("the header `{name}` is not declared")).collect()
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let target = value["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
        target.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(value)
    }

    fn judge(&self, place: &str, schema: &Value, value: &Value) -> Vec<String> {
        let mut validators =
            self.validators.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let validator = match validators.get(place) {
            Some(validator) => validator.clone(),
            None => {
                let whole = json!({"allOf": [schema], "components": self.root["components"]});
                let Ok(validator) = jsonschema::draft202012::new(&whole) else {
                    return vec![format!("the schema of {place} cannot be used")];
                };
                let validator = std::sync::Arc::new(validator);
                validators.insert(place.to_owned(), validator.clone());
                validator
            }
        };
        // Other connections compile and judge meanwhile.
        drop(validators);
        validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect()
    }
}

/// Returns where a parameter stands and its name: `header x-domain`.
fn parameter_text(parameter: &Value) -> String {
    let name = parameter["name"].as_str().unwrap_or_default().to_lowercase();
    format!("{} {name}", parameter["in"].as_str().unwrap_or_default())
}

/// Returns the path of a request without its query.
fn path_of(seen: &Seen) -> &str {
    seen.path.split('?').next().unwrap_or_default()
}

fn query_names(path: &str) -> impl Iterator<Item = &str> {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(|part| part.split('=').next().unwrap_or(part))
}

/// Returns whether a path fits a template, whose parameters are whole segments.
fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template
            .iter()
            .zip(&path)
            .all(|(own, other)| own == other || own.starts_with('{') && !other.is_empty())
}

/// Returns the schemas below `value`, closed: `allOf` becomes one object, and an object that declares members has no others.
fn closed(value: &Value, root: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| closed(item, root)).collect(),
        Value::Object(members) => {
            let members = match members.get("allOf").and_then(Value::as_array) {
                Some(parts) => joined(members, parts, root),
                None => members.clone(),
            };
            // All parts together say which members there may be: a part alone would refuse the members of the others.
            let closes = members.get("properties").is_some_and(Value::is_object)
                && !members.contains_key("additionalProperties");
            let mut done: Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), closed(member, root))).collect();
            if closes {
                done.insert("additionalProperties".to_owned(), json!(false));
            }
            Value::Object(done)
        }
        other => other.clone(),
    }
}

/// Returns an object schema with the members of all parts.
fn joined(own: &Map<String, Value>, parts: &[Value], root: &Value) -> Map<String, Value> {
    let mut whole = own.clone();
    whole.remove("allOf");
    let (mut properties, mut required) = (Map::new(), Vec::new());
    // The members beside `allOf` count as a last part.
    for part in parts.iter().chain([&Value::Object(whole.clone())]) {
        let target = part["$ref"].as_str().and_then(|name| root.pointer(name.strip_prefix('#')?));
        let part = target.unwrap_or(part);
        let nested = part["allOf"].as_array().map(|parts| match part {
            Value::Object(own) => Value::Object(joined(own, parts, root)),
            _ => part.clone(),
        });
        let part = nested.as_ref().unwrap_or(part);
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
    }
    whole.insert("type".to_owned(), json!("object"));
    whole.insert("properties".to_owned(), Value::Object(properties));
    whole.insert("required".to_owned(), Value::Array(required));
    whole
}
