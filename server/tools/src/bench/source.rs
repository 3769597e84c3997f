//! The sources of plans: memory and databases.

use std::sync::Arc;

use anyhow::Context;
use portcullis_engine::{CheckTerms, Plan, TenantFacts};
use tempfile::TempDir;

use crate::bench::tenant::Tenant;
use crate::bench::unusable::Unusable;
use portcullis_bundle::Bundle;
use portcullis_config::{ConfigError, without_password};
use portcullis_model::Authorship;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::rule::{NewRule, RuleOrigin};
use portcullis_runtime::plans;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::{
    OpenError, Store, StoreError, Tx, plan_records, policies, roles, rules, tenants,
};

/// The value of `--scratch` for a temporary SQLite file.
const TEMPORARY: &str = "sqlite";

/// A source of plans.
#[derive(Debug)]
pub(super) struct Source {
    /// The name in reports.
    pub(super) name: String,
    from: PlanSource,
}

#[derive(Debug)]
enum PlanSource {
    /// The rules that a tenant was read with.
    Memory,
    /// A database, and its temporary folder.
    Store(Box<Store>, #[expect(dead_code, reason = "its drop removes the folder")] Option<TempDir>),
}

impl Source {
    /// The source of plans from rules in memory.
    pub(super) fn memory() -> Self {
        Self { name: "memory".to_owned(), from: PlanSource::Memory }
    }

    /// Opens a database that is only read.
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let store = usable(url, Store::open_to_read(url).await)?;
        Ok(Self { name: shown(url), from: PlanSource::Store(Box::new(store), None) })
    }

    /// Opens an empty database, and stores `tenants` in it.
    pub(super) async fn scratch(url: &str, tenants: &[Tenant]) -> anyhow::Result<Self> {
        let (url, name, folder) = if url == TEMPORARY {
            let folder = tempfile::tempdir().context("no temporary folder")?;
            let file = folder.path().join("bench.db");
            let name = "sqlite, temporary file".to_owned();
            (format!("sqlite://{}", file.display()), name, Some(folder))
        } else {
            (url.to_owned(), shown(url), None)
        };
        // A database with content is refused: a measurement must not write to it.
        let store = usable(&url, Store::open_empty(&url).await)?;
        let (ids, at) = (Ids::new(), Clock::system().now().into());
        let by = Authorship { actor: "portcullis bench".to_owned(), at };
        for bundle in tenants.iter().filter_map(|tenant| tenant.bundle.as_ref()) {
            let mut tx = store.write(&bundle.tenant, by.at.millis()).await?;
            store_bundle(&mut tx, bundle, &by, &ids).await?;
            tx.commit().await?;
        }
        Ok(Self { name, from: PlanSource::Store(Box::new(store), folder) })
    }

    /// Reads the tenant with this id or slug. `domain` is the domain of its checks that have none.
    pub(super) async fn tenant(&self, named: &str, domain: Option<&str>) -> anyhow::Result<Tenant> {
        let PlanSource::Store(store, _) = &self.from else { return Err(self.lacks(named)) };
        let found = store.read_all(async |tx| tenants::find_by_id_or_slug(tx, named).await).await?;
        let id = found.ok_or_else(|| self.lacks(named))?.id;
        let mut tx = store.begin_read(&id).await?;
        let rules = rules::for_every_plan(&mut tx).await?;
        let policies = policies::for_every_plan(&mut tx).await?;
        let stored = plan_records::facts(&mut tx).await?;
        let facts = TenantFacts {
            // No directory completes a check that is measured.
            directory: None,
            inclusions: roles::inclusions(&mut tx).await?,
            sources: stored.sources,
            datetimes: stored.datetimes,
            relations: stored.relations,
            recording: None,
            terms: CheckTerms::default(),
        };
        // The transaction ends before the measurement, so that no lock or snapshot stays open.
        tx.end().await?;
        let mut tenant = Tenant::new(id, domain, rules, policies, None);
        tenant.facts = Arc::new(facts);
        Ok(tenant)
    }

    fn lacks(&self, tenant: &str) -> anyhow::Error {
        Unusable::error(format!("{}: there is no tenant `{tenant}`", self.name))
    }

    /// Compiles the plan of a resource, like the service.
    pub(super) async fn load(&self, tenant: &Tenant, resource: &str) -> Result<Plan, StoreError> {
        match &self.from {
            PlanSource::Memory => Ok(tenant.plan(resource)),
            PlanSource::Store(store, _) => plans::load(store, &tenant.id, resource).await,
        }
    }

    /// Closes the connections.
    pub(super) async fn close(&self) {
        if let PlanSource::Store(store, _) = &self.from {
            store.close().await;
        }
    }
}

/// Stores all that decides of `bundle` in the transaction's tenant, which is empty.
async fn store_bundle(
    tx: &mut Tx,
    bundle: &Bundle,
    by: &Authorship,
    ids: &Ids,
) -> Result<(), StoreError> {
    let rules = bundle.rulebook.rules().iter().map(|rule| {
        let rule = NewRule { tuple: rule.tuple.clone(), effect: rule.effect };
        RecordWrite::Insert(rule.into_record(ids.next(by.at), RuleOrigin::Explicit, by))
    });
    bulk::write_rules(tx, &rules.collect::<Vec<_>>(), by).await?;
    // There are few roles, so they need no bulk write.
    for role in bundle.roles.iter().flatten() {
        roles::store(tx, &role.clone().into_record(by)).await?;
    }
    let policies = bundle.policies.iter().map(|policy| {
        let id = ids.next(by.at);
        RecordWrite::Insert(policy.clone().into_record(id, &bundle.tenant, by))
    });
    bulk::write_policies(tx, &policies.collect::<Vec<_>>(), by).await
}

/// Returns a URL without its password and its parameters, which can contain a password too.
fn shown(url: &str) -> String {
    let shown = without_password(url);
    // The options of the URL may have secrets, too, and say nothing to a reader.
    shown.split_once('?').map_or_else(|| shown.clone(), |(address, _)| address.to_owned())
}

/// Returns the opened database. An error that the user can repair is [`Unusable`].
fn usable(url: &str, opened: Result<Store, OpenError>) -> anyhow::Result<Store> {
    let shown = shown(url);
    opened.map_err(|error| match error {
        OpenError::Url(expected) => ConfigError::database_url(expected, shown).into(),
        OpenError::NoSchema | OpenError::OlderSchema | OpenError::InUse => {
            Unusable::error(format!("`{shown}`: {error}"))
        }
        failed => anyhow::Error::new(failed).context(format!("`{shown}`")),
    })
}
