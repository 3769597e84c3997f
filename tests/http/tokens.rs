//! Checks of many callers.

use serde_json::json;

use crate::load::Check;
use crate::support::{Provider, Server, Tenant};

/// Tenants, each with an identity provider of its own.
pub(crate) const TENANTS: usize = 100;
/// Requests with different bodies.
const BODIES: usize = 4_096;

/// The algorithm of the tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Es256,
}

impl Algorithm {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
        }
    }

    /// Returns the place of the key in [`Provider::shared`].
    fn key(self) -> usize {
        match self {
            Self::Rs256 => 4,
            Self::Es256 => 0,
        }
    }
}

/// The tenants of a server, each with a rule that allows.
pub(crate) struct Tenants(Vec<Tenant<'static>>);

impl Tenants {
    pub(crate) fn on(server: &Server) -> Self {
        let tenant = |number| {
            let tenant =
                Tenant::with_provider(server, Provider::shared(), &format!("bench-{number}"));
            tenant.rule("doctor", "chart:read", "read", "allow");
            tenant
        };
        Self((0..TENANTS).map(tenant).collect())
    }

    /// Puts a draft into shadow in each tenant. It allows by another rule, so that each check differs.
    pub(crate) fn put_into_shadow(&self) {
        let rule = json!({"sub": "staff", "obj": "chart:read", "act": "read", "effect": "allow"});
        let draft = json!({"bundle": {"rules": [rule]}, "shadow": true});
        for tenant in &self.0 {
            tenant.manage("PUT /api/v1/drafts/bench", &draft).is(201);
        }
    }

    /// Returns checks of `tokens` callers, in turn.
    pub(crate) fn checks(&self, algorithm: Algorithm, tokens: usize) -> Vec<Check> {
        let tokens: Vec<String> = (0..tokens).map(|number| self.token(algorithm, number)).collect();
        let count = BODIES.max(tokens.len());
        (0..count).map(|number| check(&tokens[number % tokens.len()], number)).collect()
    }

    fn token(&self, algorithm: Algorithm, number: usize) -> String {
        let tenant = &self.0[number % self.0.len()];
        let mut claims = tenant.claims(&format!("user-{number}"), &["doctor", "staff"]);
        claims["email"] = json!(format!("user-{number}@hospital.example"));
        claims["name"] = json!("Ann Example");
        claims["department"] = json!("cardiology");
        let key = Provider::shared().key(algorithm.key());
        key.token(&key.header(), &claims)
    }
}

fn check(token: &str, number: usize) -> Check {
    let body = json!({
        "subject": "ann",
        "resource": "chart:read",
        "action": "read",
        "attributes": {
            "user": {"department": "cardiology", "clearance": number % 10},
            "resource": {"region": "north", "owner": format!("user-{number}"), "ward": number % 50},
        },
    });
    Check { token: token.to_owned(), body: body.to_string() }
}
