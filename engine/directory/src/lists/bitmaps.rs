//! Facts about many objects: a bitmap for each term.

use roaring::RoaringBitmap;

use crate::derivation::Facts;
use crate::schema::{Schema, TermId};
use crate::table::Node;

/// The nodes for which each term holds.
pub(super) struct Bitmaps(Vec<RoaringBitmap>);

impl Bitmaps {
    pub(super) fn new(schema: &Schema) -> Self {
        Self(vec![RoaringBitmap::new(); schema.terms()])
    }

    pub(super) fn get(&self, term: TermId) -> &RoaringBitmap {
        &self.0[term as usize]
    }

    /// Takes the nodes of a term out.
    pub(super) fn take(&mut self, term: TermId) -> RoaringBitmap {
        std::mem::take(&mut self.0[term as usize])
    }
}

impl Facts for Bitmaps {
    fn insert(&mut self, term: TermId, node: Node) -> bool {
        self.0[term as usize].insert(node)
    }

    fn has(&self, term: TermId, node: Node) -> bool {
        self.0[term as usize].contains(node)
    }
}
