//! The query parameters that select recorded decisions (`docs/semantics.md`, section 17.3).

use portcullis_engine::names::names;
use portcullis_model::decision::{DecisionSelection, Via};
use portcullis_model::schema;

use crate::error::ApiError;
use crate::query::{QueryParameters, QueryReader};

/// The decisions that a request is about.
#[derive(Debug)]
pub struct DecisionQuery(pub DecisionSelection);

impl QueryParameters for DecisionQuery {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let rule = "Only decisions by the rule or policy with this id, or `default-deny`";
        Ok(Self(DecisionSelection {
            from: query.instant("from", "Only decisions from this instant on")?,
            to: query.instant("to", "Only decisions before this instant")?,
            subject: query.text("subject", "Only decisions about this subject")?,
            resource: query.text("resource", "Only decisions about this resource")?,
            action: query.text("action", "Only decisions about this action")?,
            rule: query.text("rule", rule)?,
            request_id: query.text("request_id", "Only decisions of the request with this id")?,
            decision: query.parsed(
                "decision",
                "Only decisions of this effect",
                schema::effect,
                "be `allow` or `deny`",
            )?,
            via: query.parsed(
                "via",
                "Only decisions of this kind of request",
                || schema::choice(names::<Via>()),
                "be `check`, `legacy`, `batch` or `authzen`",
            )?,
            undetermined: query.parsed(
                "undetermined",
                "Only decisions with an undetermined condition, or only those without one",
                schema::boolean,
                "be `true` or `false`",
            )?,
        }))
    }
}
