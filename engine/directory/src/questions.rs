//! Questions of checks: the graph of the tenant answers what plans ask for (`docs/semantics.md`, section 12.12).

mod rows;

use std::cell::RefCell;

use chrono::{DateTime, Utc};
use portcullis_engine::entities::USER;
use portcullis_engine::relation::{RELATION, RelationTarget};
use portcullis_engine::request::Roles;
use portcullis_engine::value::AttributeValue;
use portcullis_engine::{AttributeAnswer, AttributeAnswers, Check, Json, Precedence, TenantFacts};

use crate::claim::{ReadClaims, UnknownClaim};
use crate::closures::ClaimedObjects;
use crate::combined::GraphBuffer;
use crate::explain::RelationExplanation;
use crate::graph::Graph;
use crate::max_work::MAX_EDGES;
use crate::resource::FirstHop;
use crate::schema::{RelationId, Schema};
use crate::subject::{GraphSubject, SubjectClaims, UndeterminedRelation};
use crate::table::Object;
use crate::work::{MAX_EDGES_OF_CHECK, RelationWork, TooLong};

pub use rows::{PlannedRows, RelationsOfRows};

thread_local! {
    /// The memory of checks. No check waits while it has it.
    static BUFFER: RefCell<GraphBuffer> = RefCell::default();
}

/// An explanation looks at this many times the edges of the relations of a check.
const TIMES_OF_CHECK: usize = 4;

impl Graph {
    /// Returns the answers to the attributes `names` of the namespace `relation` for a check as it was sent, of this resource.
    /// Takes the work out of what the check has left.
    pub fn answers(
        &self,
        facts: &TenantFacts,
        asked: (&Check<'_>, Option<Object<'_>>),
        names: &[Box<str>],
        work: &mut RelationWork,
    ) -> AttributeAnswers {
        *work = work.anywhere();
        // Without a bound on this thread nothing is too long for it.
        self.try_answers(facts, asked, names, work).unwrap_or_default()
    }

    /// Returns the answers as [`Self::answers`] does, if they take so little time that the thread of a request has it.
    pub fn answers_here(
        &self,
        facts: &TenantFacts,
        asked: (&Check<'_>, Option<Object<'_>>),
        names: &[Box<str>],
        work: &mut RelationWork,
    ) -> Option<AttributeAnswers> {
        // A copy, because answers that take too long are asked for again from the start.
        let mut here = work.here();
        let answers = self.try_answers(facts, asked, names, &mut here).ok()?;
        *work = here;
        Some(answers)
    }

    fn try_answers(
        &self,
        facts: &TenantFacts,
        (check, resource): (&Check<'_>, Option<Object<'_>>),
        names: &[Box<str>],
        work: &mut RelationWork,
    ) -> Result<AttributeAnswers, TooLong> {
        let mut answers = AttributeAnswers::default();
        with_buffer(|buffer| {
            let subject = subject_of(self, check, work.max_closure(), buffer).ok_or(TooLong)?;
            let questions = RelationQuestions { graph: self, facts, check, given: None, resource };
            for name in names {
                let answer = questions.try_answer(&subject, name, work, buffer)?;
                answers.insert(RELATION, name, answer);
            }
            Ok(answers)
        })
    }

    /// Calls `use_it` with the name and the explanation of each relation that the check reads, or with the reason why that is
    /// undetermined. `answers` has those that are explained. Names with nothing to ask are left out.
    pub fn explain<'n>(
        &self,
        facts: &TenantFacts,
        check: &Check<'_>,
        names: impl Iterator<Item = &'n str>,
        answers: &AttributeAnswers,
        mut use_it: impl FnMut(&'n str, Result<&RelationExplanation<'_>, &str>),
    ) {
        let mut left = TIMES_OF_CHECK * MAX_EDGES_OF_CHECK;
        ask(self, facts, (check, resource_of(check)), |questions, subject, buffer| {
            for name in names {
                let Some(answer) = answers.get(RELATION, name) else { continue };
                if let AttributeAnswer::Failed(cause) = answer {
                    use_it(name, Err(cause));
                    continue;
                }
                let Ok(question) = questions.question(name) else { continue };
                let holds = *answer == AttributeAnswer::Value(Json::Bool(true));
                let (hops, id) = (question.first_hops(), question.object.id);
                let asked = (question.relation, id, &*hops);
                use_it(name, Ok(&subject.explain_answer(asked, holds, &mut left, buffer)));
            }
        });
    }
}

