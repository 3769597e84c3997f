//! A separate tenant for each test, and what a test does in it again and again.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{MANAGER, Operator, Provider, Reply, Request, Server};
use crate::setup;

/// A tenant: in `selfhost` mode, a domain claim; in `saas` mode, an issuer that the operator registered.
pub(crate) struct Tenant<'p> {
    provider: &'p Provider,
    pub(crate) address: SocketAddr,
    /// The domain claim of its tokens.
    pub(crate) name: String,
    /// The `tenant_id` of its records.
    pub(crate) id: String,
    /// The `iss` of its tokens.
    pub(crate) issuer: String,
    /// Keeps a shared server running.
    _server: Option<Arc<Server>>,
}

impl Tenant<'static> {
    /// A new tenant of the shared server.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let server = Server::shared();
        let name = format!("tenant-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let tenant = Self::with_provider(&server, Provider::shared(), &name);
        Self { _server: Some(server), ..tenant }
    }
}

impl<'p> Tenant<'p> {
    /// The tenant `name` of a server; in `saas` mode it is created if it is not there.
    #[track_caller]
    pub(crate) fn with_provider(server: &Server, provider: &'p Provider, name: &str) -> Self {
        let (id, issuer) = if setup::is_saas() {
            let issuer = provider.issuer_of(name);
            let operator = Operator::new(server);
            let id = operator.tenant(&format!("the-{name}"));
            operator.know(&id, &Operator::provider(&issuer));
            (id, issuer)
        } else {
            (name.to_owned(), provider.issuer())
        };
        let (address, name) = (server.address, name.to_owned());
        Self { provider, address, name, id, issuer, _server: None }
    }

    /// Returns this tenant as another replica serves it.
    pub(crate) fn at(&self, server: &Server) -> Tenant<'p> {
        let (name, id, issuer) = (self.name.clone(), self.id.clone(), self.issuer.clone());
        let (provider, address) = (self.provider, server.address);
        Tenant { provider, address, name, id, issuer, _server: None }
    }

    /// The claims of somebody of the tenant.
    pub(crate) fn claims(&self, subject: &str, roles: &[&str]) -> Value {
        let mut claims = self.provider.claims(&self.name, subject, roles);
        claims["iss"] = json!(self.issuer);
        claims
    }

    pub(crate) fn token(&self, subject: &str, roles: &[&str]) -> String {
        self.provider.token(&self.claims(subject, roles))
    }

    /// Good claims with some members replaced or added, as a token.
    pub(crate) fn token_with(&self, subject: &str, roles: &[&str], changes: &Value) -> String {
        let mut claims = self.claims(subject, roles);
        for (name, value) in changes.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        self.provider.token(&claims)
    }

    pub(crate) fn send(&self, request: &Request) -> Reply {
        request.send(self.address)
    }

    /// A request by the manager `boss`.
    pub(crate) fn managing(&self, route: impl Into<String>) -> Request {
        Request::new(route).token(&self.token("boss", &[MANAGER]))
    }

    /// Sends a JSON body as `boss`.
    pub(crate) fn manage(&self, route: impl Into<String>, body: &Value) -> Reply {
        self.send(&self.managing(route).json(body))
    }

    /// Gets something as `boss`.
    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send(&self.managing(format!("GET {path}")))
    }

    /// Passes each record of all pages of a list to `visit`, as `boss` gets them.
    #[track_caller]
    pub(crate) fn each(&self, list: &str, mut visit: impl FnMut(&Value)) {
        let mut path = list.to_owned();
        loop {
            let page = self.get(&path).is(200);
            page.json().as_array().expect("a list").iter().for_each(&mut visit);
            let Some(next) = page.next_page() else { return };
            path = next.to_owned();
        }
    }

    /// Deletes something that has an address, as `boss`.
    pub(crate) fn delete(&self, path: &str) -> Reply {
        self.send(&self.managing(format!("DELETE {path}")))
    }

    /// Creates an RBAC rule, and gives its id.
    #[track_caller]
    pub(crate) fn rule(&self, sub: &str, obj: &str, act: &str, effect: &str) -> String {
        let rule = json!({"sub": sub, "obj": obj, "act": act, "effect": effect});
        self.manage("POST /api/v1/resources/policies", &rule).is(201).id()
    }

    /// Creates an ABAC policy of the priority 1 with an expression, and gives its id.
    #[track_caller]
    pub(crate) fn policy_when(
        &self,
        name: &str,
        resource: &str,
        effect: &str,
        when: &str,
    ) -> String {
        let policy = json!({
            "name": name, "resource": resource, "effect": effect, "priority": 1,
            "format": "expression", "rule_data": {"expression": when},
        });
        self.manage("POST /api/v1/abac/policies", &policy).is(201).id()
    }

    /// Creates an ABAC policy whose name is `name`, and gives its id.
    #[track_caller]
    pub(crate) fn policy(
        &self,
        name: &str,
        resource: &str,
        effect: &str,
        priority: i64,
        tree: &Value,
    ) -> String {
        let policy = json!({
            "name": name, "resource": resource, "effect": effect, "priority": priority, "rule_data": tree,
        });
        self.manage("POST /api/v1/abac/policies", &policy).is(201).id()
    }

    /// Registers a resource, and gives its id.
    #[track_caller]
    pub(crate) fn resource(&self, name: &str) -> String {
        self.manage("POST /api/v1/resources", &json!({"name": name})).is(201).id()
    }

    /// A check by `gateway`, who is nobody's subject and no manager.
    #[track_caller]
    pub(crate) fn check(&self, body: &Value) -> Reply {
        self.check_by(&self.token("gateway", &["service"]), body)
    }

    #[track_caller]
    pub(crate) fn check_by(&self, token: &str, body: &Value) -> Reply {
        self.send(&Request::new("POST /api/v1/check").token(token).json(body))
    }

    /// Asks whether `subject` may do `action` with `resource`.
    #[track_caller]
    pub(crate) fn decide(&self, subject: &str, resource: &str, action: &str) -> Decision {
        let body = json!({"subject": subject, "resource": resource, "action": action});
        Decision::new(&self.check(&body))
    }
}

/// The answer to a check.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) decision: String,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) revision: u64,
}

impl Decision {
    #[track_caller]
    pub(crate) fn new(reply: &Reply) -> Self {
        let reply = reply.clone().is(200);
        Self {
            decision: reply.text_of("decision"),
            rule: reply.text_of("matched_rule_id"),
            reason: reply.text_of("reason"),
            revision: reply.revision(),
        }
    }

    pub(crate) fn allowed(&self) -> bool {
        self.decision == "allow"
    }

    /// Asserts decision and rule.
    #[track_caller]
    pub(crate) fn is(&self, decision: &str, rule: &str) {
        assert_eq!((&*self.decision, &*self.rule), (decision, rule), "{}", self.reason);
    }

    /// Asserts that nothing matched.
    #[track_caller]
    pub(crate) fn is_default(&self) {
        self.is("deny", "default-deny");
    }
}

/// A condition that is always true.
pub(crate) fn always() -> Value {
    json!({"type": "CONDITION", "attribute": "request.subject", "operator": "exists"})
}

/// A condition on one attribute.
pub(crate) fn condition(attribute: &str, operator: &str, value: impl Into<Value>) -> Value {
    let value = value.into();
    json!({"type": "CONDITION", "attribute": attribute, "operator": operator, "value": value})
}
