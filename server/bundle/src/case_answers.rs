//! The answers that a case and the tuples of its folder give, without calls of resolvers.

use portcullis_engine::relation::RELATION;
use portcullis_engine::{AttributeAnswers, AttributeRequest, Check, Invalid, Plan, Verdict};

use crate::cases::Case;
use crate::rulebook::Rulebook;

impl Case {
    /// Returns the answers on which the decision of a check depends, as it was sent and as it is complete. The inner error is
    /// the request that the case does not answer.
    ///
    /// # Errors
    /// The relations do not allow a tuple of the case.
    pub fn answers(
        &self,
        rulebook: &Rulebook,
        plan: &Plan,
        (sent, check): (&Check<'_>, &Check<'_>),
    ) -> Result<Result<AttributeAnswers, AttributeRequest>, Invalid> {
        let mut answers = AttributeAnswers::default();
        let Verdict::NeedsAttributes(requests) = plan.decide(check, &answers) else {
            return Ok(Ok(answers));
        };
        for request in requests {
            if rulebook.asks_relations(&request) {
                let tuples = self.relations.as_deref().unwrap_or_default();
                let found = rulebook.relation_answers(sent, tuples, &request.attributes)?;
                answers.extend(found);
                continue;
            }
            let AttributeRequest { namespace, attributes, .. } = &request;
            if !self.resolved.namespaces.contains(&**namespace) {
                return Ok(Err(request));
            }
            for name in attributes {
                answers.insert(namespace, name, self.resolved.answer(namespace, name));
            }
        }
        Ok(Ok(answers))
    }
}

impl Rulebook {
    /// Returns whether the graph answers a request, and no resolver.
    pub fn asks_relations(&self, request: &AttributeRequest) -> bool {
        &*request.namespace == RELATION && self.facts().relations.is_some()
    }
}
