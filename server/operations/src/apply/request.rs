//! The body of an apply (`docs/semantics.md`, section 10.4).

use portcullis_bundle::{BundleDocument, DocumentContext};
use portcullis_engine::fields::{Fields, boolean, string};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};
use portcullis_model::audit::ChangeSource;
use portcullis_model::owner::{MAX_OWNER, is_owner};
use portcullis_model::revision::read_revision;

/// Longest `message`, `commit`, `ref` and `url`, in characters.
pub const MAX_TEXT: usize = 1_024;

/// A bundle, and how it is applied.
#[derive(Debug)]
pub struct ApplyRequest {
    pub owner: String,
    pub source: ChangeSource,
    /// Whether objects of the owner go that the bundle does not name.
    pub prune: bool,
    /// Whether objects of other owners are taken over.
    pub force: bool,
    /// Whether any number of objects may go.
    pub allow_deletes: bool,
    pub expect_revision: Option<u64>,
    pub expect_fingerprint: Option<String>,
    /// Whether the answer shows the decisions that change.
    pub impact: bool,
    pub bundle: BundleDocument,
}

impl ApplyRequest {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, context: DocumentContext<'_>) -> Result<Self, Invalid> {
        context.parse(json, Self::read)
    }

    /// Reads the apply at `at` of a larger body.
    pub(crate) fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        context: DocumentContext<'_>,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let owner = fields.required("owner", owner);
        let source = fields.optional("source", source);
        let message = fields.optional("message", short);
        let prune = fields.optional("prune", boolean);
        let force = fields.optional("force", boolean);
        let allow_deletes = fields.optional("allow_deletes", boolean);
        let expect_revision = fields.optional("expect_revision", read_revision);
        let expect_fingerprint = fields.optional("expect_fingerprint", short);
        let impact = fields.optional("impact", boolean);
        let bundle = fields.required("bundle", |json, at, problems| {
            BundleDocument::read(json, at, problems, context)
        });
        fields.close();
        Some(Self {
            owner: owner?,
            source: ChangeSource { message, ..source.unwrap_or_default() },
            prune: prune.unwrap_or(true),
            force: force.unwrap_or(false),
            allow_deletes: allow_deletes.unwrap_or(false),
            expect_revision,
            expect_fingerprint,
            impact: impact.unwrap_or(false),
            bundle: bundle?,
        })
    }
}

fn source(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<ChangeSource> {
    let mut fields = Fields::open(json, at, problems)?;
    let commit = fields.optional("commit", short);
    let reference = fields.optional("ref", short);
    let url = fields.optional("url", short);
    fields.close();
    Some(ChangeSource { commit, reference, url, message: None })
}

fn owner(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let text = string(json, at, problems)?;
    if !is_owner(text) {
        problems.expected(at, format!("1 to {MAX_OWNER} printable characters without white space"));
        return None;
    }
    Some(text.to_owned())
}

fn short(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<String> {
    let text = string(json, at, problems)?;
    if text.chars().count() > MAX_TEXT {
        problems.expected(at, format!("at most {MAX_TEXT} characters"));
        return None;
    }
    Some(text.to_owned())
}
