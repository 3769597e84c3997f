//! The difference between the decisions of two folders.

use portcullis_model::apply::ImpactReport;
use serde::Serialize;

use super::cases::CaseChanges;
use super::relations::RelationChange;
use crate::report::ShownActions;

/// The difference between the decisions of two tenant folders.
#[derive(Debug, Serialize)]
pub struct MatrixDiff {
    /// The cells whose outcomes differ.
    #[serde(flatten)]
    pub impact: ImpactReport,
    /// The cases of the folders that are decided otherwise.
    pub cases: CaseChanges,
    /// The relations of types that the folders define in different ways.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationChange>,
}

impl MatrixDiff {
    /// Returns the difference with the changes of these actions alone.
    pub(super) fn showing(mut self, actions: ShownActions) -> Self {
        let (changes, _) = actions.of(&self.impact.changes, &self.impact.others);
        (self.impact.changes, self.impact.others) = (changes, Vec::new());
        self
    }

    /// Returns whether everything was compared and nothing differs.
    pub(super) fn is_empty(&self) -> bool {
        let is_complete = self.impact.complete && self.cases.skipped.is_empty();
        is_complete
            && self.impact.changes.is_empty()
            && self.impact.others.is_empty()
            && self.cases.changed.is_empty()
            && self.relations.is_empty()
    }
}
