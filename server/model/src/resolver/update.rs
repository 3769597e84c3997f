//! The update of a resolver's manifest.

use std::collections::BTreeMap;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::resolver_contract::Limits;
use portcullis_engine::{Invalid, Json};
use serde_json::json;
use url::Url;

use super::endpoint::Endpoint;
use super::manifest::{
    MAX_DESCRIPTION, Manifest, cache_ttl, config, endpoints, hosts, limits, namespace,
    stale_if_error,
};
use super::secrets::Secrets;
use crate::document;
use crate::egress_rules::EgressRules;
use crate::fields::{boolean, short};
use crate::input::{self, Members};

/// The changes of a manifest. An absent member stays; a member that is present replaces the whole stored one.
#[derive(Clone, Debug, Default)]
pub struct ManifestUpdate {
    pub namespace: Option<String>,
    /// `Some(None)` clears it.
    pub description: Option<Option<String>>,
    pub config: Option<BTreeMap<String, String>>,
    pub secrets: Option<Secrets>,
    pub endpoints: Option<BTreeMap<String, Endpoint>>,
    pub allowed_hosts: Option<Vec<String>>,
    pub limits: Option<Limits>,
    /// `Some(None)` clears it.
    pub cache_ttl_ms: Option<Option<u32>>,
    pub stale_if_error_ms: Option<u32>,
    /// No part of the manifest: whether policies may read the namespace's attributes.
    pub enabled: Option<bool>,
}

impl ManifestUpdate {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, rules: &EgressRules) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, rules))
    }

    fn declare(members: &mut Members<'_, '_>, rules: &EgressRules) -> Option<Self> {
        Some(Self {
            namespace: members.change("namespace", namespace()),
            description: members.clearable("description", short(MAX_DESCRIPTION)),
            config: members.change("config", config()),
            secrets: members.change("secrets", Secrets::field()),
            endpoints: members.change("endpoints", endpoints(rules)),
            allowed_hosts: members.change("allowed_hosts", hosts(rules)),
            limits: members.change("limits", limits()),
            cache_ttl_ms: members.clearable("cache_ttl_ms", cache_ttl()),
            stale_if_error_ms: members.change("stale_if_error_ms", stale_if_error()),
            enabled: members.change("enabled", boolean()),
        })
    }

    /// Returns `old` with the update applied. A secret that stays is sent only to URLs that `old` sends it to, and below
    /// them: otherwise, who may write resolvers could have it sent to their own server, or their own part of one.
    ///
    /// # Errors
    /// The new parts do not fit the parts that stay.
    pub fn applied_to(self, old: Manifest) -> Result<Manifest, Invalid> {
        let mut problems = Problems::default();
        let at = Place::root();
        // This comes before the parts move into the new manifest. Its outcome waits, so that all faults are noted together.
        let is_safe =
            self.secrets.is_some() || self.sends_nothing_elsewhere(&old, &at, &mut problems);
        let new = Manifest {
            namespace: self.namespace.unwrap_or(old.namespace),
            description: self.description.unwrap_or(old.description),
            config: self.config.unwrap_or(old.config),
            secrets: self.secrets.unwrap_or(old.secrets),
            endpoints: self.endpoints.unwrap_or(old.endpoints),
            allowed_hosts: self.allowed_hosts.unwrap_or(old.allowed_hosts),
            limits: self.limits.unwrap_or(old.limits),
            cache_ttl_ms: self.cache_ttl_ms.unwrap_or(old.cache_ttl_ms),
            stale_if_error_ms: self.stale_if_error_ms.unwrap_or(old.stale_if_error_ms),
        };
        let fits = new.check(&at, &mut problems);
        problems.finish((is_safe && fits).then_some(new))
    }

    /// Whether each secret goes only to URLs to which `old` sends it; notes each header that takes one elsewhere.
    fn sends_nothing_elsewhere(
        &self,
        old: &Manifest,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> bool {
        let Some(endpoints) = &self.endpoints else { return true };
        let sent: Vec<_> = old.endpoints.values().flat_map(destinations).collect();
        let endpoints_at = at.key("endpoints");
        let mut is_safe = true;
        for (name, endpoint) in endpoints {
            for (header, secret) in endpoint.uses() {
                // A change of the method, or of the header that carries the secret, is allowed.
                let went_there =
                    sent.iter().any(|(sent, to)| *sent == secret && is_within(to, &endpoint.url));
                // There is nothing to give away where no stored secret has the name.
                if old.secrets.get(secret).is_none() || went_there {
                    continue;
                }
                is_safe = false;
                let expected = format!(
                    "all `secrets` in the same update, because the secret `{secret}` was never sent to `{}`",
                    endpoint.url
                );
                problems.expected(&endpoints_at.key(name).key("headers").key(header), expected);
            }
        }
        is_safe
    }
}

document!(ManifestUpdate as "ResolverUpdate" => {
    input::describe(|members| ManifestUpdate::declare(members, &EgressRules::default()))
        .example(json!({"enabled": false, "limits": {"timeout_ms": 100}}))
});

/// Returns the secrets that an endpoint sends, each with the URL that receives it.
fn destinations(endpoint: &Endpoint) -> impl Iterator<Item = (&str, &Url)> {
    endpoint.uses().map(|(_, secret)| (secret, &endpoint.url))
}

/// Whether `url` has the scheme, host and port of `base`, and its path or a path below it.
///
/// Servers differ in how they read a path. A part below the base in which one could read a step upwards does not count:
/// one that is percent-encoded or has parameters. The parser of URLs has resolved the other ones.
fn is_within(base: &Url, url: &Url) -> bool {
    // Without its last slash, a base also contains the path that has none.
    let root = base.path().trim_end_matches('/');
    let Some(below) = url.path().strip_prefix(root) else { return false };
    base.origin() == url.origin()
        // The path `/apiary` is not below `/api`.
        && (below.is_empty() || below.starts_with('/'))
        && !below.contains(['%', ';'])
}
