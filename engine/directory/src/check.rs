//! Checks: has the subject the relation to the object?

use crate::combined::GraphBuffer;
use crate::derivation::MaxWork;
use crate::instances::Instance;
use crate::resource::{FirstHop, Resource};
use crate::schema::RelationId;
use crate::subject::{GraphSubject, MAX_EDGES};
use crate::table::{Moment, Object};
use crate::walk::Walk;

impl GraphSubject<'_> {
    /// Returns whether the subject has `relation` to the object `id` of the relation's type. `hops` are the edges of the
    /// object that the request has; they stand for its stored ones.
    ///
    /// `None` means undetermined: more than [`MAX_EDGES`] edges would have to be looked at, including the edges of the
    /// subject's closure.
    pub fn has(
        &self,
        relation: RelationId,
        id: &str,
        hops: &[FirstHop<'_>],
        buffer: &mut GraphBuffer,
    ) -> Option<bool> {
        let Some(mut walk) = self.walk(relation, id, hops, Moment::new(self.now))? else {
            return Some(false);
        };
        let Some(node) = walk.resource.start() else { return Some(false) };
        let root = Instance { node, term: relation.term() };
        match self.graph.schema.reach(root.term).has_all {
            false => walk.any(root, &mut buffer.instances),
            true if walk.has_plain_factors(root.term) => walk.all(root, &mut buffer.instances),
            true => buffer.combined(&mut walk, root),
        }
    }

    /// Starts a walk from the object `id`. `Some(None)` if the subject has no relations; `None` if its closure is too much
    /// work and `relation` needs it.
    pub(crate) fn walk<'w>(
        &'w self,
        relation: RelationId,
        id: &str,
        hops: &'w [FirstHop<'w>],
        moment: Moment,
    ) -> Option<Option<Walk<'w>>> {
        let (graph, Some(closure)) = (self.graph, &self.closure) else { return Some(None) };
        let mut left = MaxWork::new(MAX_EDGES);
        if graph.schema.reach(relation.term()).has_usersets {
            left.edges -= closure.edges?;
        }
        let type_id = graph.schema.type_id_of(relation);
        let object = Object { object_type: graph.schema.type_name(type_id), id };
        let node = graph.table.find(object).or_else(|| closure.unknown(type_id, id));
        Some(Some(Walk { graph, closure, resource: Resource { node, hops }, moment, left }))
    }
}
