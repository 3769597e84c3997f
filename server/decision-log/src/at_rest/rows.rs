//! Records in memory on their way into a file.

use std::collections::BTreeMap;
use std::ops::Range;

use uuid::Uuid;

/// Records of several tenants, sorted by tenant, then id.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    texts: Vec<u8>,
    by_tenant: BTreeMap<String, Vec<(Uuid, Range<usize>)>>,
}

impl Rows {
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
    pub(crate) fn sort(&mut self) {
        for places in self.by_tenant.values_mut() {
            places.sort_unstable_by_key(|(id, place)| (*id, place.start));
            places.dedup_by_key(|(id, _)| *id);
        }
    }

    /// Returns the tenants, in order.
    pub(crate) fn tenants(&self) -> impl Iterator<Item = &str> {
        self.by_tenant.keys().map(String::as_str)
    }

    /// Returns the records of `tenant`.
    pub(crate) fn of<'r>(&'r self, tenant: &str) -> impl Iterator<Item = (Uuid, &'r [u8])> {
        let places = self.by_tenant.get(tenant).map(Vec::as_slice).unwrap_or_default();
        places.iter().map(|(id, place)| (*id, self.texts.get(place.clone()).unwrap_or_default()))
    }

    /// Returns the bytes of the records of `tenant`.
    pub(crate) fn bytes(&self, tenant: &str) -> usize {
        self.of(tenant).map(|(_, json)| json.len()).sum()
    }
}
