//! Every `Location` answers `GET` with the record that was created.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::resolver::{Form, guest};
use crate::support::saas::{self, ADMIN_KEY, Account};
use crate::support::tenant::always;
use crate::support::{MANAGER, Request, Server};

/// The operations of the document that create a record at its own path, as `METHOD /path`.
fn creations(server: &Server) -> BTreeSet<String> {
    let document = Request::new("GET /openapi.json").send(server.address).is(200).json();
    let paths = document["paths"].as_object().expect("paths").iter();
    let operations = paths.flat_map(|(path, item)| {
        let operations = item.as_object().expect("operations").iter();
        operations
            .filter(|(_, operation)| {
                !operation["responses"]["201"]["headers"]["Location"].is_null()
            })
            .map(move |(method, _)| format!("{} {path}", method.to_uppercase()))
    });
    operations.collect()
}

/// Every creation, and a good request for it without a credential.
fn requests(account: &Account) -> Vec<(&'static str, Request)> {
    let webhook = json!({
        "url": "https://hook.example/", "events": ["access.denied"], "secret": "0123456789abcdef",
    });
    let policy = json!({
        "name": "p", "resource": "doc:read", "effect": "deny", "priority": 1, "rule_data": always(),
    });
    let provider =
        json!({"issuer_url": "https://other.example/", "jwks_uri": "https://keys.example/"});
    let bodies = [
        ("POST /api/v1/resources", json!({"name": "doc:read"})),
        (
            "POST /api/v1/resources/policies",
            json!({"sub": "alice", "obj": "doc:raed", "act": "read", "effect": "allow"}),
        ),
        ("POST /api/v1/abac/policies", policy),
        ("POST /api/v1/service-api-keys", json!({"name": "k"})),
        ("POST /api/v1/webhooks", webhook),
        ("POST /admin/tenants", json!({"name": "n", "slug": "other"})),
        ("POST /admin/tenants/{id}/identity-providers", provider),
    ];
    let mut requests: Vec<_> = bodies
        .into_iter()
        .map(|(route, body)| (route, Request::new(route.replace("{id}", &account.id)).json(&body)))
        .collect();
    let route = "POST /api/v1/resolvers";
    let manifest = json!({"namespace": "hr", "config": {"department": "obstetrics"}});
    let form = Form::default().part("manifest", manifest.to_string());
    requests.push((route, form.part("module", guest("directory")).on(Request::new(route))));
    requests
}

#[test]
fn every_location_leads_to_the_record() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let token = account.tenant(&server).token("boss", &[MANAGER]);
    let requests = requests(&account);
    let tried: BTreeSet<String> = requests.iter().map(|(route, _)| (*route).to_owned()).collect();
    assert_eq!(tried, creations(&server));
    for (route, request) in requests {
        let by = |request: Request| match route.contains(" /admin/") {
            true => request.header("x-admin-api-key", ADMIN_KEY).send(server.address),
            false => request.token(&token).send(server.address),
        };
        let created = by(request).is(201);
        let location = created.header("location").expect("a location");
        let shown = by(Request::new(format!("GET {location}"))).is(200);
        assert_eq!(shown.id(), created.id(), "{route}");
        let (shown, created) = (shown.json(), created.json());
        for (name, value) in created.as_object().expect("a record") {
            // These are in the answer to the creation alone; a resolver's activity goes on.
            if !["key", "bootstrapKey", "warnings", "activity"].contains(&&**name) {
                assert_eq!(shown[name], *value, "{name} of {route}");
            }
        }
    }
}
