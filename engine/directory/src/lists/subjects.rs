//! The subjects of an object: from the object to everybody who is stored on the way.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use roaring::RoaringBitmap;

use super::bitmaps::Bitmaps;
use crate::closures::AskedSubject;
use crate::combined::GraphBuffer;
use crate::derivation::Facts;
use crate::graph::Graph;
use crate::max_work::{MAX_EDGES, MaxWork};
use crate::resource::{FirstHop, ROOT, Resource};
use crate::schema::{FlatArrow, RelationId, RelationNumber, TermId, TypeId};
use crate::subject::GraphSubject;
use crate::table::{EVERYONE, EdgeKey, EdgesAt, Moment, Node, Object, Way, merged};

/// The subjects of one type that have a relation to an object.
#[derive(Clone, Debug)]
pub struct SubjectList<'g> {
    graph: &'g Graph,
    type_id: TypeId,
    nodes: RoaringBitmap,
    /// Those that only the request names, in ascending order.
    unknown: Vec<String>,
    others: bool,
}

/// A question for all subjects.
#[derive(Clone, Copy, Debug)]
pub struct SubjectQuestion<'q> {
    /// The relation.
    pub relation: RelationId,
    /// The id of the object.
    pub id: &'q str,
    /// The edges of the object that the request has, in place of the stored ones.
    pub hops: &'q [FirstHop<'q>],
    /// The type of the subjects.
    pub subject_type: &'q str,
    /// The instant.
    pub now: DateTime<Utc>,
}

impl Graph {
    /// Returns all subjects of a declared type that have a relation to an object, as if claims gave nobody any. Takes the edges
    /// that it looks at from `max_edges`. `None` if the type is not declared, or if these are too few. Subjects whose check is
    /// undetermined because of too many edges are left out.
    pub fn subjects(
        &self,
        question: &SubjectQuestion<'_>,
        max_edges: &mut usize,
        buffer: &mut GraphBuffer,
    ) -> Option<SubjectList<'_>> {
        let type_id = self.schema.type_id(question.subject_type)?;
        let root_type = self.schema.type_id_of(question.relation);
        let mut descent = Descent {
            graph: self,
            type_id,
            resource: Resource { node: self.find(root_type, question.id), hops: question.hops },
            known: Bitmaps::new(&self.schema),
            open: Vec::new(),
            found: RoaringBitmap::new(),
            unknown: Vec::new(),
            is_combined: false,
            moment: Moment::new(question.now),
            left: MaxWork::new(*max_edges),
        };
        descent.open(ROOT, question.relation.term());
        let found = descent.run();
        // What was looked at is taken, also if it was not enough.
        *max_edges = descent.left.edges;
        found?;
        let Descent { found: nodes, unknown, is_combined, .. } = descent;
        let mut list = SubjectList { graph: self, type_id, nodes, unknown, others: false };
        list.add_everyone(question.now);
        if is_combined {
            list.check(question, buffer);
        }
        list.unknown.sort_unstable();
        Some(list)
    }
}

impl SubjectList<'_> {
    /// Returns the ids of the subjects that tuples name, in their order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let name = self.graph.schema.type_name(self.type_id);
        let stored = self.graph.table.ids_of_nodes(&self.nodes, name);
        merged(stored, self.unknown.iter().map(|id| &**id))
    }

    /// Returns whether the subjects that no tuple names have the relation.
    pub fn others(&self) -> bool {
        self.others
    }

    /// Replaces everybody of the type by all whom tuples name.
    fn add_everyone(&mut self, now: DateTime<Utc>) {
        let everyone = self.graph.everyone(self.type_id);
        self.others = everyone.is_some_and(|node| self.nodes.remove(node));
        if self.others {
            let graph = self.graph;
            let nodes = graph.nodes_of(self.type_id).iter().flat_map(Clone::clone);
            let nodes =
                nodes.filter(|node| Some(*node) != everyone && graph.table.is_named(*node, now));
            self.nodes.extend(nodes);
        }
    }

    /// Keeps the subjects for whom a check holds.
    fn check(&mut self, question: &SubjectQuestion<'_>, buffer: &mut GraphBuffer) {
        let (graph, subject_type) = (self.graph, self.type_id);
        let mut has = |id: &str| {
            let asked = AskedSubject { subject_type, id, claims: &[] };
            let closure = Some(Arc::new(graph.close(&asked, (question.now, MAX_EDGES), buffer)));
            let unknown = Vec::new();
            let subject = GraphSubject { graph, closure, unknown, now: question.now };
            subject.has(question.relation, question.id, question.hops, buffer) == Ok(true)
        };
        // Nobody has the id, so that the answer holds for everybody whom no tuple names.
        self.others = self.others && has(EVERYONE);
        self.unknown.retain(|id| has(id));
        let nodes = std::mem::take(&mut self.nodes);
        self.nodes.extend(nodes.into_iter().filter(|node| has(graph.table.id(*node))));
    }
}

