//! The relations of candidates: the graph narrows them, and answers for each (`docs/semantics.md`, section 13.2).

use portcullis_engine::entities::{EntityTable, USER, principal};
use portcullis_engine::relation::RelationTarget;
use portcullis_engine::search::Searched;
use portcullis_engine::{AttributeAnswer, Caller, Check, Json, TenantFacts};

use crate::graph::Graph;
use crate::lists::{ObjectList, SubjectList, SubjectQuestion};
use crate::max_work::MAX_EDGES;
use crate::questions::{self, RelationQuestions, resource_of};
use crate::subject::GraphSubject;
use crate::table::Object;
use crate::work::{MAX_EDGES_OF_CHECK, RelationWork};

/// The relations of the candidates of a search.
pub struct SearchRelations<'s> {
    /// The questions of the check as it was sent.
    questions: RelationQuestions<'s>,
    /// The type of the candidates.
    entity_type: &'s str,
    table: &'s EntityTable,
    /// The subject of a search for resources.
    subject: Option<GraphSubject<'s>>,
}

/// The candidates to which a relation can be true.
pub enum RelatedCandidates<'s> {
    /// Every candidate.
    Any,
    /// None.
    Nobody,
    /// These resources.
    Objects(ObjectList<'s>),
    /// These subjects.
    Subjects(SubjectList<'s>),
}

/// A candidate whose relations are asked for.
#[derive(Clone, Copy)]
pub struct AskedCandidate<'c> {
    /// The id.
    pub id: &'c str,
    /// The claims of a subject that is the caller.
    pub claims: Option<&'c Json<'c>>,
    /// The check with the attributes that the request gives with a resource.
    pub given: Option<&'c Check<'c>>,
}

impl<'s> SearchRelations<'s> {
    /// Makes the relations of a search for what `check`, as it was sent, leaves open: candidates of a type, of which `table`
    /// has entities.
    pub fn new(
        (graph, facts): (&'s Graph, &'s TenantFacts),
        check: &'s Check<'s>,
        (searched, entity_type): (Searched, &'s str),
        table: &'s EntityTable,
    ) -> Self {
        let resource = resource_of(check);
        let questions = RelationQuestions { graph, facts, check, given: None, resource };
        let subject = (searched == Searched::Resource).then(|| {
            questions::with_buffer(|buffer| {
                questions::subject_anywhere(questions.graph, questions.check, buffer)
            })
        });
        Self { questions, entity_type, table, subject }
    }

    /// Returns the candidates to which each of these relations of a plan can be true. All together look at no more edges than the
    /// relations of one check; beyond, every candidate can be one.
    pub fn related(&'s self, names: impl Iterator<Item = &'s str>) -> Vec<RelatedCandidates<'s>> {
        let (mut left, mut work) = (MAX_EDGES_OF_CHECK, RelationWork::default());
        let related = names.map(|name| {
            // A relation may look at as many edges as one question does, and gives back what it leaves.
            let mut own = left.min(MAX_EDGES);
            left -= own;
            let related = match &self.subject {
                Some(subject) => self.objects(subject, name, &mut own, &mut work),
                None => self.subjects(name, &mut own),
            };
            left += own;
            related
        });
        related.collect()
    }

