//! The document is sound, and describes what is served.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::route_set::RouteSet;
use crate::routes::{described, served};
use portcullis_auth::{AdminKeys, Mode};
use portcullis_http::row;

/// The document in each mode, as a client reads it.
fn documents() -> [Value; 2] {
    let saas = Mode::Saas { admin_keys: AdminKeys::default() };
    [Mode::Selfhost(None), saas].map(|mode| {
        let Document(text) = described(&mode);
        serde_json::from_slice(&text).expect("JSON")
    })
}

/// Path, method and operation of everything in `document`.
fn all_operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    paths.iter().flat_map(|(path, item)| {
        let item = item.as_object().expect("a path item");
        item.iter().map(|(method, operation)| (&**path, &**method, operation))
    })
}

/// The methods of each path that the router of `rows` serves: what axum's own account of it says.
fn routed(rows: Vec<Row>) -> BTreeMap<String, BTreeSet<String>> {
    let router = row::router(rows);
    let (mut paths, mut methods) = (BTreeMap::new(), BTreeMap::new());
    let account = format!("{router:?}");
    let (account, _) = account.split_once("fallback_router").expect("routes, then fallbacks");
    for entry in account.split("RouteId(").skip(1) {
        let (id, entry) = entry.split_once("): ").expect("an id and what it stands for");
        if let Some(path) = entry.strip_prefix('"') {
            paths.insert(id.to_owned(), path.split('"').next().expect("a path").to_owned());
        } else {
            let (_, allow) = entry.split_once("allow_header: Bytes(b\"").expect("methods");
            let allow = allow.split('"').next().expect("methods").split(',');
            // HEAD comes with every GET.
            let allow = allow.filter(|method| *method != "HEAD").map(str::to_owned);
            methods.insert(id.to_owned(), allow.collect());
        }
    }
    assert!(!paths.is_empty(), "the router shows its routes");
    paths.into_iter().map(|(id, path)| (path, methods.remove(&id).expect("methods"))).collect()
}

#[test]
fn rows_router_and_document_agree() {
    let modes = [Mode::Selfhost(None), Mode::Saas { admin_keys: AdminKeys::default() }];
    for (mode, document) in modes.iter().zip(documents()) {
        let mut described: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, method, _) in all_operations(&document) {
            described.entry(path.to_owned()).or_default().insert(method.to_uppercase());
        }
        let rows = served(mode, RouteSet::Everything);
        let mut in_table: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut pages = BTreeSet::new();
        for Row { kind, path, .. } in &rows {
            let method = kind.method().expect("no route of the API has every method");
            let is_new = in_table.entry((*path).to_owned()).or_default().insert(method.to_string());
            assert!(is_new, "{method} {path} has two rows");
            if matches!(kind, RowKind::Page(_)) {
                pages.insert((*path).to_owned());
            }
        }
        assert_eq!(routed(rows), in_table, "{mode:?}");
        in_table.retain(|path, _| !pages.contains(path));
        assert_eq!(in_table, described, "{mode:?}");
        let admin = described.keys().any(|path| path.starts_with("/admin/"));
        assert_eq!(admin, matches!(mode, Mode::Saas { .. }));
    }
}

#[test]
fn two_listeners_serve_together_what_one_serves() {
    let mode = Mode::Saas { admin_keys: AdminKeys::default() };
    let [everything, public, operator] =
        [RouteSet::Everything, RouteSet::Public, RouteSet::Operator]
            .map(|set| routed(served(&mode, set)));
    assert!(!public.keys().any(|path| path.starts_with("/admin/") || path == "/metrics"));
    assert!(!operator.keys().any(|path| path.starts_with("/api/") || path.starts_with("/access/")));
    assert_eq!(public.into_iter().chain(operator).collect::<BTreeMap<_, _>>(), everything);
}

