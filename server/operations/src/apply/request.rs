//! The body of an apply (`docs/semantics.md`, section 10.4).

use portcullis_bundle::{BundleDocument, DocumentContext};
use portcullis_engine::{Invalid, Json};
use portcullis_model::audit::ChangeSource;
use portcullis_model::entity::SourceName;
use portcullis_model::fields::{boolean, short};
use portcullis_model::input::{Field, Members, object};
use portcullis_model::owner::owner;
use portcullis_model::revision::revision;

/// Longest `message`, `commit`, `ref` and `url`, in characters.
const MAX_TEXT: usize = 1_024;

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
    /// Whether a failing case refuses it, also where no gate does.
    pub cases_must_pass: bool,
    pub expect_revision: Option<u64>,
    pub expect_fingerprint: Option<String>,
    /// Whether the answer shows the decisions that change.
    pub impact: bool,
    /// The source of the tuples that go where the types of the bundle no longer allow them.
    pub delete_tuples_of: Option<String>,
    pub bundle: BundleDocument,
}

impl ApplyRequest {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, context: DocumentContext<'_>) -> Result<Self, Invalid> {
        context.parse(json, Self::declare)
    }

    /// An apply in a larger body.
    pub(crate) fn field<'j>(context: DocumentContext<'_>) -> impl Field<'j, Value = Self> {
        object(move |members| Self::declare(members, context))
    }

    /// Names the members of the body.
    pub fn declare(members: &mut Members<'_, '_>, context: DocumentContext<'_>) -> Option<Self> {
        let owner = members.required("owner", owner());
        let source: ChangeSource =
            members.optional("source", object(declare_source)).unwrap_or_default();
        let message = members.optional("message", short(MAX_TEXT)).or(source.message);
        let prune = members.optional("prune", boolean().default_is(true));
        let force = members.optional("force", boolean().default_is(false));
        let allow_deletes = members.optional("allow_deletes", boolean().default_is(false));
        let cases_must_pass = members.optional("cases_must_pass", boolean().default_is(false));
        let expect_revision = members.optional("expect_revision", revision());
        let expect_fingerprint = members.optional("expect_fingerprint", short(MAX_TEXT));
        let impact = members.optional("impact", boolean().default_is(false));
        let about = "Tuples of this source go that the types of the bundle do not allow any more, as many as `max_deletes` allows";
        let delete_tuples_of =
            members.optional("delete_tuples_of", SourceName::field().about(about));
        let bundle = members.required("bundle", BundleDocument::field(context));
        Some(Self {
            owner: owner?,
            source: ChangeSource { message, ..source },
            prune: prune.unwrap_or(true),
            force: force.unwrap_or(false),
            allow_deletes: allow_deletes.unwrap_or(false),
            cases_must_pass: cases_must_pass.unwrap_or(false),
            expect_revision,
            expect_fingerprint,
            impact: impact.unwrap_or(false),
            delete_tuples_of,
            bundle: bundle?,
        })
    }
}

fn declare_source(members: &mut Members<'_, '_>) -> Option<ChangeSource> {
    let commit = members.optional("commit", short(MAX_TEXT));
    let reference = members.optional("ref", short(MAX_TEXT));
    let url = members.optional("url", short(MAX_TEXT));
    let message = members.optional("message", short(MAX_TEXT));
    Some(ChangeSource { commit, reference, url, message })
}
