//! A bound on what all relations of one check may take.

use crate::combined::GraphBuffer;
use crate::max_work::{MAX_EDGES, MaxWork};
use crate::resource::FirstHop;
use crate::schema::RelationId;
use crate::subject::{GraphSubject, UndeterminedRelation};

/// The maximum number of edges that all relations of a check look at. The relations beyond are undetermined.
pub const MAX_EDGES_OF_CHECK: usize = 300_000;
/// The maximum number of edges that a check looks at on the thread of a request: less than a millisecond.
pub(crate) const MAX_EDGES_HERE: usize = 5_000;

/// A question is too much work for the thread of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// The work that the relations of one check may still take.
#[derive(Clone, Copy, Debug)]
pub struct RelationWork {
    left: MaxWork,
    /// The work that is left on this thread; `None` if it may take as long as it must.
    here: Option<MaxWork>,
    /// Whether the edges of the subject's closure are counted.
    has_closure: bool,
}

impl Default for RelationWork {
    /// Returns the work of a check that has asked for nothing yet.
    fn default() -> Self {
        Self { left: MaxWork::new(MAX_EDGES_OF_CHECK), here: None, has_closure: false }
    }
}

impl RelationWork {
    /// Returns the same work, but no more than fits into the thread of a request.
    pub(crate) fn here(self) -> Self {
        Self { here: Some(MaxWork::new(MAX_EDGES_HERE)), ..self }
    }

    /// Returns the same work, wherever it is done.
    pub(crate) fn anywhere(self) -> Self {
        Self { here: None, ..self }
    }

    /// Returns the number of edges to which the closure of a subject is bounded.
    pub(crate) fn max_closure(&self) -> usize {
        self.here.map_or(MAX_EDGES, |here| here.edges)
    }

    /// Returns whether the subject has the relation to the object, and takes the work out of what is left. A question that is
    /// beyond it takes all that it may, so that no order of edges changes the others.
    pub(crate) fn ask(
        &mut self,
        subject: &GraphSubject<'_>,
        (relation, id, hops): (RelationId, &str, &[FirstHop<'_>]),
        buffer: &mut GraphBuffer,
    ) -> Result<Result<bool, UndeterminedRelation>, TooLong> {
        let Some(of_closure) = subject.edges_below(relation) else {
            return Ok(Err(UndeterminedRelation::TooManyEdges));
        };
        // All relations of a check have one subject, so the edges of its closure count once.
        if of_closure > 0 && !std::mem::replace(&mut self.has_closure, true) {
            self.left.edges = self.left.edges.saturating_sub(of_closure);
        }
        // A closure that is complete has at most `MAX_EDGES` edges.
        let own = MaxWork { edges: MAX_EDGES - of_closure, ..MaxWork::new(MAX_EDGES) };
        let allowed = own.min(self.left);
        let here = self.here.map_or(allowed, |here| here.min(allowed));
        let mut left = here;
        let answer = subject.has_within(relation, id, hops, &mut left, buffer);
        let is_exceeded = answer == Err(UndeterminedRelation::TooManyEdges);
        // The caller asks again elsewhere, with the work that was left before.
        if is_exceeded && here != allowed {
            return Err(TooLong);
        }
        let spent = if is_exceeded { here } else { here.less(left) };
        self.left = self.left.less(spent);
        self.here = self.here.map(|here| here.less(spent));
        let is_own = allowed == own;
        Ok(if is_exceeded && !is_own { Err(UndeterminedRelation::CheckIsSpent) } else { answer })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::DateTime;
    use portcullis_engine::invalid::{Place, Problems};
    use portcullis_engine::json;

    use super::*;
    use crate::{
        Graph, Object, RelationNumber, Schema, SubjectClaims, Tuple, TupleTable, TypeRelations,
        read_relations,
    };

    const PARENT: RelationNumber = RelationNumber(0);

    /// Makes chains of folders, each with so many edges.
    fn chains(edges: &[usize]) -> Graph {
        let line = br#"{"parent": "[folder]", "viewer": "[user] || parent.viewer"}"#;
        let (json, mut problems) = (json::parse(line).expect("JSON"), Problems::default());
        let read = read_relations(&json, &Place::root(), &mut problems).expect("relations");
        let numbers = (0..).map(RelationNumber);
        let relations: Vec<_> = numbers.zip(read).collect();
        let types = [TypeRelations { name: "folder", relations: &relations }];
        let mut builder = TupleTable::builder();
        for (chain, edges) in edges.iter().enumerate() {
            for link in 0..*edges {
                let [own, next] = [link, link + 1].map(|link| format!("{chain}-{link}"));
                let [object, subject] =
                    [&own, &next].map(|id| Object { object_type: "folder", id });
                let tuple = Tuple {
                    object,
                    relation: PARENT,
                    subject,
                    subject_relation: None,
                    expires_at: None,
                };
                builder.push(tuple).expect("room");
            }
        }
        let schema = Arc::new(Schema::compile(&types).expect("a schema"));
        Graph::new(schema, builder.finish(), 1 << 20)
    }

    /// Asks for the relation at the start of each chain, one after the other.
    fn ask(
        graph: &Graph,
        count: usize,
        mut work: RelationWork,
    ) -> Vec<Result<Result<bool, UndeterminedRelation>, TooLong>> {
        let (now, buffer) = (DateTime::UNIX_EPOCH, &mut GraphBuffer::default());
        let ann = Object { object_type: "user", id: "ann" };
        let subject = graph.subject(ann, SubjectClaims::default(), now, buffer);
        let viewer = graph.schema().relation("folder", "viewer").expect("a relation");
        let mut ask = |chain| work.ask(&subject, (viewer, &format!("{chain}-0"), &[]), buffer);
        (0..count).map(&mut ask).collect()
    }

    #[test]
    fn all_relations_of_a_check_have_one_budget() {
        let graph = chains(&[90_000; 5]);
        let alone = ask(&graph, 3, RelationWork::default());
        assert_eq!(alone, [Ok(Ok(false)); 3]);
        let all = ask(&graph, 5, RelationWork::default());
        assert_eq!(all[..3], alone);
        // The fourth one takes what is left.
        assert_eq!(all[3..], [Ok(Err(UndeterminedRelation::CheckIsSpent)); 2]);
    }

    #[test]
    fn one_relation_keeps_its_own_limit_and_leaves_the_others_theirs() {
        let graph = chains(&[MAX_EDGES + 1, 10]);
        let asked = ask(&graph, 2, RelationWork::default());
        assert_eq!(asked, [Ok(Err(UndeterminedRelation::TooManyEdges)), Ok(Ok(false))]);
    }

    #[test]
    fn a_long_walk_is_not_made_on_the_thread_of_a_request() {
        let graph = chains(&[MAX_EDGES_HERE / 2, MAX_EDGES_HERE / 2, 1]);
        let asked = ask(&graph, 3, RelationWork::default().here());
        assert_eq!(asked, [Ok(Ok(false)), Ok(Ok(false)), Err(TooLong)]);
        assert_eq!(ask(&graph, 3, RelationWork::default()), [Ok(Ok(false)); 3]);
    }
}
