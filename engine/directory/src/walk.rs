//! The object's side of a check: from the object over what its relations lead to, and back.

use crate::claim::UnknownClaim;
use crate::closure::Closure;
use crate::graph::Graph;
use crate::instances::{Instance, Instances, POSSIBLE};
use crate::max_work::MaxWork;
use crate::resource::Resource;
use crate::schema::{FlatArrow, RelationId, RelationNumber, TermId, TypeId};
use crate::table::{EdgeKey, EdgesAt, Moment, NOWHERE, Node, Object, Way};

/// Walks through the instances of one question.
pub(crate) struct Walk<'w> {
    pub(crate) graph: &'w Graph,
    pub(crate) closure: &'w Closure,
    pub(crate) resource: Resource<'w>,
    pub(crate) moment: Moment,
    pub(crate) left: MaxWork,
    /// The claims that could make the subject a member of any object.
    pub(crate) unknown: &'w [UnknownClaim],
    /// The first unknown claim that made an instance possible.
    pub(crate) doubted: Option<UnknownClaim>,
}

impl<'w> Walk<'w> {
    /// Calls `visit` with each instance on which one depends, and whether it stands behind `!`. Returns whether the instance
    /// holds by what is stored. `None` if it is too much work.
    #[inline]
    pub(crate) fn expand(
        &mut self,
        Instance { node, term }: Instance,
        mut visit: impl FnMut(Instance, bool),
    ) -> Option<bool> {
        let (mark, flat) = (term & POSSIBLE, self.graph.schema.flat(term & !POSSIBLE));
        self.left.steps = self.left.steps.checked_sub(1 + flat.same.len() + flat.none.len())?;
        flat.same.iter().for_each(|term| visit(Instance { node, term: *term | mark }, false));
        // What could hold does not certainly fail.
        let turned = if self.unknown.is_empty() { mark } else { mark ^ POSSIBLE };
        flat.none.iter().for_each(|term| visit(Instance { node, term: *term | turned }, true));
        if flat.stored.is_empty() && flat.arrows.is_empty() {
            return Some(false);
        }
        let edges = self.resource.stored(node).map(|node| self.graph.table.at(Way::Forward, node));
        let mut found = false;
        for (relation, number) in &flat.stored {
            found |= match self.resource.hop(node, *relation) {
                // The objects of the request stand for all that is stored and claimed.
                Some(objects) => self.is_among(objects)?,
                None => {
                    self.is_claimed(node, *relation)
                        || (mark == POSSIBLE && self.could_be_claimed(*relation))
                        || self.is_stored(edges, *number, mark, &mut visit)?
                }
            };
        }
        for arrow in &flat.arrows {
            match self.resource.hop(node, arrow.over) {
                Some(objects) => self.follow_objects(objects, (arrow, mark), &mut visit)?,
                None => self.follow(edges, (arrow, mark), &mut visit)?,
            }
        }
        Some(found)
    }

