//! Facts of a running service that hints depend on.

use std::collections::BTreeSet;

use portcullis_engine::resource::object_of;
use portcullis_engine::types::Types;
use portcullis_engine::{AttributeRequest, Check, Plan, ResourcePattern};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::plans::PlanError;
use portcullis_storage::{StoreError, Tx, plan_records, resources, types};

use super::hints::{HintFacts, inputs_of_relations};
use crate::content::types::compiled;
use crate::people::directory::NeededEntities;

/// The most registered names that an unregistered resource is compared with: a few milliseconds.
const MAX_COMPARED: u32 = 5_000;

/// Stored facts of a tenant that hints depend on.
#[derive(Debug)]
pub(crate) struct KnownOfTenant {
    entities: NeededEntities,
    types: Types,
    inputs: BTreeSet<String>,
    names: KnownNames,
}

/// The names that resemble the one of a resource.
#[derive(Debug)]
pub(crate) struct KnownNames {
    /// Whether the resource is registered, or a rule or policy names it.
    pub(crate) is_named: bool,
    /// Whether a rule or policy names all resources of its name.
    has_pattern: bool,
    /// The first registered names, if the resource is not named.
    pub(crate) registered: Vec<String>,
}

impl KnownOfTenant {
    /// Reads it for the check `sent`, which `plan` decides.
    ///
    /// # Errors
    /// The store failed, or the entities do not fit into memory.
    pub(crate) async fn read(
        (app, tenant): (&App, &str),
        plan: &Plan,
        sent: &Check<'_>,
    ) -> Result<Self, OperationError> {
        let entities = NeededEntities::load_all(app, tenant, plan).await;
        let entities = entities.map_err(PlanError::from)?;
        let mut tx = app.store.begin_read(tenant).await?;
        let names = KnownNames::read(&mut tx, sent.resource).await?;
        let records = types::all(&mut tx).await?;
        tx.end().await?;
        let kind = sent.resource_type();
        let own = records.iter().filter(|record| record.kind == kind);
        let mut inputs = inputs_of_relations(own.map(|record| &record.relations));
        for request in requests(plan) {
            inputs.extend(app.resolvers.declared_inputs(tenant, &request).await);
        }
        Ok(Self { entities, types: compiled(&records), inputs, names })
    }

    /// Returns it as hints read it.
    pub(crate) fn facts(&self) -> HintFacts<'_> {
        HintFacts {
            entities: self.entities.table(),
            types: &self.types,
            inputs: &self.inputs,
            is_named: self.names.is_named || self.names.has_pattern,
            registered: &self.names.registered,
        }
    }

    /// Returns the names that resemble the one of the resource.
    pub(crate) fn names(&self) -> &KnownNames {
        &self.names
    }
}

impl KnownNames {
    async fn read(tx: &mut Tx, resource: &str) -> Result<Self, StoreError> {
        let exact = ResourcePattern::Exact(resource.to_owned());
        let is_named = resources::matches(tx, &exact).await?
            || plan_records::name_resource(tx, resource).await?;
        let pattern = format!("{}:*", object_of(resource));
        let has_pattern = plan_records::name_resource(tx, &pattern).await?;
        // Nothing is mistaken in the name of a resource that is known.
        let compared = if is_named { 0 } else { MAX_COMPARED };
        let registered = resources::names(tx, compared).await?;
        Ok(Self { is_named, has_pattern, registered })
    }
}

/// Returns a request for an attribute of each resolver that the plan reads.
fn requests(plan: &Plan) -> Vec<AttributeRequest> {
    let namespaces: BTreeSet<&str> = plan.attributes().map(|(namespace, _)| namespace).collect();
    // All other namespaces are those of resolvers.
    let of_resolvers = namespaces.into_iter().filter(|namespace| {
        !matches!(*namespace, "user" | "resource" | "action" | "context" | "token" | "relation")
    });
    let requests = of_resolvers.map(|namespace| AttributeRequest {
        namespace: namespace.into(),
        resolver: plan.resolver(namespace),
        attributes: Vec::new(),
    });
    requests.collect()
}
