//! The files that have wanted records, by the manifest.

use portcullis_storage::decision_files::{self, PartRow};
use portcullis_storage::{StoreError, Tx};
use uuid::Uuid;

use super::archive::Archive;
use super::reader::RestedPart;
use crate::wanted::Wanted;

impl Archive {
    /// Lists the parts with records of the wanted tenant and time.
    pub(crate) async fn parts(&self, wanted: &Wanted) -> Result<Vec<RestedPart>, StoreError> {
        let rows = async |tx: &mut Tx| decision_files::parts(tx, Uuid::nil(), Uuid::max()).await;
        let rows = self.store().read(&wanted.tenant, rows).await?;
        let part = |row: PartRow| RestedPart::new(self.clone(), row);
        let wanted = |row: &PartRow| wanted.overlaps(row.first_id, row.last_id);
        Ok(rows.into_iter().filter(wanted).map(part).collect())
    }
}
