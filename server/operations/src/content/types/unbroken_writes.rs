//! Writes of a type or a named condition that leave every stored object whole.

use portcullis_auth::Manager;
use portcullis_model::Authorship;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::Tx;

use super::broken::{Breaking, ProposedChange};
use crate::changes::gated_writes::GatedWrite;
use crate::changes::written::Written;

/// Makes `change` by `attempt` in a transaction of the caller's tenant. The attempt asks [`Breaking::permits`] before it writes,
/// and returns `None` where it is told to; then the change is judged again, in the turn of this write.
///
/// # Errors
/// The errors of [`Breaking::judge`] and of `attempt`, or an error of [`GatedWrite::begin`] or [`GatedWrite::commit`].
pub(crate) async fn write_unbroken<T>(
    app: &App,
    caller: &Manager,
    change: ProposedChange<'_>,
    attempt: impl AsyncFnOnce(
        &mut Tx,
        &Authorship,
        &mut Breaking<'_>,
    ) -> Result<Option<T>, OperationError>
    + Clone,
) -> Result<Written<T>, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut breaking = Breaking::judge(app, caller, change).await?;
    let mut write = GatedWrite::new(app, caller, &by);
    loop {
        let mut tx = write.begin().await?;
        let Some(record) = (attempt.clone())(&mut tx, &by, &mut breaking).await? else {
            write = write.in_turn(tx.cancel().await?);
            breaking = breaking.again(app, caller).await?;
            continue;
        };
        if let Some(revision) = write.commit(tx).await? {
            return Ok(Written::new(record, revision));
        }
    }
}
