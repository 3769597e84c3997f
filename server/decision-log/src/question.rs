//! The question of one replica to the others for records that are not sealed.

use portcullis_model::decision::DecisionSelection;
use portcullis_storage::MAX_PAYLOAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::reading::DecisionSpan;

/// A question, which every other replica hears.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordQuestion {
    pub(crate) id: Uuid,
    /// The number of the replica that asks.
    pub(crate) by: i32,
    pub(crate) tenant: String,
    #[serde(flatten)]
    pub(crate) wants: Wants,
}

/// The subject of a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wants {
    /// Records, in an order.
    Records { selection: Box<DecisionSelection>, span: DecisionSpan },
    /// That every record up to now is sealed.
    Sealed,
}

impl RecordQuestion {
    pub(crate) fn new(by: i32, tenant: &str, wants: Wants) -> Self {
        Self { id: Uuid::from_u128(fastrand::u128(..)), by, tenant: tenant.to_owned(), wants }
    }

    /// Returns the question as a notification carries it. One that would be too long asks for more records, of which the
    /// replica that asks picks its own.
    pub(crate) fn payload(&self) -> Option<String> {
        let text = serde_json::to_string(self).ok()?;
        if text.len() <= MAX_PAYLOAD {
            return Some(text);
        }
        let Wants::Records { selection, span } = &self.wants else { return None };
        let DecisionSelection { from, to, decision, via, undetermined, .. } = **selection;
        let selection = Box::new(DecisionSelection {
            from,
            to,
            decision,
            via,
            undetermined,
            ..DecisionSelection::default()
        });
        let wants =
            Wants::Records { selection, span: DecisionSpan { limit: None, bytes: None, ..*span } };
        serde_json::to_string(&Self { wants, ..self.clone() }).ok()
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::Effect;

    use super::*;

    #[test]
    fn a_long_question_fits_a_notification_and_asks_for_more() {
        let selection = |subject: &str| {
            Box::new(DecisionSelection {
                subject: Some(subject.to_owned()),
                undetermined: Some(true),
                decision: Some(Effect::Deny),
                ..DecisionSelection::default()
            })
        };
        let span = DecisionSpan { limit: Some(7), ..DecisionSpan::default() };
        for (subject, kept) in [("dana".to_owned(), true), ("ü".repeat(MAX_PAYLOAD), false)] {
            let wants = Wants::Records { selection: selection(&subject), span };
            let question = RecordQuestion::new(1, "acme", wants);
            let text = question.payload().expect("JSON");
            assert!(text.len() <= MAX_PAYLOAD);
            let heard: RecordQuestion = serde_json::from_str(&text).expect("a question");
            let Wants::Records { selection, span } = heard.wants else { panic!("records") };
            assert_eq!((heard.id, &*heard.tenant), (question.id, "acme"));
            assert_eq!(
                (selection.undetermined, selection.decision),
                (Some(true), Some(Effect::Deny))
            );
            assert_eq!(selection.subject.is_some(), kept);
            assert_eq!(span.limit, kept.then_some(7));
        }
    }
}