/// Returns the resource that a check names.
pub fn resource_of<'r>(check: &Check<'r>) -> Option<Object<'r>> {
    let (object_type, id) = check.resource_named()?;
    Some(Object { object_type, id })
}

/// Calls `use_it` with the questions of a check and its subject.
fn ask<T>(
    graph: &Graph,
    facts: &TenantFacts,
    (check, resource): (&Check<'_>, Option<Object<'_>>),
    use_it: impl FnOnce(&RelationQuestions<'_>, &GraphSubject<'_>, &mut GraphBuffer) -> T,
) -> T {
    with_buffer(|buffer| {
        let subject = subject_anywhere(graph, check, buffer);
        let questions = RelationQuestions { graph, facts, check, given: None, resource };
        use_it(&questions, &subject, buffer)
    })
}

/// Calls `use_it` with the memory of checks. It calls nothing that does the same.
pub(crate) fn with_buffer<T>(use_it: impl FnOnce(&mut GraphBuffer) -> T) -> T {
    BUFFER.with_borrow_mut(use_it)
}

/// Finds the subject of a check in the graph, however long that takes.
pub(crate) fn subject_anywhere<'g>(
    graph: &'g Graph,
    check: &Check<'_>,
    buffer: &mut GraphBuffer,
) -> GraphSubject<'g> {
    let object = subject_named(graph.schema(), check);
    subject(graph, object, own_claims(check), check.now, buffer)
}

/// Finds the subject of a check in the graph. `None` if its closure has more than `max_edges` edges, which are fewer than those
/// of any check.
fn subject_of<'g>(
    graph: &'g Graph,
    check: &Check<'_>,
    max_edges: usize,
    buffer: &mut GraphBuffer,
) -> Option<GraphSubject<'g>> {
    let object = subject_named(graph.schema(), check);
    with_claims(graph, own_claims(check), |claims| {
        graph.subject_within(object, claims, (check.now, max_edges), buffer)
    })
}

/// Returns the claims of the caller, if it asks about itself.
fn own_claims<'c>(check: &Check<'c>) -> Option<&'c Json<'c>> {
    // Roles are `Claimed` only where the subject is the caller.
    check.claims.filter(|_| matches!(check.roles, Roles::Claimed(_)))
}

/// Finds a subject in the graph. `token` has the claims of the subject's own token.
pub(crate) fn subject<'g>(
    graph: &'g Graph,
    object: Object<'_>,
    token: Option<&Json<'_>>,
    now: DateTime<Utc>,
    buffer: &mut GraphBuffer,
) -> GraphSubject<'g> {
    with_claims(graph, token, |claims| graph.subject(object, claims, now, buffer))
}

/// Calls `use_it` with the claims that give relations.
fn with_claims<T>(
    graph: &Graph,
    token: Option<&Json<'_>>,
    use_it: impl FnOnce(SubjectClaims<'_>) -> T,
) -> T {
    let ReadClaims { listed, unknown } = ReadClaims::new(&graph.schema, token);
    let listed = listed.iter().map(|(relation, ids)| ClaimedObjects { relation: *relation, ids });
    let listed: Vec<ClaimedObjects<'_>> = listed.collect();
    use_it(SubjectClaims { listed: &listed, unknown: &unknown })
}

/// Returns the subject of a check: of the type that the request names, or that its name reads as.
fn subject_named<'s>(schema: &Schema, check: &Check<'s>) -> Object<'s> {
    let Some(object_type) = check.subject_type else { return object_of(schema, check.subject) };
    let id = match object_type {
        USER => Some(check.subject),
        other => check.subject.strip_prefix(other).and_then(|rest| rest.strip_prefix(':')),
    };
    // Without the type in front, the subject is the bare id.
    Object { object_type, id: id.unwrap_or(check.subject) }
}

