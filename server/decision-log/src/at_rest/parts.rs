//! The files that have wanted records, by the manifest.

use portcullis_storage::StoreError;
use portcullis_storage::decision_files;
use uuid::Uuid;

use super::archive::Archive;
use super::reader::RestedPart;
use crate::wanted::Wanted;

impl Archive {
    /// Lists the parts with records of the wanted tenant and time.
    pub(crate) async fn parts(&self, wanted: &Wanted) -> Result<Vec<RestedPart>, StoreError> {
        let rows = self.store().read(&wanted.tenant, async |tx| {
            decision_files::parts(tx, Uuid::nil(), Uuid::max()).await
        });
        let rows = rows.await?.into_iter();
        let rows = rows.filter(|row| wanted.overlaps(row.first_id, row.last_id));
        Ok(rows.map(|row| RestedPart::new(self.clone(), row)).collect())
    }
}
