//! Decisions on checks by the files of a tenant: its people, resources and tuples are the facts.

use portcullis_engine::entities::EntityTable;
use portcullis_engine::{
    AttributeAnswers, AttributeRequest, Check, Decision, DirectoryNeeds, Explanation, Facts,
    Invalid, Judged, KnownEntities, OpenQuestion, Related, TenantFacts,
};
use portcullis_model::relation::NewTuple;
use uuid::Uuid;

use crate::cases::Case;
use crate::rulebook::Rulebook;
use crate::skip_cause::SkipCause;

/// The facts of a folder, with further tuples.
#[derive(Clone, Copy, Debug)]
pub struct FolderFacts<'f> {
    pub rulebook: &'f Rulebook,
    /// The tuples that count beside those of the folder; `None` if nobody knows which tuples count.
    pub tuples: Option<&'f [NewTuple]>,
}

/// A question that a folder completes.
pub type FolderQuestion<'q> = OpenQuestion<'q, 'q, FolderFacts<'q>>;

impl Facts for FolderFacts<'_> {
    type Work = ();
    type Fault = Invalid;

    fn entities(&self) -> Option<&EntityTable> {
        Some(self.rulebook.entities())
    }

    fn known(&self, sent: &Check<'_>, needs: DirectoryNeeds) -> KnownEntities<'_> {
        KnownEntities::find(self.rulebook.entities(), sent, needs)
    }

    fn related(
        &self,
        tenant: &TenantFacts,
        sent: &Check<'_>,
        names: &[Box<str>],
        (): &mut (),
    ) -> Result<Related, Invalid> {
        match self.tuples {
            // Without relations of types there is nothing that tuples could answer.
            _ if tenant.relations.is_none() => Ok(Related::Unasked),
            None => Ok(Related::Later),
            Some(tuples) => self.rulebook.relation_answers(sent, tuples, names).map(Related::Known),
        }
    }
}

/// Adds the relations `names` to the answers of a question, as far as the folder knows them.
///
/// # Errors
/// The relations do not allow a tuple.
pub fn look_up(question: &mut FolderQuestion<'_>, names: &[Box<str>]) -> Result<(), Invalid> {
    let Some(tenant) = question.plan.facts() else { return Ok(()) };
    if let Related::Known(answers) =
        question.facts.related(tenant, &question.sent, names, &mut ())?
    {
        question.add(answers);
    }
    Ok(())
}

/// Calls `use_it` with the explanation of a decision, which shows every relation that the plan reads, even if the decision
/// depends on none.
///
/// # Errors
/// The relations do not allow a tuple.
pub fn explained<T>(
    question: &mut FolderQuestion<'_>,
    decides: Option<Uuid>,
    use_it: impl FnOnce(Explanation<'_>) -> T,
) -> Result<T, Invalid> {
    let names: Vec<Box<str>> = question.plan.relations().map(Box::from).collect();
    look_up(question, &names)?;
    Ok(use_it(question.plan.explain(&question.completed(), question.answers(), decides)))
}

impl Case {
    /// Decides its question with its answers. The inner error is what it does not answer.
    ///
    /// # Errors
    /// The relations do not allow a tuple.
    pub fn decide<'q>(
        &self,
        question: &mut FolderQuestion<'q>,
    ) -> Result<Result<Decision<'q>, SkipCause>, Invalid> {
        let requests = match question.judge()? {
            Judged::Decided(decision) => return Ok(Ok(decision)),
            Judged::NeedsRelations(_) => return Ok(Err(SkipCause::Relations)),
            Judged::NeedsAnswers(requests) => requests,
        };
        let mut answers = AttributeAnswers::default();
        for AttributeRequest { namespace, attributes, .. } in requests {
            // No resolver is called here, so a case that needs one is skipped.
            if !self.resolved.namespaces.contains(&*namespace) {
                return Ok(Err(SkipCause::Resolver(namespace.into())));
            }
            for name in attributes {
                answers.insert(&namespace, &name, self.resolved.answer(&namespace, &name));
            }
        }
        question.add(answers);
        Ok(Ok(question.settle()))
    }
}
