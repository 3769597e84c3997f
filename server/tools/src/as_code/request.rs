//! The body of `POST /api/v1/apply`.

use std::borrow::Cow;

use portcullis_engine::Json;
use portcullis_engine::json::Member;

use super::arguments::{ContentArguments, SourceArguments};

/// An apply, or a dry run of one.
#[derive(Debug, Default)]
pub(super) struct SentApply<'a> {
    pub(super) owner: &'a str,
    pub(super) source: Option<&'a SourceArguments>,
    pub(super) keeps_others: bool,
    pub(super) force: bool,
    pub(super) allow_deletes: bool,
    pub(super) cases_must_pass: bool,
    pub(super) expect_revision: Option<u64>,
    pub(super) expect_fingerprint: Option<&'a str>,
    pub(super) impact: bool,
    /// Whether tuples of the source with the name of the owner go that the types do not allow any more.
    pub(super) delete_tuples: bool,
    /// Whether `portcullis import` sends it, which has fewer options.
    pub(super) is_import: bool,
}

impl<'a> SentApply<'a> {
    /// Returns an apply with the options of `content`.
    pub(super) fn planned(owner: &'a str, content: &ContentArguments) -> Self {
        Self {
            owner,
            keeps_others: content.no_prune,
            force: content.force,
            allow_deletes: content.allow_deletes,
            ..Self::default()
        }
    }

    /// Returns the body with the content `bundle`. Members that have their default are left out.
    pub(super) fn body<'j>(&'j self, bundle: Json<'j>) -> Json<'j> {
        let mut members: Vec<Member<'j>> = vec![("owner".into(), text(self.owner))];
        if let Some(source) = self.source {
            let parts = [
                ("commit", &source.commit),
                ("ref", &source.reference),
                ("url", &source.source_url),
            ];
            let parts = parts
                .iter()
                .filter_map(|(name, part)| Some((Cow::Borrowed(*name), text(part.as_deref()?))));
            let parts: Vec<Member<'j>> = parts.collect();
            // An empty `source` would say that there is one.
            if !parts.is_empty() {
                members.push(("source".into(), Json::Object(parts)));
            }
            let message = source.message.as_deref();
            members.extend(message.map(|message| ("message".into(), text(message))));
        }
        let flags = [
            ("prune", !self.keeps_others, true),
            ("force", self.force, false),
            ("allow_deletes", self.allow_deletes, false),
            ("cases_must_pass", self.cases_must_pass, false),
            ("impact", self.impact, false),
        ];
        for (name, value, default) in flags {
            // A flag with its default is left out, so that services without it still accept the body.
            if value != default {
                members.push((name.into(), Json::Bool(value)));
            }
        }
        if self.delete_tuples {
            members.push(("delete_tuples_of".into(), text(self.owner)));
        }
        let revision = self.expect_revision.map(|revision| Json::Number(revision.into()));
        members.extend(revision.map(|revision| ("expect_revision".into(), revision)));
        let fingerprint = self.expect_fingerprint.map(text);
        members.extend(fingerprint.map(|print| ("expect_fingerprint".into(), print)));
        members.push(("bundle".into(), bundle));
        Json::Object(members)
    }
}

fn text(text: &str) -> Json<'_> {
    Json::String(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_what_differs_from_the_defaults() {
        let bundle = || Json::Object(Vec::new());
        let plain = SentApply { owner: "git:acme", ..SentApply::default() };
        assert_eq!(plain.body(bundle()).to_string(), r#"{"owner":"git:acme","bundle":{}}"#);
        let source = SourceArguments {
            commit: Some("3f2c".into()),
            reference: Some("main".into()),
            source_url: None,
            message: Some("why".into()),
        };
        let all = SentApply {
            owner: "git:acme",
            source: Some(&source),
            keeps_others: true,
            force: true,
            allow_deletes: true,
            cases_must_pass: true,
            expect_revision: Some(812),
            expect_fingerprint: Some("sha256:00"),
            impact: true,
            delete_tuples: true,
            is_import: false,
        };
        assert_eq!(
            all.body(bundle()).to_string(),
            r#"{"owner":"git:acme","source":{"commit":"3f2c","ref":"main"},"message":"why","prune":false,"force":true,"allow_deletes":true,"cases_must_pass":true,"impact":true,"delete_tuples_of":"git:acme","expect_revision":812,"expect_fingerprint":"sha256:00","bundle":{}}"#
        );
        let empty = SourceArguments::default();
        let plain = SentApply { owner: "o", source: Some(&empty), ..SentApply::default() };
        assert_eq!(plain.body(bundle()).to_string(), r#"{"owner":"o","bundle":{}}"#);
    }
}
