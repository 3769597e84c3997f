//! The API document (OpenAPI 3.1). It is made from the route table, so that it describes every route that is served.
//!
//! Each handler describes its own part: summary, body, success; its parameters add the credentials and what is read beside
//! the body. This module adds the common parts of every operation: its possible errors, the headers of every answer, and
//! the examples of its schemas.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use portcullis_auth::Mode;
use portcullis_http::error::{ErrorBody, schema as errors};
use portcullis_http::managed_domain;
use portcullis_http::row::{Row, RowKind};
use portcullis_model::schema as words;
use serde_json::{Map, Value, json};
use utoipa::IntoResponses;
use utoipa::openapi::{Header, Ref, RefOr, Response, ResponseBuilder};

/// An error that an operation names, because its other parts do not imply it.
macro_rules! errors {
    ($($name:ident = $status:literal),* $(,)?) => {$(
        pub(super) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                [($status.to_owned(), Ref::from_response_name($status).into())].into()
            }
        }
    )*};
}

errors!(NotFound = "404", Conflict = "409", PreconditionFailed = "412", QuotaExceeded = "422",);

/// The success of a deletion that raises the tenant's revision.
pub(super) struct Deleted;

impl IntoResponses for Deleted {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let revision = Header::default();
        let deleted = ResponseBuilder::new().description("It is gone");
        let deleted = deleted.header("X-Policy-Revision", revision);
        [("204".to_owned(), deleted.into())].into()
    }
}

/// The document as text.
#[derive(Clone, Debug)]
pub(super) struct Document(pub(super) Bytes);

impl Document {
    /// Returns the document of `rows`.
    pub(super) fn new(rows: Vec<Row>, mode: &Mode) -> Self {
        let mut document = document(rows);
        if mode.has_a_tenant_per_domain() {
            add_managed_domain(&mut document);
        }
        Self(Bytes::from(document.to_string()))
    }
}

/// Returns the document of the operations that the rows describe.
fn document(mut rows: Vec<Row>) -> Value {
    rows.sort_by_key(|row| row.path);
    let (mut named, mut paths) = (Vec::new(), json!({}));
    words::collect::<ErrorBody>(&mut named);
    for Row { kind, path, .. } in rows {
        let RowKind::Documented { method, operation, schemas } = kind else { continue };
        named.extend(schemas);
        paths[path][method.as_str().to_ascii_lowercase()] = json!(operation);
    }
    let schemas = json!(named.into_iter().collect::<BTreeMap<_, _>>());
    // When all schemas are there: an example follows their references.
    for operation in operations(&mut paths) {
        complete(operation, &schemas);
    }
    let mut security_schemes = security_schemes();
    retain_used(&mut security_schemes, &mut paths);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Portcullis",
            "summary": "Multi-tenant authorization: decisions, and the rules that decide them",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "tags": tags(),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": headers(),
            "parameters": {"X-Request-Id": request_id()},
            "responses": error_responses(),
            "securitySchemes": security_schemes,
        },
    })
}

/// Adds the header that names another domain to every operation that a manager may call.
fn add_managed_domain(document: &mut Value) {
    for operation in operations(&mut document["paths"]) {
        // Checks name their domain in the body. What reads and erases their record has none.
        let is_check = operation.get("tags") == Some(&json!(["Decisions"]))
            && operation.contains_key("requestBody");
        if is_check || !needs(operation, "bearer") {
            continue;
        }
        if let Some(parameters) = operation.get_mut("parameters").and_then(Value::as_array_mut) {
            parameters.push(reference("parameters", "X-Domain"));
        }
    }
    document["components"]["parameters"]["X-Domain"] = managed_domain::description();
}

/// Returns every operation of `paths`.
fn operations(paths: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let items = paths.as_object_mut().into_iter().flat_map(Map::values_mut);
    let operations = items.filter_map(Value::as_object_mut).flat_map(Map::values_mut);
    operations.filter_map(Value::as_object_mut)
}

/// Adds the common parts to `operation`.
fn complete(operation: &mut Map<String, Value>, schemas: &Value) {
    let common = errors_of(operation);
    let responses = operation.entry("responses").or_insert_with(|| json!({}));
    for response in responses.as_object_mut().into_iter().flat_map(Map::values_mut) {
        refer_to_headers(response);
        add_examples(response, schemas);
    }
    for status in common {
        // An operation that names a status itself says more about it.
        if responses.get(status).is_none() {
            responses[status] = reference("responses", status);
        }
    }
    if let Some(body) = operation.get_mut("requestBody") {
        add_examples(body, schemas);
    }
    let parameters = operation.entry("parameters").or_insert_with(|| json!([]));
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(reference("parameters", "X-Request-Id"));
    }
}

