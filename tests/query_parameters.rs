//! Query parameters that a route does not know (`docs/semantics.md`, section 8.6).

use serde_json::Value;

use crate::support::saas::{self, Account, operating};
use crate::support::{MANAGER, NO_ID, Reply, Request, Server};

/// A server in `saas` mode, and a tenant of it.
struct Service {
    server: Server,
    account: Account,
}

impl Service {
    fn new() -> Self {
        let server = saas::settings().start();
        let account = Account::open(&server, "acme");
        Self { server, account }
    }

    /// Every operation of the document: its route with ids that no record has, and the names in its query.
    fn operations(&self) -> Vec<(String, Vec<String>)> {
        let document = Request::new("GET /openapi.json").send(self.server.address).is(200).json();
        let paths = document["paths"].as_object().expect("paths").clone();
        let operations = paths.into_iter().flat_map(|(path, item)| {
            let methods = item.as_object().expect("operations").clone().into_iter();
            methods.map(move |(method, operation)| (path.clone(), method, operation))
        });
        operations
            .map(|(path, method, operation)| {
                let path = ["{id}", "{delivery_id}", "{keyId}", "{idpId}"]
                    .iter()
                    .fold(path, |path, name| path.replace(name, NO_ID));
                (format!("{} {path}", method.to_uppercase()), in_query(&operation))
            })
            .collect()
    }

    /// Sends a request without a body as a manager of the tenant.
    fn manage(&self, route: &str) -> Reply {
        let tenant = self.account.tenant(&self.server);
        let token = tenant.token("boss", &[MANAGER]);
        Request::new(route).token(&token).send(self.server.address)
    }
}

fn in_query(operation: &Value) -> Vec<String> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let names = parameters.filter(|one| one["in"] == "query").map(|one| one["name"].as_str());
    names.flatten().map(str::to_owned).collect()
}

#[test]
fn every_route_of_the_api_refuses_what_it_does_not_know() {
    let service = Service::new();
    let mut seen = 0;
    for (route, known) in service.operations() {
        if !route.contains(" /api/v1/") {
            continue;
        }
        seen += 1;
        let refused = |query: &str| {
            let reply = service.manage(&format!("{route}?{query}"));
            reply.refused(400, "BAD_REQUEST").message()
        };
        let message = refused("surplus=1");
        assert!(message.contains("`surplus`"), "{route}: {message}");
        let names_all = known.iter().all(|name| message.contains(&format!("`{name}`")));
        assert!(names_all, "{route}: {message}");
        for name in known {
            // Nothing resembles a single letter.
            if name.len() > 1 {
                let message = refused(&format!("{name}z=1"));
                assert!(message.ends_with(&format!("is `{name}`")), "{route}: {message}");
            }
            let message = refused(&format!("{name}=1&{name}=1"));
            assert!(message.contains("twice"), "{route}: {message}");
        }
    }
    assert!(seen > 30, "only {seen} routes were tried");
}

#[test]
fn without_the_right_invalid_parameters_are_a_403() {
    let service = Service::new();
    let tenant = service.account.tenant(&service.server);
    let route = "GET /api/v1/resources?surplus=1";
    Request::new(route).send(service.server.address).refused(401, "UNAUTHENTICATED");
    let member = Request::new(route).token(&tenant.token("alice", &["user"]));
    member.send(service.server.address).refused(403, "ACCESS_DENIED");
    let key = Request::new(route).header("x-service-api-key", &service.account.bootstrap_key);
    key.send(service.server.address).refused(400, "BAD_REQUEST");
}

#[test]
fn other_routes_ignore_what_they_do_not_know() {
    let service = Service::new();
    for (route, _) in service.operations() {
        if route.contains(" /api/v1/") || !route.starts_with("GET ") {
            continue;
        }
        let send = |route: &str| operating(route).send(service.server.address).status;
        assert_eq!(send(&format!("{route}?surplus=1")), send(&route), "{route}");
    }
}
