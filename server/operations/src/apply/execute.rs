//! Writes a plan in the transaction that it was made in.

use portcullis_runtime::error::OperationError;
use portcullis_storage::Tx;

use super::applied_record::AppliedRecord;
use super::execution::Execution;
use super::plan::ApplyPlan;
use crate::content::kinds::each_kind;

macro_rules! execute {
    ($($(#[$about:meta])* $list:ident: $record:ty,)*) => {
        /// Writes `plan`, with the audit records and events of each change.
        ///
        /// # Errors
        /// The store failed, or a secret cannot be encrypted.
        pub async fn execute(
            tx: &mut Tx,
            plan: &ApplyPlan,
            execution: &Execution<'_>,
        ) -> Result<(), OperationError> {
            $(<$record>::write(tx, &plan.writes.$list, execution).await?;)*
            Ok(())
        }
    };
}

each_kind!(execute);
