//! The body of an explained check (`docs/semantics.md`, section 2.8).

use chrono::{DateTime, Utc};

use portcullis_engine::CheckBody;
use portcullis_engine::fields::{Body, Fields};
use portcullis_engine::request::{instant, note_misplaced};

use crate::relation::AssumedTuples;
use crate::revision::read_revision;

/// The body of `POST /api/v1/check?explain=true`, valid by construction.
#[derive(Clone, Debug)]
pub struct ExplainedCheckBody<'r> {
    /// The check.
    pub check: CheckBody<'r>,
    /// The instant that stands for the present; `None` is the present itself.
    pub now: Option<DateTime<Utc>>,
    /// Tuples that count beside the stored ones.
    pub relations: AssumedTuples,
    /// The revision whose content decides; `None` is the present content.
    pub at_revision: Option<u64>,
}

impl<'r> Body<'r> for ExplainedCheckBody<'r> {
    fn read(fields: &mut Fields<'r, '_>) -> Option<Self> {
        let check = CheckBody::declare_compared(fields);
        let now = fields.optional("now", instant);
        let relations = AssumedTuples::read_to_explain(fields);
        let at_revision = fields.optional("at_revision", read_revision);
        note_misplaced(fields);
        Some(Self { check: check?, now, relations: relations.unwrap_or_default(), at_revision })
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::json;

    use super::*;

    fn read(now: &str) -> Result<Option<DateTime<Utc>>, String> {
        let text = format!(r#"{{"subject": "ann", "resource": "a:b", "action": "b"{now}}}"#);
        let json = json::parse(text.as_bytes()).expect("JSON");
        let body = ExplainedCheckBody::parse(&json).map_err(|invalid| invalid.to_string())?;
        assert_eq!(body.check.subject, "ann");
        Ok(body.now)
    }

    #[test]
    fn an_instant_may_stand_for_the_present() {
        let instant = DateTime::from_timestamp(1_767_225_600, 0);
        assert_eq!(read(r#", "now": "2026-01-01T01:00:00+01:00""#), Ok(instant));
        assert_eq!(read(r#", "now": null"#), Ok(None));
        assert_eq!(read(""), Ok(None));
        let expected = "at `/now`: expected an RFC 3339 date-time such as `2026-11-20T09:00:00Z`";
        assert_eq!(read(r#", "now": "noon""#), Err(expected.to_owned()));
        let unknown = read(r#", "now": null, "then": 1"#).expect_err("a fault");
        assert_eq!(unknown, "field `then` is unknown");
        let misplaced = read(r#", "roles": ["nurse"]"#).expect_err("a fault");
        assert_eq!(misplaced, "field `roles` is unknown; did you mean `attributes.user.roles`?");
    }
}