/// Returns the status of each error that the kind of an operation implies.
fn errors_of(operation: &Map<String, Value>) -> Vec<&'static str> {
    let parameters = operation.get("parameters").and_then(Value::as_array);
    let mut errors = vec!["400", "405", "413", "500", "503"];
    if operation.contains_key("security") {
        errors.extend(["401", "429"]);
    }
    if needs(operation, "bearer") {
        errors.push("403");
    }
    if parameters.is_some_and(|all| all.iter().any(|parameter| parameter["in"] == "path")) {
        errors.push("404");
    }
    if operation.contains_key("requestBody") {
        errors.push("415");
    }
    if changes_decisions(operation) {
        errors.extend(["409", "422"]);
    }
    errors
}

/// Returns whether gates of a tenant may refuse an operation: it changes what decides, since its answer has the revision
/// and it is not a check.
fn changes_decisions(operation: &Map<String, Value>) -> bool {
    let Some(responses) = operation.get("responses").and_then(Value::as_object) else {
        return false;
    };
    let is_write = operation.contains_key("requestBody") || responses.contains_key("204");
    let mut headers = responses.values().map(|response| &response["headers"]);
    let is_check = operation.get("tags") == Some(&json!(["Decisions"]));
    is_write && !is_check && headers.any(|named| !named["X-Policy-Revision"].is_null())
}

/// Returns whether an operation accepts a credential of this scheme.
fn needs(operation: &Map<String, Value>, scheme: &str) -> bool {
    let schemes = operation.get("security").and_then(Value::as_array);
    schemes.is_some_and(|schemes| schemes.iter().any(|one| one.get(scheme).is_some()))
}

fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}

/// Replaces the headers of a response by references to their descriptions. Every response has `X-Request-Id`.
fn refer_to_headers(response: &mut Value) {
    // What it refers to has its headers.
    if response.get("$ref").is_some() {
        return;
    }
    let named = response.get("headers").and_then(Value::as_object);
    let mut names: BTreeSet<&str> = named.into_iter().flatten().map(|(name, _)| &**name).collect();
    names.insert("X-Request-Id");
    let known = headers();
    let headers: Map<String, Value> = known
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        // The headers of errors have names in lower case.
        .filter(|known| names.iter().any(|name| name.eq_ignore_ascii_case(known)))
        .map(|name| (name.clone(), reference("headers", name)))
        .collect();
    response["headers"] = headers.into();
}

/// Adds the example of its schema to a JSON body without an example.
fn add_examples(body: &mut Value, schemas: &Value) {
    let Some(media) = body.pointer_mut("/content/application~1json") else { return };
    let has_one = media.get("example").is_some() || media.get("examples").is_some();
    if let Some(example) = example(&media["schema"], schemas).filter(|_| !has_one) {
        media["example"] = example;
    }
}

/// Returns an example of a value of `schema`, if the schemas that it names have examples.
fn example(schema: &Value, schemas: &Value) -> Option<Value> {
    if let Some(example) = schema.pointer("/examples/0") {
        return Some(example.clone());
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return example(&schemas[name], schemas);
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let mut whole = Map::new();
        for part in parts {
            whole.extend(example(part, schemas)?.as_object()?.clone());
        }
        return Some(whole.into());
    }
    if let Some(members) = schema["properties"].as_object() {
        let members = members.iter();
        return members.map(|(name, one)| Some((name.clone(), example(one, schemas)?))).collect();
    }
    let first = schema.pointer("/oneOf/0").or_else(|| schema.get("items"))?;
    let example = example(first, schemas)?;
    Some(if schema["type"] == "array" { json!([example]) } else { example })
}

/// Returns the error responses with their headers.
fn error_responses() -> Value {
    let mut responses = errors::responses();
    responses.values_mut().for_each(refer_to_headers);
    json!(responses)
}

fn header(required: bool, about: &str, schema: Value) -> Value {
    json!({"required": required, "description": about, "schema": schema})
}

fn text() -> Value {
    json!({"type": "string"})
}

