//! The records that must not be sealed: records of tenants that are gone, and records about erased persons.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_model::Timestamp;
use portcullis_storage::decision_erasures;
use portcullis_storage::{StoreError, Tx, tenants};
use serde::Deserialize;
use uuid::Uuid;

use super::archive::Archive;

/// The milliseconds by which the clocks of replicas may differ. The id of a deleted tenant is free after ten minutes.
const SKEW: i64 = 5 * 60 * 1_000;

/// The records that must not be sealed.
#[derive(Debug, Default)]
pub(crate) struct Excluded {
    /// Tenants that are being deleted.
    leaving: BTreeSet<String>,
    /// Instants at which the tenants that exist were made, in milliseconds since the epoch.
    created: BTreeMap<String, i64>,
    /// Instants of erasures, by tenant and authentication code of the subject.
    persons: BTreeMap<String, BTreeMap<Vec<u8>, i64>>,
}

/// The numbers of records that were left out.
#[derive(Debug, Default)]
pub(crate) struct ErasedRecords {
    /// The records about erased persons, by tenant and code of the subject.
    by_person: BTreeMap<(String, Vec<u8>), i64>,
    /// The records of tenants that are gone.
    pub(crate) of_tenants: u64,
}

impl Archive {
    /// Returns the tenants that are being deleted.
    pub(crate) async fn leaving(&self) -> Result<BTreeSet<String>, StoreError> {
        let leaving = self.store().read_all(async |tx| tenants::leaving(tx).await).await?;
        Ok(leaving.into_iter().collect())
    }

    /// Returns the records of `tenants` that must not be sealed.
    pub(crate) async fn excluded(
        &self,
        tenants: &BTreeSet<String>,
    ) -> Result<Excluded, StoreError> {
        let names: Vec<&String> = tenants.iter().collect();
        self.store().read_all(async |tx| Excluded::read(tx, &names).await).await
    }

    /// Returns the authentication code of a subject: the database does not name the persons whose records are erased.
    pub(crate) fn code_of(&self, tenant: &str, subject: &str) -> Vec<u8> {
        self.keys().authenticate(&parts(tenant, subject)).to_vec()
    }

    /// Returns the codes of a subject by each key, the newest first: an erasure may have been noted with an older key.
    pub(crate) fn codes_of(&self, tenant: &str, subject: &str) -> Vec<Vec<u8>> {
        self.keys().codes_of(&parts(tenant, subject)).map(Vec::from).collect()
    }
}

/// Returns the parts of which the code of a subject is made.
fn parts<'p>(tenant: &'p str, subject: &'p str) -> [&'p [u8]; 3] {
    [b"erased subject", tenant.as_bytes(), subject.as_bytes()]
}

impl Excluded {
    async fn read(tx: &mut Tx, tenants: &[&String]) -> Result<Self, StoreError> {
        let leaving = tenants::leaving(tx).await?.into_iter().collect();
        let created = tenants::created(tx, tenants).await?.into_iter().collect();
        let mut persons = BTreeMap::<String, BTreeMap<Vec<u8>, i64>>::new();
        for erasure in decision_erasures::list(tx, tenants).await? {
            let of_tenant = persons.entry(erasure.tenant_id).or_default();
            of_tenant.insert(erasure.subject, erasure.erased_at);
        }
        Ok(Self { leaving, created, persons })
    }

    /// Returns whether the record must not be kept. Counts it in `erased` if it is about an erased person.
    pub(crate) fn has(
        &self,
        archive: &Archive,
        (tenant, id, json): (&str, Uuid, &[u8]),
        erased: &mut ErasedRecords,
    ) -> bool {
        if self.leaving.contains(tenant) || self.is_of_a_deleted_tenant(tenant, id, json) {
            erased.of_tenants += 1;
            return true;
        }
        let Some(code) = self.person(archive, tenant, id, json) else { return false };
        *erased.by_person.entry((tenant.to_owned(), code)).or_default() += 1;
        true
    }

    /// Returns the code of the erased person that the record is about.
    fn person(&self, archive: &Archive, tenant: &str, id: Uuid, json: &[u8]) -> Option<Vec<u8>> {
        #[derive(Deserialize)]
        struct Subject {
            subject: String,
        }
        // Most tenants have no erasure: their records are not parsed.
        let persons = self.persons.get(tenant)?;
        let Subject { subject } = serde_json::from_slice(json).ok()?;
        let mut codes = archive.codes_of(tenant, &subject).into_iter();
        let (code, at) = codes.find_map(|code| persons.get_key_value(&code))?;
        // What the person does after the erasure is recorded like anybody else's decisions.
        (Timestamp::from_id(id).millis() <= *at).then(|| code.clone())
    }

    /// Returns whether the record is of a tenant that is gone, or of one that had the id before: it names a revision, and
    /// no tenant that exists had one then. A tenant without a write has the revision 0 and need not be in the database.
    fn is_of_a_deleted_tenant(&self, tenant: &str, id: Uuid, json: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Decided {
            revision: i64,
        }
        let made = self.created.get(tenant);
        if made.is_some_and(|made| Timestamp::from_id(id).millis() >= made - SKEW) {
            return false;
        }
        serde_json::from_slice(json).map_or(true, |Decided { revision }| revision > 0)
    }
}

impl ErasedRecords {
    /// Returns whether no record about a person was left out.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_person.is_empty()
    }

    /// Counts them as gone.
    pub(crate) async fn note(&self, tx: &mut Tx) -> Result<(), StoreError> {
        for ((tenant, subject), records) in &self.by_person {
            decision_erasures::count(tx, tenant, subject, *records).await?;
        }
        Ok(())
    }
}
