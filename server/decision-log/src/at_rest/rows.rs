//! Records in memory on their way into a file.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use uuid::Uuid;

type Places = BTreeMap<String, Vec<(Uuid, Range<usize>)>>;

/// Records of several tenants, sorted by tenant, then id.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The cells of a file share it.
    texts: Bytes,
    by_tenant: Places,
}

/// Records in any order.
#[derive(Debug, Default)]
pub(crate) struct UnsortedRows {
    texts: Vec<u8>,
    by_tenant: Places,
}

impl UnsortedRows {
    pub(crate) fn add(&mut self, tenant: &str, id: Uuid, json: &[u8]) {
        let start = self.texts.len();
        self.texts.extend_from_slice(json);
        let place = (id, start..self.texts.len());
        match self.by_tenant.get_mut(tenant) {
            Some(places) => places.push(place),
            None => _ = self.by_tenant.insert(tenant.to_owned(), vec![place]),
        }
    }

    /// Sorts the records of each tenant. A record that is there twice stays once.
    pub(crate) fn sorted(mut self) -> Rows {
        for places in self.by_tenant.values_mut() {
            places.sort_unstable_by_key(|(id, place)| (*id, place.start));
            places.dedup_by_key(|(id, _)| *id);
        }
        Rows { texts: self.texts.into(), by_tenant: self.by_tenant }
    }
}

impl Rows {
    /// Returns the tenants, in order.
    pub(crate) fn tenants(&self) -> impl Iterator<Item = &str> {
        self.by_tenant.keys().map(String::as_str)
    }

    /// Returns the records of `tenant`.
    pub(crate) fn of(&self, tenant: &str) -> impl Iterator<Item = (Uuid, Bytes)> {
        self.places(tenant).iter().map(|(id, place)| (*id, self.texts.slice(place.clone())))
    }

    /// Returns the ids of the records of `tenant`.
    pub(crate) fn ids(&self, tenant: &str) -> impl DoubleEndedIterator<Item = Uuid> {
        self.places(tenant).iter().map(|(id, _)| *id)
    }

    /// Returns the bytes of the records of `tenant`.
    pub(crate) fn bytes(&self, tenant: &str) -> usize {
        self.places(tenant).iter().map(|(_, place)| place.len()).sum()
    }

    fn places(&self, tenant: &str) -> &[(Uuid, Range<usize>)] {
        self.by_tenant.get(tenant).map(Vec::as_slice).unwrap_or_default()
    }
}