    /// Returns whether the subject is one of the objects that the request has.
    fn is_among(&mut self, objects: &[Object<'_>]) -> Option<bool> {
        self.left.edges = self.left.edges.checked_sub(objects.len())?;
        let key = &self.closure.key;
        let object_type = self.graph.schema.type_name(key.subject_type);
        Some(objects.contains(&Object { object_type, id: &key.id }))
    }

    fn is_claimed(&self, node: Node, relation: RelationId) -> bool {
        let claimed = &self.closure.claimed;
        !claimed.is_empty()
            && self
                .resource
                .stored(node)
                .is_some_and(|node| claimed.binary_search(&(node, relation)).is_ok())
    }

    /// Returns whether an unknown claim gives the relation, and notes the first one.
    fn could_be_claimed(&mut self, relation: RelationId) -> bool {
        let claim = self.unknown.iter().find(|claim| claim.relation == relation).copied();
        self.doubted = self.doubted.or(claim);
        claim.is_some()
    }

    /// Returns the term of a userset of which the closure does not say enough about the members: an unknown claim could give
    /// or take it.
    fn doubtful(&self, subject_relation: Option<RelationNumber>, mark: TermId) -> Option<TermId> {
        if self.unknown.is_empty() {
            return None;
        }
        let term = self.graph.schema.by_number(subject_relation?)?.term();
        let reach = self.graph.schema.reach(term);
        let is_doubtful = if mark == POSSIBLE { reach.has_claims } else { reach.negates_claims };
        is_doubtful.then_some(term | mark)
    }

    /// Returns whether one of the edges of a relation leads to what stands for the subject. Calls `visit` with the usersets
    /// that are to be decided.
    #[inline]
    fn is_stored(
        &mut self,
        edges: Option<EdgesAt<'_>>,
        number: RelationNumber,
        mark: TermId,
        visit: &mut impl FnMut(Instance, bool),
    ) -> Option<bool> {
        let (mut found, Some(edges)) = (false, edges) else { return Some(false) };
        edges.each(EdgeKey::for_relation(number), |edges| {
            let related = edges.key.subject_relation();
            if let Some(term) = self.doubtful(related, mark) {
                self.left.edges = self.left.edges.checked_sub(edges.len())?;
                let nodes = edges.nodes(&mut self.moment);
                nodes.for_each(|node| visit(Instance { node, term }, false));
                return Some(());
            }
            let members = self.closure.members(related);
            // Counted even if one was found before: the order of keys must not decide whether it is too much work.
            self.left.edges = self.left.edges.checked_sub(edges.len().min(members.len()))?;
            found = found || edges.lead_to_one(members, &mut self.moment);
            Some(())
        })?;
        Some(found)
    }

    /// Calls `visit` with each instance that an arrow leads to.
    #[inline]
    fn follow(
        &mut self,
        edges: Option<EdgesAt<'_>>,
        (arrow, mark): (&FlatArrow, TermId),
        visit: &mut impl FnMut(Instance, bool),
    ) -> Option<()> {
        let Some(edges) = edges else { return Some(()) };
        edges.each(EdgeKey::new(arrow.number, None).only(), |edges| {
            self.left.edges = self.left.edges.checked_sub(edges.len())?;
            for node in edges.nodes(&mut self.moment) {
                let targets = arrow.targets.iter();
                let targets = targets.filter(|target| self.graph.is_of_type(node, target.0));
                targets.for_each(|(_, term)| visit(Instance { node, term: *term | mark }, false));
            }
            Some(())
        })
    }

    /// Returns the node of an object; `None` if no relation can hold there.
    pub(crate) fn node(&self, type_id: TypeId, object: Object<'_>) -> Option<Node> {
        let known = self.graph.table.find(object);
        let known = known.or_else(|| self.closure.unknown(type_id, object.id));
        // A claim that is not known could name the object.
        known.or_else(|| (!self.unknown.is_empty()).then_some(NOWHERE))
    }

    /// Calls `visit` with each instance that an arrow leads to over objects that the request has.
    fn follow_objects(
        &mut self,
        objects: &[Object<'_>],
        (arrow, mark): (&FlatArrow, TermId),
        visit: &mut impl FnMut(Instance, bool),
    ) -> Option<()> {
        let graph = self.graph;
        self.left.edges = self.left.edges.checked_sub(objects.len())?;
        for object in objects {
            let Some(type_id) = graph.schema.type_id(object.object_type) else { continue };
            let Some(node) = self.node(type_id, *object) else { continue };
            let targets = arrow.targets.iter().filter(|target| target.0 == type_id);
            targets.for_each(|(_, term)| visit(Instance { node, term: *term | mark }, false));
        }
        Some(())
    }

    /// Returns whether a term combines factors below which no terms are combined.
    pub(crate) fn has_plain_factors(&self, term: TermId) -> bool {
        let schema = &self.graph.schema;
        // A term with a mark is not in the schema. Without unknown claims no term has one.
        if !self.unknown.is_empty() {
            return false;
        }
        let flat = schema.flat(term);
        let mut factors = flat.same.iter().chain(&flat.none);
        flat.is_all && factors.all(|factor| !schema.reach(*factor).has_all)
    }

    /// Decides a term that [has such factors](Self::has_plain_factors). Looks at each of them, so that their order changes
    /// nothing. `None` if it is too much work.
    pub(crate) fn all(
        &mut self,
        Instance { node, term }: Instance,
        instances: &mut Instances,
    ) -> Option<bool> {
        let flat = self.graph.schema.flat(term);
        let mut holds = true;
        for term in &flat.same {
            holds &= self.any(Instance { node, term: *term }, instances)?;
        }
        for term in &flat.none {
            holds &= !self.any(Instance { node, term: *term }, instances)?;
        }
        Some(holds)
    }

    /// Decides a term below which no terms are combined: one instance that is stored is enough. Looks at whole layers of
    /// instances, so that the order of edges changes nothing. `None` if it is too much work.
    pub(crate) fn any(&mut self, root: Instance, instances: &mut Instances) -> Option<bool> {
        instances.clear();
        instances.add(root);
        let (mut next, mut found) = (0, false);
        while next < instances.len() && !found {
            let layer = next..instances.len();
            next = layer.end;
            for place in layer {
                let instance = instances.get(place);
                found |= self.expand(instance, |instance, _| {
                    instances.add(instance);
                })?;
            }
        }
        Some(found)
    }
}
