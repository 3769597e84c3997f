//! Links that sign somebody in once, without an identity provider (`docs/semantics.md`, section 19.4).

use std::collections::BTreeMap;

use portcullis_engine::rbac::WILDCARD;
use portcullis_model::audit::Origin;
use portcullis_model::ids::Ids;
use portcullis_model::page::Page;
use portcullis_model::rule_filter::RuleFilter;
use portcullis_model::session::{SessionLink, hash_of, new_value};
use portcullis_model::{Authorship, Timestamp};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Store, rules, session_links};

use super::beginning::{Begin, SignedIn, begin};
use super::providers::named;
use super::sealed::{SealedSession, StoredIdentity};

/// Most rules that are looked at for the domain of a person.
const MAX_RULES: i64 = 1_000;
/// The lifetime of a link, in milliseconds.
const LIFETIME_MILLIS: i64 = 10 * 60 * 1_000;

/// Makes a link for `subject` with `roles` in `tenant`, which exists, and returns its secret. It needs no running service.
///
/// # Errors
/// The tenant is closed, or the store failed.
pub async fn create(
    store: &Store,
    tenant: &str,
    (subject, roles): (&str, Vec<String>),
    (origin, by): (&Origin, &Authorship),
    ids: &Ids,
) -> Result<String, OperationError> {
    let link = SessionLink {
        id: ids.next(by.at),
        tenant_id: tenant.to_owned(),
        subject: subject.to_owned(),
        roles,
        created_at: by.at,
        expires_at: Timestamp::from_millis(by.at.millis() + LIFETIME_MILLIS),
    };
    let secret = new_value();
    let mut tx = store.write(tenant, by.at.millis()).await?;
    tx.attribute_to(origin, by.at);
    session_links::insert(&mut tx, &link, &hash_of(&secret)).await?;
    tx.commit().await?;
    Ok(secret)
}

/// Returns the link with this secret; `None` if it never was, is taken, or has expired.
///
/// # Errors
/// The store failed.
pub async fn find(app: &App, secret: &str) -> Result<Option<SessionLink>, OperationError> {
    let now = app.clock.now().into();
    let found = app.store.read_all(async |tx| session_links::find(tx, &hash_of(secret), now).await);
    Ok(found.await?)
}

/// Returns the domain that a token of `tenant` has, as far as its rules tell: where a domain is not a tenant, the one that most
/// of the first rules name, else the name of the tenant.
async fn domain_of(app: &App, tenant: &str) -> Result<String, OperationError> {
    if app.mode.has_a_tenant_per_domain() {
        return Ok(tenant.to_owned());
    }
    let page = Page { limit: MAX_RULES, ..Page::FIRST };
    let listed = app.read(tenant, async |tx| rules::list(tx, &RuleFilter::default(), page).await);
    let mut counts = BTreeMap::<String, usize>::new();
    for rule in listed.await?.records {
        // A rule of every domain tells nothing about the one of a token.
        if rule.tuple.dom != WILDCARD {
            *counts.entry(rule.tuple.dom).or_default() += 1;
        }
    }
    match counts.into_iter().max_by_key(|(_, count)| *count) {
        Some((domain, _)) => Ok(domain),
        None => Ok(named(app, tenant).await?.name),
    }
}

/// Takes the link with this secret, and begins its session; `None` if it is taken already. `by` is the request, whose actor
/// becomes the person of the link.
///
/// # Errors
/// The tenant is closed, or the store failed.
pub async fn take(app: &App, secret: &str, by: Origin) -> Result<Option<SignedIn>, OperationError> {
    let Some(link) = find(app, secret).await? else { return Ok(None) };
    let now: Timestamp = app.clock.now().into();
    app.must_serve(&link.tenant_id)?;
    let domain = domain_of(app, &link.tenant_id).await?;
    let mut tx = app.store.write(&link.tenant_id, now.millis()).await?;
    tx.attribute_to(&Origin { actor: link.subject.clone(), ..by }, now);
    // Somebody else may have taken it since it was found.
    if !session_links::take(&mut tx, &hash_of(secret)).await? {
        tx.end().await?;
        return Ok(None);
    }
    let identity = StoredIdentity {
        tenant: link.tenant_id.clone(),
        subject: link.subject.clone(),
        domain,
        roles: link.roles.clone(),
        administers: Vec::new(),
        claims: "{}".to_owned(),
    };
    let new = Begin {
        tenant: &link.tenant_id,
        subject: &link.subject,
        provider: None,
        issuer: None,
        login: None,
        sealed: SealedSession { identity: Some(identity), ..SealedSession::default() },
    };
    let value = begin(app, &mut tx, new).await?;
    app.commit(tx).await?;
    Ok(Some(SignedIn { tenant: link.tenant_id, value }))
}
