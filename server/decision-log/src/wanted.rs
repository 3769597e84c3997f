//! The records that a reader wants, and whether the JSON text of a record is one of them.

use std::borrow::Cow;

use portcullis_model::Timestamp;
use portcullis_model::decision::DecisionSelection;
use serde::Deserialize;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::decision::LEFT_OUT;
use crate::frame::Frame;
use crate::reading::{DecisionOrder, DecisionSpan, PageRoom};

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
    order: DecisionOrder,
    /// The most of them that are wanted, the first ones in `order`.
    limit: Option<usize>,
    /// The most bytes of their texts; one record beyond them is wanted, too.
    bytes: Option<usize>,
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
        let DecisionSpan { after, before, counts, order, limit, bytes } = span;
        let (tenant, selection) = (tenant.to_owned(), selection.clone());
        Self { tenant, selection, after, before, counts, order, limit, bytes }
    }

    /// Returns a number of a record that ascends in the order in which records are wanted.
    pub(crate) fn key(&self, id: Uuid) -> u128 {
        self.order.key(id)
    }

    /// Returns whether only the first records are wanted.
    pub(crate) fn is_page(&self) -> bool {
        self.limit.is_some() || self.bytes.is_some()
    }

    /// Returns whether these are far more records, or far more bytes of new texts, than are wanted.
    pub(crate) fn is_many(&self, records: usize, new_bytes: usize) -> bool {
        /// Records and bytes that are gathered before some are forgotten.
        const SPARE: usize = 1_000;
        const SPARE_BYTES: usize = 4 << 20;
        self.limit.is_some_and(|limit| records > limit.saturating_mul(2).saturating_add(SPARE))
            || self.bytes.is_some() && new_bytes > SPARE_BYTES
    }

    /// Keeps the first records if only some are wanted.
    pub(crate) fn retain_first<T>(&self, records: &mut Vec<T>, id: impl Fn(&T) -> Uuid) {
        if let Some(limit) = self.limit.filter(|limit| *limit < records.len()) {
            // The selection panics unless `limit` is less than the length.
            records.select_nth_unstable_by_key(limit, |record| self.order.key(id(record)));
            records.truncate(limit);
        }
    }

    /// Keeps the first records whose texts fit into the wanted bytes, and one more.
    pub(crate) fn retain_fitting<T>(
        &self,
        records: &mut Vec<T>,
        id: impl Fn(&T) -> Uuid,
        bytes: impl Fn(&T) -> usize,
    ) {
        let mut room = PageRoom::new(self.bytes);
        records.sort_unstable_by_key(|record| self.order.key(id(record)));
        if let Some(fitting) = records.iter().position(|record| !room.take(bytes(record))) {
            records.truncate(fitting + 1);
        }
    }

    /// Returns whether the record of a frame is wanted.
    pub(crate) fn has(&self, frame: &Frame<'_>) -> bool {
        frame.tenant == self.tenant && self.has_id(frame.id) && self.has_members(frame.json)
    }

    /// Returns whether the record `id` is wanted, as far as its id tells.
    pub(crate) fn has_id(&self, id: Uuid) -> bool {
        self.before.is_none_or(|before| id < before)
            && self.after.is_none_or(|after| id > after)
            && self.selection.covers(Timestamp::from_id(id))
    }

    /// Returns whether some id from `first` to `last` is wanted.
    pub(crate) fn overlaps(&self, first: Uuid, last: Uuid) -> bool {
        let DecisionSelection { from, to, .. } = self.selection;
        self.before.is_none_or(|before| first < before)
            && self.after.is_none_or(|after| last > after)
            && to.is_none_or(|to| Timestamp::from_id(first) < to)
            && from.is_none_or(|from| Timestamp::from_id(last) >= from)
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
        self.texts().into_iter().all(|(name, wanted)| {
            wanted.is_none_or(|wanted| looked.text(name).is_some_and(|is| is == wanted))
        }) && self.selection.undetermined.is_none_or(|some| some != looked.undetermined.is_empty())
    }

    /// Returns whether the id of a record does not tell if it is wanted.
    pub(crate) fn needs_members(&self) -> bool {
        self.selection.undetermined.is_some()
            || self.texts().iter().any(|(_, wanted)| wanted.is_some())
    }

    /// Returns the members that are compared as texts.
    pub(crate) fn texts(&self) -> [(&'static str, Option<&str>); 7] {
        let DecisionSelection { subject, resource, action, rule, request_id, .. } = &self.selection;
        [
            ("subject", subject.as_deref()),
            ("resource", resource.as_deref()),
            ("action", action.as_deref()),
            ("rule", rule.as_deref()),
            ("request_id", request_id.as_deref()),
            ("decision", self.selection.decision.map(|decision| decision.into_str())),
            ("via", self.selection.via.map(|via| via.into_str())),
        ]
    }
}

/// Returns whether the JSON text is a count of left out allows: its last member is `left_out`.
fn is_count(json: &[u8]) -> bool {
    // The number of the member and the end of the object follow.
    let before = json.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b'}');
    json[..before.map_or(0, |last| last + 1)].ends_with(LEFT_OUT)
}

impl Looked<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        Some(match name {
            "subject" => &self.subject,
            "resource" => &self.resource,
            "action" => &self.action,
            "rule" => &self.rule,
            "request_id" => &self.request_id,
            "decision" => &self.decision,
            "via" => &self.via,
            _ => return None,
        })
    }
}