/// Calls `look` with every object in `value`.
fn walk<'v>(value: &'v Value, look: &mut impl FnMut(&'v Map<String, Value>)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, look)),
        Value::Object(members) => {
            look(members);
            members.values().for_each(|member| walk(member, look));
        }
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere() {
    for document in documents() {
        walk(&document, &mut |object| {
            if let Some(Value::String(reference)) = object.get("$ref") {
                let pointer = reference.strip_prefix('#').expect("a reference into the document");
                assert!(document.pointer(pointer).is_some(), "{reference}");
            }
        });
    }
}

#[test]
fn every_named_part_is_of_use() {
    let [_, document] = documents();
    let text = document.to_string();
    for kind in ["schemas", "headers", "responses", "parameters"] {
        for name in document["components"][kind].as_object().expect("components").keys() {
            let reference = format!("\"#/components/{kind}/{name}\"");
            assert!(text.contains(&reference), "{reference}");
        }
    }
}

#[test]
fn operations_have_names_and_tags() {
    for document in documents() {
        let all = document["tags"].as_array().expect("tags");
        let tags: BTreeSet<&str> = all.iter().filter_map(|tag| tag["name"].as_str()).collect();
        assert_eq!(tags.len(), all.len(), "a name is there twice");
        let mut names = BTreeSet::new();
        for (path, method, operation) in all_operations(&document) {
            let name = operation["operationId"].as_str().expect("an operation id");
            assert!(names.insert(name), "{name} is there twice");
            let summary = operation["summary"].as_str().unwrap_or_default();
            assert!(summary.ends_with('.') && !summary.contains('`'), "{method} {path}: {summary}");
            let own = operation["tags"].as_array().expect("tags");
            let is_tagged = own.len() == 1 && own[0].as_str().is_some_and(|tag| tags.contains(tag));
            assert!(is_tagged, "{method} {path}: {own:?}");
        }
    }
}

#[test]
fn paths_and_their_parameters_agree() {
    for document in documents() {
        for (path, method, operation) in all_operations(&document) {
            let in_path = path.split('{').skip(1).filter_map(|part| part.split('}').next());
            let parameters = operation["parameters"].as_array().expect("parameters");
            let declared = parameters.iter().filter(|parameter| parameter["in"] == "path");
            let declared: Vec<&str> = declared
                .map(|parameter| {
                    assert_eq!(parameter["required"], true, "{method} {path}");
                    parameter["name"].as_str().expect("a name")
                })
                .collect();
            assert_eq!(in_path.collect::<Vec<_>>(), declared, "{method} {path}");
        }
    }
}

#[test]
fn every_operation_has_the_errors_of_its_kind() {
    for document in documents() {
        for (path, method, operation) in all_operations(&document) {
            let responses = operation["responses"].as_object().expect("responses");
            let mut expected = vec!["400", "405", "413", "500", "503"];
            match operation["security"].as_array() {
                None => assert!(!path.starts_with("/api/") && !path.starts_with("/admin/")),
                Some(_) if path.starts_with("/admin/") => expected.extend(["401", "429"]),
                Some(_) => expected.extend(["401", "403", "429"]),
            }
            if path.contains('{') {
                expected.push("404");
            }
            // What is asked for by its path alone.
            let bodiless =
                ["/test", "/redeliver", "/suspend", "/resume", "/approve", "/reject", "/publish"]
                    .iter()
                    .any(|end| path.ends_with(end));
            if matches!(method, "post" | "put") && !bodiless {
                expected.push("415");
                assert!(operation.get("requestBody").is_some(), "{method} {path}");
            }
            for status in expected {
                assert!(responses.contains_key(status), "{method} {path} {status}");
            }
            assert!(responses.keys().any(|status| status.starts_with('2')), "{method} {path}");
        }
    }
}

#[test]
fn every_json_body_has_an_example_and_every_response_its_id() {
    for document in documents() {
        let has_example = |place: &str, body: &Value| {
            let Some(media) = body.pointer("/content/application~1json") else { return };
            let example = media.get("example").or_else(|| media.get("examples"));
            assert!(example.is_some(), "{place}: {media}");
        };
        for (path, method, operation) in all_operations(&document) {
            has_example(&format!("{method} {path}"), &operation["requestBody"]);
            for (status, response) in operation["responses"].as_object().expect("responses") {
                let reference = response["$ref"].as_str().and_then(|text| text.strip_prefix('#'));
                let response = reference.and_then(|at| document.pointer(at)).unwrap_or(response);
                let place = format!("{method} {path} {status}");
                has_example(&place, response);
                assert!(response["headers"].get("X-Request-Id").is_some(), "{place}");
            }
        }
    }
}

#[test]
fn a_header_that_is_named_is_described() {
    // A name that `headers` does not know would vanish from the response.
    let known = headers();
    let mode = Mode::Saas { admin_keys: AdminKeys::default() };
    for row in served(&mode, RouteSet::Everything) {
        let RowKind::Documented { operation, .. } = row.kind else { continue };
        walk(&json!(operation), &mut |object| {
            let headers = object.get("headers").and_then(Value::as_object);
            for name in headers.into_iter().flat_map(Map::keys) {
                assert!(known.get(name).is_some(), "{name}");
            }
        });
    }
}

#[test]
fn a_write_that_may_create_a_record_takes_a_condition_against_it() {
    for document in documents() {
        for (path, method, operation) in all_operations(&document) {
            if method == "put" && !operation["responses"]["201"].is_null() {
                let mut parameters = operation["parameters"].as_array().into_iter().flatten();
                assert!(parameters.any(|one| one["name"] == "If-None-Match"), "{path}");
            }
        }
    }
}

#[test]
fn a_key_applies_with_the_right_to_write_one_kind() {
    for document in documents() {
        let security = &document["paths"]["/api/v1/apply"]["post"]["security"];
        let keys = security.as_array().into_iter().flatten().map(|one| &one["serviceKey"]);
        let keys: Vec<&Value> = keys.filter(|key| !key.is_null()).collect();
        let writes = ["policies", "resources", "resolvers", "webhooks"]
            .map(|kind| json!([format!("{kind}:write")]));
        assert_eq!(keys, writes.iter().collect::<Vec<_>>());
    }
}

#[test]
fn managers_name_a_domain_where_a_domain_is_a_tenant() {
    let reference = reference("parameters", "X-Domain");
    let [selfhost, saas] = documents();
    let mut paths = BTreeSet::new();
    for (path, method, operation) in all_operations(&selfhost) {
        let parameters = operation["parameters"].as_array().expect("parameters");
        let is_named = parameters.contains(&reference);
        let by_token = operation["security"][0].get("bearer").is_some();
        // Their bodies name the domain.
        let questions =
            ["check", "checks", "resources/access/check", "plan", "permissions", "matrix"];
        let is_question = path
            .strip_prefix("/api/v1/")
            .is_some_and(|path| path.starts_with("search/") || questions.contains(&path));
        let is_check = is_question || path.starts_with("/access/v1/");
        assert_eq!(is_named, by_token && !is_check, "{method} {path}");
        paths.extend(is_named.then_some(path));
    }
    assert!(paths.contains("/api/v1/resources/policies"), "{paths:?}");
    let single = Mode::SingleTenant { tenant: "acme".to_owned(), oidc: None };
    let Document(single) = described(&single);
    for document in [saas.to_string(), String::from_utf8_lossy(&single).into_owned()] {
        assert!(!document.contains("X-Domain"));
    }
}