/// Goes from an object to all who may have a relation to it: as if one factor of each `&&` were enough.
struct Descent<'g, 'q> {
    graph: &'g Graph,
    /// The type of the subjects.
    type_id: TypeId,
    resource: Resource<'q>,
    known: Bitmaps,
    open: Vec<(Node, TermId)>,
    found: RoaringBitmap,
    unknown: Vec<String>,
    /// Whether a term was met that combines others.
    is_combined: bool,
    moment: Moment,
    left: MaxWork,
}

impl<'g> Descent<'g, '_> {
    fn open(&mut self, node: Node, term: TermId) {
        if self.known.insert(term, node) {
            self.open.push((node, term));
        }
    }

    fn run(&mut self) -> Option<()> {
        while let Some((node, term)) = self.open.pop() {
            let (flat, resource) = (self.graph.schema.flat(term), self.resource);
            let edges = resource.stored(node).map(|node| self.graph.table.at(Way::Forward, node));
            self.is_combined |= flat.is_all;
            // Whoever has all factors has the first one.
            let count = if flat.is_all { 1 } else { flat.same.len() };
            self.left.steps = self.left.steps.checked_sub(1 + count)?;
            flat.same.iter().take(count).for_each(|term| self.open(node, *term));
            for (relation, number) in &flat.stored {
                match (resource.hop(node, *relation), edges) {
                    (Some(objects), _) => objects.iter().for_each(|object| self.find(*object)),
                    (None, Some(edges)) => self.stored(edges, *number)?,
                    (None, None) => {}
                }
            }
            for arrow in &flat.arrows {
                match (resource.hop(node, arrow.over), edges) {
                    (Some(objects), _) => {
                        // An object that no tuple names leads to nobody, because claims count for nobody here.
                        let known = objects.iter().filter_map(|one| self.graph.table.find(*one));
                        known.for_each(|node| self.arrive(node, arrow));
                    }
                    (None, Some(edges)) => self.follow(edges, arrow)?,
                    (None, None) => {}
                }
            }
        }
        Some(())
    }

    /// Finds a subject that the request names.
    fn find(&mut self, object: Object<'_>) {
        if object.object_type != self.graph.schema.type_name(self.type_id) {
            return;
        }
        match self.graph.table.find(object) {
            Some(node) => drop(self.found.insert(node)),
            None if self.unknown.iter().any(|id| id == object.id) => {}
            None => self.unknown.push(object.id.to_owned()),
        }
    }

    /// Finds the subjects of the edges of a relation, and opens the usersets among them.
    fn stored(&mut self, edges: EdgesAt<'g>, number: RelationNumber) -> Option<()> {
        let schema = &self.graph.schema;
        edges.each(EdgeKey::for_relation(number), |edges| {
            self.left.edges = self.left.edges.checked_sub(edges.len())?;
            let related = edges.key.subject_relation();
            let related = related.map(|number| schema.by_number(number).map(RelationId::term));
            // A copy, because `open` borrows all of `self`.
            let mut moment = self.moment.clone();
            for node in edges.nodes(&mut moment) {
                match related {
                    Some(Some(term)) => self.open(node, term),
                    // The schema has no relation of the number, so that nobody is in the userset.
                    Some(None) => {}
                    None if self.graph.is_of_type(node, self.type_id) => {
                        self.found.insert(node);
                    }
                    None => {}
                }
            }
            Some(())
        })
    }

    fn follow(&mut self, edges: EdgesAt<'g>, arrow: &FlatArrow) -> Option<()> {
        edges.each(EdgeKey::new(arrow.number, None).only(), |edges| {
            self.left.edges = self.left.edges.checked_sub(edges.len())?;
            let mut moment = self.moment.clone();
            edges.nodes(&mut moment).for_each(|node| self.arrive(node, arrow));
            Some(())
        })
    }

    /// Opens the terms of an object to which an arrow leads.
    fn arrive(&mut self, node: Node, arrow: &FlatArrow) {
        for (type_id, term) in &arrow.targets {
            if self.graph.is_of_type(node, *type_id) {
                self.open(node, *term);
            }
        }
    }
}