/// Returns the object that a principal reads as: `a:b` is the object `b` of the declared type `a`, and any other a user.
pub(crate) fn object_of<'s>(schema: &Schema, principal: &'s str) -> Object<'s> {
    let object = principal.split_once(':').map(|(object_type, id)| Object { object_type, id });
    // The principal `user:ann` is the user of that whole name.
    let object = object.filter(|one| one.object_type != USER && schema.has_type(one.object_type));
    object.unwrap_or(Object { object_type: USER, id: principal })
}

/// The questions of one check.
#[derive(Clone, Copy)]
pub(crate) struct RelationQuestions<'q> {
    pub(crate) graph: &'q Graph,
    pub(crate) facts: &'q TenantFacts,
    pub(crate) check: &'q Check<'q>,
    /// The check with the attributes of its resource that go first.
    pub(crate) given: Option<&'q Check<'q>>,
    pub(crate) resource: Option<Object<'q>>,
}

/// One question.
pub(crate) struct RelationQuestion<'q> {
    pub(crate) relation: RelationId,
    pub(crate) object: Object<'q>,
    hops: Vec<Hop<'q>>,
}

/// An attribute of the resource that stands for stored edges.
struct Hop<'q> {
    relation: RelationId,
    objects: Vec<Object<'q>>,
}

impl RelationQuestion<'_> {
    /// Returns the edges of the object that the request has in place of stored ones.
    pub(crate) fn first_hops(&self) -> Vec<FirstHop<'_>> {
        let hops = self.hops.iter();
        hops.map(|Hop { relation, objects }| FirstHop { relation: *relation, objects }).collect()
    }
}

impl<'q> RelationQuestions<'q> {
    /// Returns the answer to the attribute `name` of the namespace for a subject. Takes the work out of what the check has left.
    pub(crate) fn answer(
        &self,
        subject: &GraphSubject<'_>,
        name: &'q str,
        work: &mut RelationWork,
        buffer: &mut GraphBuffer,
    ) -> AttributeAnswer {
        *work = work.anywhere();
        // Without a bound on this thread nothing is too long for it.
        self.try_answer(subject, name, work, buffer).unwrap_or(AttributeAnswer::Absent)
    }

    fn try_answer(
        &self,
        subject: &GraphSubject<'_>,
        name: &'q str,
        work: &mut RelationWork,
        buffer: &mut GraphBuffer,
    ) -> Result<AttributeAnswer, TooLong> {
        let question = match self.question(name) {
            Ok(question) => question,
            Err(answer) => return Ok(answer),
        };
        let asked = (question.relation, question.object.id, &*question.first_hops());
        Ok(match work.ask(subject, asked, buffer)? {
            Ok(has) => AttributeAnswer::Value(Json::Bool(has)),
            Err(undetermined) => {
                AttributeAnswer::Failed(self.cause(&question, undetermined).into())
            }
        })
    }

    /// Says why nobody can answer a question.
    fn cause(&self, question: &RelationQuestion<'_>, undetermined: UndeterminedRelation) -> String {
        let (schema, Object { object_type, id }) = (self.graph.schema(), question.object);
        let asked = format!("`{}` of `{object_type}:{id}`", schema.name(question.relation));
        match undetermined {
            UndeterminedRelation::TooManyEdges => {
                format!("more than {MAX_EDGES} edges decide {asked}")
            }
            UndeterminedRelation::CheckIsSpent => format!(
                "more than {MAX_EDGES_OF_CHECK} edges decide the relations of the check, {asked} among them"
            ),
            UndeterminedRelation::Claim(claim) => {
                format!("{asked} depends on {}", unknown_claim(schema, claim))
            }
        }
    }

