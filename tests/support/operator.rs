//! The operator of a server in `saas` mode, who creates tenants and registers their identity providers.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use super::server::ADMIN_KEY;
use super::{Reply, Request, Server};

/// The holder of the admin key.
pub(crate) struct Operator {
    address: SocketAddr,
    /// Keeps a shared server running.
    _server: Option<Arc<Server>>,
}

impl Operator {
    pub(crate) fn new(server: &Server) -> Self {
        Self { address: server.address, _server: None }
    }

    /// The operator of the shared server.
    pub(crate) fn shared() -> Self {
        let server = Server::shared();
        Self { address: server.address, _server: Some(server) }
    }

    pub(crate) fn request(route: impl Into<String>) -> Request {
        Request::new(route).header("x-admin-api-key", ADMIN_KEY)
    }

    pub(crate) fn send(&self, route: impl Into<String>, body: &Value) -> Reply {
        Self::request(route).json(body).send(self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        Self::request(format!("GET {path}")).send(self.address)
    }

    /// Asks for a new tenant.
    pub(crate) fn create(&self, slug: &str) -> Reply {
        self.send("POST /admin/tenants", &json!({"name": "Somebody", "slug": slug}))
    }

    /// The id of the tenant, which is created if it is not there.
    #[track_caller]
    pub(crate) fn tenant(&self, slug: &str) -> String {
        let reply = self.create(slug);
        if reply.status != 409 {
            return reply.is(201).id();
        }
        let tenants = self.get("/admin/tenants").is(200).json();
        let found = tenants.as_array().into_iter().flatten().find(|tenant| tenant["slug"] == slug);
        let id = found.and_then(|tenant| tenant["id"].as_str());
        id.expect("the tenant that there is already").to_owned()
    }

    /// The registration of `issuer`, with its keys below it.
    pub(crate) fn provider(issuer: &str) -> Value {
        json!({"issuer_url": issuer, "jwks_uri": format!("{issuer}/keys")})
    }

    /// Registers an identity provider of a tenant.
    pub(crate) fn register(&self, tenant: &str, provider: &Value) -> Reply {
        self.send(format!("POST /admin/tenants/{tenant}/identity-providers"), provider)
    }

    /// Registers one that may be registered already.
    #[track_caller]
    pub(crate) fn know(&self, tenant: &str, provider: &Value) {
        let reply = self.register(tenant, provider);
        assert!([201, 409].contains(&reply.status), "{}", reply.text);
    }

    pub(crate) fn remove(&self, tenant: &str, provider: &str) -> Reply {
        let route = format!("DELETE /admin/tenants/{tenant}/identity-providers/{provider}");
        Self::request(route).send(self.address)
    }
}
