//! Attributes and conditions that the policies of a tenant may name.

use portcullis_engine::Namespaces;
use portcullis_engine::types::Types;
use portcullis_resolvers::namespaces;
use portcullis_runtime::app::App;
use portcullis_storage::{StoreError, Tx, conditions, types};

use super::compiled::compiled;

/// Returns the types that the transaction's tenant declares.
pub(crate) async fn declared(tx: &mut Tx) -> Result<Types, StoreError> {
    Ok(compiled(&types::all(tx).await?))
}

/// Returns what the policies of the transaction's tenant may read and name.
pub(crate) async fn readable(app: &App, tx: &mut Tx) -> Result<Namespaces, StoreError> {
    let resolvers = namespaces::for_tenant(tx, &app.resolvers.operator_resolvers()).await?;
    let readable = resolvers.with_types(declared(tx).await?);
    Ok(readable.with_conditions(conditions::named(tx).await?))
}
