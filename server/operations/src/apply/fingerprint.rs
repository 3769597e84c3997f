//! The digest of what a plan read (`docs/semantics.md`, section 10.3).

use std::collections::HashSet;

use portcullis_bundle::BundleDocument;
use portcullis_model::rule::RuleOrigin;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::diff_policies::POLICIES;
use super::diff_resolvers::RESOLVERS;
use super::diff_resources::RESOURCES;
use super::diff_roles::ROLES;
use super::diff_rules::key;
use super::diff_types::TYPES;
use super::diff_webhooks::WEBHOOKS;
use crate::content::tenant_content::TenantContent;

/// Returns the digest of the objects of the owner, the objects that the bundle names, the settings and the cases.
pub(super) fn fingerprint(
    state: &TenantContent,
    bundle: &BundleDocument,
    owner: Option<&str>,
    domain: &str,
) -> String {
    let mut digest = Sha256::new();
    let wanted = bundle.resources.as_deref().unwrap_or_default();
    let names = wanted.iter().map(|one| &*one.name);
    add(&mut digest, "resources", RESOURCES.read(&state.resources, owner, names));

    let explicit = bundle.rules.iter().flatten().map(|rule| key(&rule.tuple));
    let of_roles = wanted.iter().flat_map(|resource| {
        let rule = |role: &String| key(&resource.default_rule(role, domain).tuple);
        resource.default_roles.iter().map(rule)
    });
    let tuples: HashSet<_> = explicit.chain(of_roles).collect();
    let read = state.rules.iter().filter(|rule| {
        let is_explicit = rule.origin == RuleOrigin::Explicit;
        let is_own = owner.is_none() || rule.managed_by.as_deref() == owner;
        (is_explicit && is_own) || tuples.contains(&key(&rule.tuple))
    });
    add(&mut digest, "rules", read);

    // Versions without roles or types have no such part: the plans that they made stay fresh.
    let names = bundle.roles.iter().flatten().map(|one| &*one.name);
    let read = ROLES.read(&state.roles, owner, names);
    if !read.is_empty() {
        add(&mut digest, "roles", read);
    }
    let names = bundle.types.iter().flatten().map(|one| &*one.kind);
    let read = TYPES.read(&state.types, owner, names);
    if !read.is_empty() {
        add(&mut digest, "types", read);
    }
    let names = bundle.policies.iter().flatten().map(|sent| &*sent.policy.name);
    add(&mut digest, "policies", POLICIES.read(&state.policies, owner, names));
    let names = bundle.resolvers.iter().flatten().map(|one| &*one.manifest.namespace);
    add(&mut digest, "resolvers", RESOLVERS.read(&state.resolvers, owner, names));
    let names = bundle.webhooks.iter().flatten().map(|one| &*one.url);
    add(&mut digest, "webhooks", WEBHOOKS.read(&state.webhooks, owner, names));
    add(&mut digest, "settings", [&state.settings]);
    add(&mut digest, "cases", &state.guards.case_texts);
    add(&mut digest, "users", &state.guards.user_texts);
    let digest = digest.finalize();
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// Adds the records of one kind, each on its own line.
fn add<T: Serialize>(digest: &mut Sha256, kind: &str, records: impl IntoIterator<Item = T>) {
    digest.update(kind);
    for record in records {
        digest.update(b"\n");
        digest.update(serde_json::to_vec(&record).unwrap_or_default());
    }
    digest.update(b"\n\n");
}

#[cfg(test)]
mod tests {
    use portcullis_model::settings::TenantSettings;

    use super::*;
    use crate::content::stored_guards::StoredGuards;

    /// Proposals and plans of versions without roles have this digest.
    #[test]
    fn a_digest_has_no_part_for_roles_that_were_not_read() {
        let bundle = BundleDocument { rules: Some(Vec::new()), ..BundleDocument::default() };
        let state = TenantContent {
            revision: 1,
            resources: Vec::new(),
            rules: Vec::new(),
            policies: Vec::new(),
            resolvers: Vec::new(),
            webhooks: Vec::new(),
            roles: Vec::new(),
            types: Vec::new(),
            settings: TenantSettings::default(),
            guards: StoredGuards::default(),
        };
        let settings = serde_json::to_string(&state.settings).expect("JSON");
        let text = format!(
            "resources\n\nrules\n\npolicies\n\nresolvers\n\nwebhooks\n\nsettings\n{settings}\n\ncases\n\nusers\n\n"
        );
        let digits: String =
            Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        let fingerprint = fingerprint(&state, &bundle, Some("git:o"), "acme");
        assert_eq!(fingerprint, format!("sha256:{digits}"));
    }
}