/// Returns the description of each response header.
fn headers() -> Value {
    json!({
        "Allow": header(true, "The methods that the path has", text()),
        "Cache-Control": header(
            true,
            "The answer has a key, which no cache may store",
            json!({"type": "string", "const": "no-store"}),
        ),
        "ETag": header(
            false,
            "Changes with every change of the record, for `If-Match`; permissions that depend on the present have none",
            json!({"type": "string", "pattern": "^\"[A-Za-z0-9_-]+\"$"}),
        ),
        "Link": header(
            false,
            "`<…>; rel=\"next\"`: the next page of the list, if there is one",
            json!({"type": "string", "pattern": "^<[^>]+>; rel=\"next\"$"}),
        ),
        "Location": header(
            true,
            "Where the new record is",
            json!({"type": "string", "format": "uri-reference"}),
        ),
        "RateLimit": header(
            true,
            "The limits of `RateLimit-Policy`: `r`, the requests that are left, and `t`, the seconds until none is missing",
            text(),
        ),
        "RateLimit-Policy": header(
            true,
            "The limits that the request counts for: `q` requests in `w` seconds",
            text(),
        ),
        "Retry-After": header(
            true,
            "Seconds after which to try again",
            json!({"type": "integer", "minimum": 0}),
        ),
        "WWW-Authenticate": header(
            true,
            "The challenge (RFC 6750); it has an `error` where a token was sent",
            json!({"type": "string", "pattern": "^Bearer"}),
        ),
        "X-Decision-Id": header(
            false,
            "The id of the record of the decision, if it is recorded",
            json!({"type": "string", "format": "uuid"}),
        ),
        "X-Entities-Revision": header(
            false,
            "The revision of the tenant's directory that the answer reflects, if it read or wrote the directory",
            json!({"type": "integer", "format": "int64", "minimum": 0}),
        ),
        "X-Replicas-Load": header(
            false,
            "`on-first-use`: the process that answers has loaded the module, and other replicas load it when a check first needs it",
            json!({"type": "string", "const": "on-first-use"}),
        ),
        "X-Missing-Replicas": header(
            false,
            "The number of replicas that do not answer: decisions that they recorded and that are not sealed are missing",
            json!({"type": "integer", "minimum": 1}),
        ),
        "X-Policy-Revision": header(
            true,
            "The revision of the tenant's rules that the answer reflects; every change raises it by one",
            json!({"type": "integer", "format": "int64", "minimum": 0}),
        ),
        "X-Request-Id": header(
            true,
            "The id that was sent, or a new one; the log has it too",
            json!({"type": "string", "pattern": "^[ -~]{1,256}$"}),
        ),
    })
}

fn request_id() -> Value {
    json!({
        "name": "X-Request-Id",
        "in": "header",
        "description": "Names the request in the answer and in the log: 1 to 128 of `[A-Za-z0-9._-]`, and on \
                        the AuthZEN routes 1 to 256 visible characters and spaces of ASCII, which come back beside the \
                        service's own id in the log. Anything else is replaced.",
        "schema": {"type": "string"},
    })
}

fn tag(name: &str, about: &str) -> Value {
    json!({"name": name, "description": about})
}

fn tags() -> Value {
    json!([
        tag("Decisions", "May this subject do that?"),
        tag("Resources", "What the tenant's services protect"),
        tag("RBAC rules", "Who may do what: subject, domain, object, action"),
        tag("Roles", "Roles that include other roles"),
        tag("Types", "The properties and relations that a tenant declares"),
        tag("Conditions", "The conditions that a tenant uses by name"),
        tag("ABAC policies", "Conditions over attributes"),
        tag("Entities", "People and objects, with the roles and attributes that checks leave out"),
        tag("Relations", "Tuples: which subjects have a relation to which objects"),
        tag("Service API keys", "Credentials of machines"),
        tag("Webhooks", "Who is told of changes and denials"),
        tag("Resolvers", "Modules in WebAssembly that answer attributes for policies"),
        tag("Policies as code", "The content of a tenant as a whole: plan, apply, export"),
        tag("Replays", "Recorded decisions, decided again by other rules"),
        tag("Audit", "Who changed what, and when"),
        tag("Drafts", "Bundles beside the content that decides"),
        tag("History", "The revisions of the content, and what they changed"),
        tag("Tenants", "The operator's routes, in `saas` mode"),
        tag("Service", "Probes and this documentation"),
    ])
}

/// Returns the credentials of requests. The names in a requirement of `serviceKey` are the permissions that the key
/// needs.
fn security_schemes() -> Map<String, Value> {
    let about = "The operator's key, as a bearer token";
    Map::from_iter([
        (
            "bearer".to_owned(),
            json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                "description": "A token of the tenant's identity provider"}),
        ),
        (
            "serviceKey".to_owned(),
            key("X-Service-Api-Key", "A service API key with the permissions"),
        ),
        ("adminKey".to_owned(), key("X-Admin-Api-Key", "The operator's key")),
        (
            "adminBearer".to_owned(),
            json!({"type": "http", "scheme": "bearer", "description": about}),
        ),
    ])
}

fn key(header: &str, about: &str) -> Value {
    json!({"type": "apiKey", "in": "header", "name": header, "description": about})
}

/// Removes the schemes that no operation requires: `selfhost` mode has no admin key.
fn retain_used(schemes: &mut Map<String, Value>, paths: &mut Value) {
    let mut used = BTreeSet::new();
    for operation in operations(paths) {
        let requirements = operation.get("security").and_then(Value::as_array);
        let requirements = requirements.into_iter().flatten().filter_map(Value::as_object);
        used.extend(requirements.flat_map(Map::keys).cloned());
    }
    schemes.retain(|name, _| used.contains(name));
}

#[cfg(test)]
mod tests;
