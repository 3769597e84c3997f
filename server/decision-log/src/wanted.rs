//! The records that a reader wants, and whether the JSON text of a record is one of them.

use std::borrow::Cow;

use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::decision::LEFT_OUT;
use crate::frame::Frame;
use crate::reading::DecisionSpan;

/// The records of one tenant that a reader wants.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) tenant: String,
    pub(crate) selection: DecisionSelection,
    /// Ids greater than this one.
    pub(crate) after: Option<Uuid>,
    /// Ids smaller than this one.
    pub(crate) before: Option<Uuid>,
    /// Whether counts of what was left out are wanted, too.
    pub(crate) counts: bool,
}

/// The members of a record that a selection looks at.
#[derive(Deserialize)]
struct Looked<'r> {
    #[serde(borrow)]
    subject: Cow<'r, str>,
    #[serde(borrow)]
    resource: Cow<'r, str>,
    #[serde(borrow)]
    action: Cow<'r, str>,
    #[serde(borrow)]
    rule: Cow<'r, str>,
    #[serde(borrow)]
    request_id: Cow<'r, str>,
    #[serde(borrow)]
    decision: Cow<'r, str>,
    #[serde(borrow)]
    via: Cow<'r, str>,
    #[serde(default)]
    undetermined: Vec<IgnoredAny>,
}

impl Wanted {
    pub(crate) fn new(tenant: &str, selection: &DecisionSelection, span: DecisionSpan) -> Self {
        let DecisionSpan { after, before, counts, .. } = span;
        let (tenant, selection) = (tenant.to_owned(), selection.clone());
        Self { tenant, selection, after, before, counts }
    }

    /// Returns whether the record of a frame is wanted.
    pub(crate) fn has(&self, frame: &Frame<'_>) -> bool {
        frame.tenant == self.tenant && self.has_id(frame.id) && self.has_members(frame.json)
    }

    /// Returns whether the record `id` is wanted, as far as its id tells.
    pub(crate) fn has_id(&self, id: Uuid) -> bool {
        self.before.is_none_or(|before| id < before)
            && self.after.is_none_or(|after| id > after)
            && self.selection.covers(Timestamp::of(id))
    }

    /// Returns whether some id from `first` to `last` is wanted.
    pub(crate) fn overlaps(&self, first: Uuid, last: Uuid) -> bool {
        let DecisionSelection { from, to, .. } = self.selection;
        self.before.is_none_or(|before| first < before)
            && self.after.is_none_or(|after| last > after)
            && to.is_none_or(|to| Timestamp::of(first) < to)
            && from.is_none_or(|from| Timestamp::of(last) >= from)
    }

    /// Returns whether a record whose id is wanted has the wanted members. Reads its JSON text only if it must.
    pub(crate) fn has_members(&self, json: &[u8]) -> bool {
        if !self.counts && is_count(json) {
            return false;
        }
        if !self.needs_members() {
            return true;
        }
        let Ok(looked) = serde_json::from_slice::<Looked<'_>>(json) else { return false };
        let DecisionSelection { decision, via, undetermined, .. } = self.selection;
        self.texts().into_iter().all(|(name, wanted)| {
            wanted.as_deref().is_none_or(|wanted| looked.text(name).is_some_and(|is| is == wanted))
        }) && decision.is_none_or(|wanted| looked.decision == wanted.into_str())
            && via.is_none_or(|wanted| looked.via == wanted.into_str())
            && undetermined.is_none_or(|wanted| wanted != looked.undetermined.is_empty())
    }

    /// Returns whether the id of a record does not tell if it is wanted.
    pub(crate) fn needs_members(&self) -> bool {
        let DecisionSelection { decision, via, undetermined, .. } = self.selection;
        decision.is_some()
            || via.is_some()
            || undetermined.is_some()
            || self.texts().iter().any(|(_, wanted)| wanted.is_some())
    }

    /// Returns the members that are compared as texts.
    pub(crate) fn texts(&self) -> [(&'static str, &Option<String>); 5] {
        let DecisionSelection { subject, resource, action, rule, request_id, .. } = &self.selection;
        [
            ("subject", subject),
            ("resource", resource),
            ("action", action),
            ("rule", rule),
            ("request_id", request_id),
        ]
    }
}

/// Returns whether the JSON text is a count of left out allows: its last member is `left_out`.
fn is_count(json: &[u8]) -> bool {
    let digits = |byte: &u8| byte.is_ascii_digit() || *byte == b'}';
    let end = json.iter().rposition(|byte| !digits(byte)).map_or(0, |last| last + 1);
    json[..end].ends_with(LEFT_OUT)
}

impl Looked<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        Some(match name {
            "subject" => &self.subject,
            "resource" => &self.resource,
            "action" => &self.action,
            "rule" => &self.rule,
            "request_id" => &self.request_id,
            _ => return None,
        })
    }
}