    /// Returns the question for the attribute `name` of the namespace.
    ///
    /// # Errors
    /// The answer, if there is nothing to ask.
    pub(crate) fn question(&self, name: &'q str) -> Result<RelationQuestion<'q>, AttributeAnswer> {
        let schema = self.graph.schema();
        let (object, name, is_resource) = match RelationTarget::parse(name) {
            RelationTarget::OfResource(relation) => {
                (self.resource.ok_or(AttributeAnswer::Absent)?, relation, true)
            }
            RelationTarget::OfObject { object_type, id, relation } => {
                (Object { object_type, id }, relation, false)
            }
        };
        if !schema.has_type(object.object_type) {
            return Err(AttributeAnswer::Absent);
        }
        // Section 12.12: where a declared type lacks the relation, the answer is false and not absent.
        let relation = schema.relation(object.object_type, name);
        let relation = relation.ok_or(AttributeAnswer::Value(Json::Bool(false)))?;
        // The request has attributes of the resource alone.
        let hops = if is_resource { self.hops(object) } else { Ok(Vec::new()) };
        let hops = hops.map_err(|cause| AttributeAnswer::Failed(cause.into()))?;
        Ok(RelationQuestion { relation, object, hops })
    }

    /// Returns the value of an attribute of the resource that the request has; `Some(None)` says that it is absent.
    fn sent(&self, attribute: &str) -> Option<Option<AttributeValue<'q>>> {
        let mut checks = self.given.into_iter().chain([self.check]);
        checks.find_map(|check| self.facts.sent_of_resource(check, attribute))
    }

    /// Returns whether the request has edges of the resource in place of stored ones.
    pub(crate) fn has_hops(&self, object_type: &str) -> bool {
        let schema = self.graph.schema();
        let mut requests = self.graph.schema.requests();
        requests.any(|(relation, attribute)| {
            schema.type_of(relation) == object_type && self.sent(attribute).is_some()
        })
    }

    /// Returns the edges of the resource that the request has in place of stored ones.
    ///
    /// # Errors
    /// A value that is not a reference, with what is expected.
    fn hops(&self, Object { object_type, id }: Object<'_>) -> Result<Vec<Hop<'q>>, String> {
        let schema = self.graph.schema();
        let mut hops = Vec::new();
        for (relation, attribute) in self.graph.schema.requests() {
            if schema.type_of(relation) != object_type {
                continue;
            }
            let Some(sent) = self.sent(attribute) else { continue };
            // What the directory has goes first, if it has anything.
            if self.facts.directory == Some(Precedence::Directory)
                && self.graph.has_stored(relation, id, self.check.now)
            {
                continue;
            }
            let objects = objects(schema, relation, sent);
            let objects = objects.ok_or_else(|| no_reference(schema, relation, attribute))?;
            hops.push(Hop { relation, objects });
        }
        Ok(hops)
    }
}

/// Says which claim is not known, and why.
fn unknown_claim(schema: &Schema, UnknownClaim { relation, doubt }: UnknownClaim) -> String {
    let source = schema.claims().find(|(claimed, _)| *claimed == relation);
    let name = source.map(|(_, source)| &*source.name).unwrap_or_default();
    format!("the claim `{name}`, {doubt}")
}

/// Returns the fault of an attribute that stands for stored edges.
fn no_reference(schema: &Schema, relation: RelationId, attribute: &str) -> String {
    let types = schema.leads_to(relation).into_iter().flatten();
    let forms: Vec<String> = types.map(|one| format!("`{one}:<id>`")).collect();
    format!("`resource.{attribute}` is not {} or a list of them", forms.join(" or "))
}

/// Returns the objects that the value of an attribute names; `None` if it is not a reference to an object that
/// `relation` can store, or a list with something else.
fn objects<'v>(
    schema: &Schema,
    relation: RelationId,
    value: Option<AttributeValue<'v>>,
) -> Option<Vec<Object<'v>>> {
    match value {
        // `null` stands for the tuples, too, and refers to nothing.
        None => Some(Vec::new()),
        Some(AttributeValue::List(list)) => {
            let (mut objects, mut is_sound) = (Vec::new(), true);
            list.for_each(|item| match object(schema, relation, item) {
                Some(object) => objects.push(object),
                None => is_sound = false,
            });
            is_sound.then_some(objects)
        }
        Some(value) => Some(vec![object(schema, relation, value)?]),
    }
}

/// Returns the object that a text names, if `relation` can store it.
fn object<'v>(
    schema: &Schema,
    relation: RelationId,
    value: AttributeValue<'v>,
) -> Option<Object<'v>> {
    let AttributeValue::Text(text) = value else { return None };
    let (object_type, id) = text.split_once(':').filter(|(_, id)| !id.is_empty())?;
    let is_allowed = schema.leads_to(relation)?.any(|allowed| allowed == object_type);
    is_allowed.then_some(Object { object_type, id })
}
