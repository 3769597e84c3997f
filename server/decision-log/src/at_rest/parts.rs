//! The files that have wanted records, by the manifest.

use portcullis_storage::StoreError;
use portcullis_storage::decision_files::{self, PartRow};
use uuid::Uuid;

use super::archive::Archive;
use super::reader::RestedPart;
use crate::wanted::Wanted;

impl Archive {
    /// Lists the parts with records of the wanted tenant and time.
    pub(crate) async fn parts(&self, wanted: &Wanted) -> Result<Vec<RestedPart>, StoreError> {
        let mut tx = self.store().read(&wanted.tenant).await?;
        let rows = decision_files::parts(&mut tx, Uuid::nil(), Uuid::max()).await?;
        tx.end().await?;
        let part = |row: PartRow| RestedPart::new(self.clone(), row);
        let wanted = |row: &PartRow| wanted.overlaps(row.first_id, row.last_id);
        Ok(rows.into_iter().filter(wanted).map(part).collect())
    }
}