    fn objects(
        &'s self,
        subject: &'s GraphSubject<'s>,
        name: &str,
        left: &mut usize,
        work: &mut RelationWork,
    ) -> RelatedCandidates<'s> {
        let questions = self.questions;
        let RelationTarget::OfResource(relation) = RelationTarget::parse(name) else {
            // Each candidate has the same answer.
            let answer =
                questions::with_buffer(|buffer| questions.answer(subject, name, work, buffer));
            return match answer {
                AttributeAnswer::Value(Json::Bool(false)) | AttributeAnswer::Failed(_) => {
                    RelatedCandidates::Nobody
                }
                AttributeAnswer::Value(_) | AttributeAnswer::Absent => RelatedCandidates::Any,
            };
        };
        let schema = questions.graph.schema();
        if !schema.has_type(self.entity_type) || questions.has_hops(self.entity_type) {
            return RelatedCandidates::Any;
        }
        let Some(relation) = schema.relation(self.entity_type, relation) else {
            return RelatedCandidates::Nobody;
        };
        let list = subject.objects(relation, left);
        list.map_or(RelatedCandidates::Any, RelatedCandidates::Objects)
    }

    fn subjects(&'s self, name: &str, left: &mut usize) -> RelatedCandidates<'s> {
        let (questions, graph) = (self.questions, self.questions.graph);
        let question = match questions.question(name) {
            Ok(question) => question,
            Err(AttributeAnswer::Absent) => return RelatedCandidates::Any,
            Err(_) => return RelatedCandidates::Nobody,
        };
        let has_type = graph.schema().has_type(self.entity_type);
        // Without a type in the request, the name of a candidate may read as an object of another type.
        if !self.is_typed() && (!has_type || self.has_foreign_principals()) {
            return RelatedCandidates::Any;
        }
        if !has_type {
            return RelatedCandidates::Nobody;
        }
        let asked = SubjectQuestion {
            relation: question.relation,
            id: question.object.id,
            hops: &question.first_hops(),
            subject_type: self.entity_type,
            now: questions.check.now,
        };
        let list = questions::with_buffer(|buffer| graph.subjects(&asked, left, buffer));
        // Then it can be true for subjects that no list names.
        match list.filter(|list| !list.others()) {
            Some(list) => RelatedCandidates::Subjects(list),
            None => RelatedCandidates::Any,
        }
    }

    /// Returns whether a candidate is an object of its type, whatever its name reads as.
    fn is_typed(&self) -> bool {
        self.questions.check.subject_type.is_some()
    }

    /// Returns whether the id of a user reads as an object of another declared type.
    fn has_foreign_principals(&self) -> bool {
        let (graph, now) = (self.questions.graph, self.questions.check.now);
        let mut others = graph.schema().type_names().filter(|name| *name != USER);
        self.entity_type == USER
            && others.any(|name| {
                let prefix = format!("{name}:");
                // Ids are sorted: if one has the prefix, the first id after the prefix does.
                let stored = self.table.for_type(USER, Some(&prefix)).map(|user| user.id()).next();
                let named = graph.named(USER, Some(&prefix), now).next();
                let mut first = [stored, named].into_iter().flatten();
                first.any(|id| id.starts_with(&prefix))
            })
    }

    /// Returns the id of the caller among the candidates of a search for subjects, if its token can make it a member.
    pub fn claiming<'c>(&self, caller: Option<Caller<'c>>) -> Option<&'c str> {
        let may_claim =
            self.subject.is_none() && self.questions.graph.schema.claims().next().is_some();
        let subject = caller.filter(|_| may_claim)?.subject;
        match self.entity_type {
            USER => Some(subject),
            other => subject.strip_prefix(other)?.strip_prefix(':'),
        }
    }

    /// Returns the answer to the relation `name` of a plan for a candidate. Takes the work out of what its check has left.
    pub fn answer(
        &self,
        candidate: AskedCandidate<'_>,
        name: &str,
        work: &mut RelationWork,
    ) -> AttributeAnswer {
        let AskedCandidate { id, claims, given } = candidate;
        let object = Object { object_type: self.entity_type, id };
        let (questions, now) = (self.questions, self.questions.check.now);
        questions::with_buffer(|buffer| {
            if let Some(subject) = &self.subject {
                let questions = RelationQuestions { given, resource: Some(object), ..questions };
                return questions.answer(subject, name, work, buffer);
            }
            let (schema, principal) = (questions.graph.schema(), principal(self.entity_type, id));
            let object =
                if self.is_typed() { object } else { questions::object_of(schema, &principal) };
            let subject = questions::subject(questions.graph, object, claims, now, buffer);
            questions.answer(&subject, name, work, buffer)
        })
    }
}

impl RelatedCandidates<'_> {
    /// Returns the ids in ascending order, with `also`; `None` if they are all.
    pub fn ids<'r>(&'r self, also: Option<&'r str>) -> Option<Vec<&'r str>> {
        let mut ids: Vec<&str> = match self {
            Self::Any => return None,
            Self::Nobody => Vec::new(),
            Self::Objects(list) => list.ids().collect(),
            Self::Subjects(list) => list.ids().collect(),
        };
        if let Some(id) = also
            && let Err(place) = ids.binary_search(&id)
        {
            ids.insert(place, id);
        }
        Some(ids)
    }
}
