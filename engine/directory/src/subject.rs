//! A subject of questions, with its closure.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::closure::{Closure, ClosureKey};
use crate::closures::{AskedSubject, ClaimedObjects};
use crate::combined::GraphBuffer;
use crate::derivation::{Derivation, MaxWork};
use crate::graph::Graph;
use crate::schema::TypeId;
use crate::table::{Moment, Node, Object};

/// The maximum number of edges that a check of one relation looks at. With more it is undetermined.
pub const MAX_EDGES: usize = 100_000;

/// A subject whose relations are asked for at one instant.
#[derive(Clone, Debug)]
pub struct GraphSubject<'g> {
    pub(crate) graph: &'g Graph,
    /// `None` for a subject of a type that is not declared: it has no relations.
    pub(crate) closure: Option<Arc<Closure>>,
    pub(crate) now: DateTime<Utc>,
}

impl Graph {
    /// Finds everything that stands for a subject at `now`, or takes it from what is kept. `claims` are of a token that the
    /// subject sent itself. The id `*` is not a subject.
    pub fn subject(
        &self,
        subject: Object<'_>,
        claims: &[ClaimedObjects<'_>],
        now: DateTime<Utc>,
        buffer: &mut GraphBuffer,
    ) -> GraphSubject<'_> {
        let subject_type = self.schema.type_id(subject.object_type);
        let closure = subject_type.map(|subject_type| {
            let asked = AskedSubject { subject_type, id: subject.id, claims };
            self.closures.get(&asked, now).unwrap_or_else(|| {
                let closure = Arc::new(self.close(&asked, now, buffer));
                self.closures.insert(Arc::clone(&closure));
                closure
            })
        });
        GraphSubject { graph: self, closure, now }
    }

    pub(crate) fn close(
        &self,
        asked: &AskedSubject<'_>,
        now: DateTime<Utc>,
        buffer: &mut GraphBuffer,
    ) -> Closure {
        let key = ClosureKey {
            subject_type: asked.subject_type,
            id: asked.id.into(),
            claims: asked.claims().map(|(relation, id)| (relation, id.into())).collect(),
        };
        let mut closure = self.unclosed(key);
        let moment = self.fill(&mut closure, Moment::new(now), true, buffer);
        closure.valid = (now, moment.until());
        closure
    }

    /// Returns a closure without members.
    pub(crate) fn unclosed(&self, key: ClosureKey) -> Closure {
        let types = |relation| self.schema.type_id_of(relation);
        Closure::new(key, types, |type_id, id| self.find(type_id, id))
    }

    /// Finds the members of a closure. Without negations they are all that could be members.
    pub(crate) fn fill(
        &self,
        closure: &mut Closure,
        moment: Moment,
        has_negations: bool,
        GraphBuffer { instances, derivation: memory, .. }: &mut GraphBuffer,
    ) -> Moment {
        instances.clear();
        let limits = (moment, MaxWork::new(MAX_EDGES));
        let mut derivation =
            Derivation::new(self, self.schema.closure(), instances, memory, limits);
        derivation.has_negations = has_negations;
        let own = self.seeds(closure.key.subject_type, &closure.key.id);
        let is_complete = derivation.derive(&own, &closure.claimed).is_some();
        closure.edges = is_complete.then(|| MAX_EDGES - derivation.left.edges);
        let moment = derivation.moment;
        let usersets = if is_complete { &memory.usersets[..] } else { &[] };
        let usersets = usersets.iter().map(|(relation, node)| (Some(*relation), *node));
        closure.set_members(own.into_iter().map(|node| (None, node)).chain(usersets).collect());
        moment
    }

    /// Returns the nodes that stand for a subject in tuples without a subject relation: itself, and everybody of its type.
    fn seeds(&self, subject_type: TypeId, id: &str) -> Vec<Node> {
        let nodes = [self.find(subject_type, id), self.everyone(subject_type)];
        let mut own: Vec<Node> = nodes.into_iter().flatten().collect();
        own.dedup();
        own
    }
}
