//! A server in `saas` mode, and accounts on it: a tenant with an identity provider of its own.

use serde_json::{Value, json};

use super::keys::Key;
use super::{Provider, Reply, Request, Server, Settings, Tenant};

/// The operator's key.
pub(crate) const ADMIN_KEY: &str = "the-operators-key-in-these-tests-0123456789";

/// The settings of a `saas` server: providers on the loopback interface are allowed.
pub(crate) fn settings() -> Settings {
    strict_settings().set("EGRESS_ALLOW_HTTP", "true").set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
}

/// Returns the settings with the strictest egress rules.
pub(crate) fn strict_settings() -> Settings {
    Settings::without_provider().set("MODE", "saas").set("ADMIN_API_KEY", ADMIN_KEY)
}

/// A request of the operator.
pub(crate) fn operating(route: impl Into<String>) -> Request {
    Request::new(route).header("x-admin-api-key", ADMIN_KEY)
}

/// Sends a JSON body as the operator.
#[track_caller]
pub(crate) fn operate(server: &Server, route: impl Into<String>, body: &Value) -> Reply {
    operating(route).json(body).send(server.address)
}

/// A tenant of a `saas` server, with its own provider.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) slug: String,
    pub(crate) bootstrap_key: String,
    pub(crate) provider: Provider,
}

impl Account {
    /// Creates the tenant `slug`, and registers a new provider for it.
    #[track_caller]
    pub(crate) fn open(server: &Server, slug: &str) -> Self {
        let created =
            operate(server, "POST /admin/tenants", &json!({"name": "Acme", "slug": slug})).is(201);
        let account = Self {
            id: created.id(),
            slug: slug.to_owned(),
            bootstrap_key: created.text_of("bootstrapKey"),
            provider: Provider::new(vec![Key::p256("p256")]),
        };
        operate(server, format!("POST {}", account.providers()), &account.registration()).is(201);
        account
    }

    /// The addresses of its providers.
    pub(crate) fn providers(&self) -> String {
        format!("/admin/tenants/{}/identity-providers", self.id)
    }

    /// The body that registers its provider.
    pub(crate) fn registration(&self) -> Value {
        json!({"issuer_url": self.provider.issuer(), "jwks_uri": self.provider.jwks_uri()})
    }

    /// Returns its people; the slug is their domain.
    pub(crate) fn tenant(&self, server: &Server) -> Tenant<'_> {
        Tenant::with_provider(server, &self.provider, &self.slug)
    }
}
