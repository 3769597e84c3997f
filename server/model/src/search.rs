//! The bodies of searches (`docs/semantics.md`, section 13).

use portcullis_engine::entities::USER;
use portcullis_engine::fields::{list as read_list, string as read_string, text as read_text};
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::{MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use portcullis_engine::request::{Action, AttributeMap, Attributes, attribute_map};
use portcullis_engine::resource::resource;
use portcullis_engine::{Invalid, Json};
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::check::{attribute_map_schema, attributes_schema};
use crate::fields::{at_most, integer, one_or_more, variant};
use crate::input::{self, DeclaredBody, Field, Members, field};
use crate::revision::at_revision;
use crate::{document, schema};

/// Most results of a page, and the length of a page without `limit`.
pub const MAX_LIMIT: usize = 1_000;
/// Most candidates of one request. A page of rows has fewer; more belong into the directory.
pub const MAX_CANDIDATES: usize = 10_000;
/// Longest type of an entity, in characters.
const MAX_TYPE: usize = 128;
/// Longest cursor, in characters: one with the longest id.
pub(crate) const MAX_CURSOR: usize = 2_048;

/// The part of a search that says which page is wanted.
#[derive(Clone, Copy, Debug)]
pub struct SearchPage<'j> {
    /// Most results of the page.
    pub limit: usize,
    /// The place where the page begins; `None` for the first.
    pub cursor: Option<&'j str>,
}

/// An entity that a request brings.
#[derive(Clone, Copy, Debug)]
pub struct GivenCandidate<'j> {
    pub id: &'j str,
    /// The roles of a subject; `None` if the request leaves them out.
    pub roles: Option<&'j [Json<'j>]>,
    pub properties: AttributeMap<'j>,
}

/// The body of a search for resources or subjects.
#[derive(Debug)]
pub struct EntitySearchBody<'j> {
    /// The subject of a search for resources; the type of the subjects of a search for subjects.
    pub subject: &'j str,
    pub resource: &'j str,
    pub action: Action<'j>,
    pub candidates: Option<Vec<GivenCandidate<'j>>>,
    pub terms: SearchTerms<'j>,
}

/// The body of a search for actions.
#[derive(Debug)]
pub struct ActionSearchBody<'j> {
    pub subject: &'j str,
    /// The type of the resource: its name without a verb.
    pub resource_type: &'j str,
    pub terms: SearchTerms<'j>,
}

/// The part that all searches have.
#[derive(Clone, Copy, Debug)]
pub struct SearchTerms<'j> {
    pub domain: Option<&'j str>,
    pub attributes: Attributes<'j>,
    /// The revision whose rules decide; `None` is the present.
    pub at_revision: Option<u64>,
    pub page: SearchPage<'j>,
    /// Whether results are names alone.
    pub names_alone: bool,
}

/// The part of results that a search may ask for alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
enum ResultField {
    Id,
}

impl<'j> EntitySearchBody<'j> {
    /// Reads the body of `POST /api/v1/search/resources`.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse_resources(json: &'j Json<'j>) -> Result<Self, Invalid> {
        input::parse(json, Self::declare_resources)
    }

    /// Reads the body of `POST /api/v1/search/subjects`.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse_subjects(json: &'j Json<'j>) -> Result<Self, Invalid> {
        input::parse(json, Self::declare_subjects)
    }

    fn declare_resources(members: &mut Members<'j, '_>) -> Option<Self> {
        let subject = members.required("subject", text(MAX_SUBJECT).about("Who is to be judged"));
        let candidates = members.optional("candidates", candidates(Self::declare_resource));
        Self::declare(members, subject, candidates)
    }

    fn declare_subjects(members: &mut Members<'j, '_>) -> Option<Self> {
        let of_type = text(MAX_TYPE).default_is(USER).about("The type of the subjects");
        // The type of the subjects takes the place of the subject, which this search looks for.
        let subject = members.optional("type", of_type).unwrap_or(USER);
        let candidates = members.optional("candidates", candidates(Self::declare_subject));
        Self::declare(members, Some(subject), candidates)
    }

    fn declare(
        members: &mut Members<'j, '_>,
        subject: Option<&'j str>,
        candidates: Option<Vec<GivenCandidate<'j>>>,
    ) -> Option<Self> {
        let resource = members.required("resource", field(resource, schema::resource));
        let about = "The verb of the resource when absent";
        let action = members.optional("action", text(MAX_ACTION).about(about));
        let terms = SearchTerms::declare(members);
        Some(Self {
            subject: subject?,
            resource: resource?,
            action: Action::of(action, resource?),
            candidates,
            terms: terms?,
        })
    }

    fn declare_resource(members: &mut Members<'j, '_>) -> Option<GivenCandidate<'j>> {
        let id = members.required("id", text(MAX_SUBJECT));
        let properties = members.optional("properties", properties());
        Some(GivenCandidate { id: id?, roles: None, properties: properties.unwrap_or_default() })
    }

    fn declare_subject(members: &mut Members<'j, '_>) -> Option<GivenCandidate<'j>> {
        let roles = members.optional("roles", roles());
        let given = Self::declare_resource(members);
        // Both parts are read before `?` ends the function, so that the faults of both are noted.
        Some(GivenCandidate { roles, ..given? })
    }
}

impl<'j> DeclaredBody<'j> for ActionSearchBody<'j> {
    fn declare(members: &mut Members<'j, '_>) -> Option<Self> {
        let about = "The name of the resource without a verb, such as `record`";
        let subject = members.required("subject", text(MAX_SUBJECT).about("Who is to be judged"));
        let resource_type = members.required("type", text(MAX_TYPE).about(about));
        let terms = SearchTerms::declare(members);
        Some(Self { subject: subject?, resource_type: resource_type?, terms: terms? })
    }
}

impl<'j> SearchTerms<'j> {
    fn declare(members: &mut Members<'j, '_>) -> Option<Self> {
        let domain = members.optional("domain", domain());
        let attributes = members.optional("attributes", attributes());
        let at_revision = members.optional("at_revision", at_revision());
        let page = SearchPage::declare(members);
        let about = "`[\"id\"]` leaves everything out of the results but what names them: no decision, and no rule";
        let fields = one_or_more(variant::<ResultField>(), "field").about(about);
        // There is only one field, and the list is not empty: its presence says all.
        let names_alone = members.optional("fields", fields).is_some();
        let attributes = attributes.unwrap_or_default();
        Some(Self { domain, attributes, at_revision, page: page?, names_alone })
    }
}

impl<'j> SearchPage<'j> {
    fn declare(members: &mut Members<'j, '_>) -> Option<Self> {
        let about = "Where the page begins: `next` of the page before";
        let limit = integer(1, MAX_LIMIT as i32, "")
            .default_is(MAX_LIMIT)
            .about("Most results of the page");
        let limit = members.optional("limit", limit);
        let cursor = members.optional("cursor", text(MAX_CURSOR).about(about));
        Some(Self { limit: limit.unwrap_or(MAX_LIMIT), cursor })
    }
}

fn text<'j>(max: usize) -> impl Field<'j, Value = &'j str> {
    field(
        move |json, at: &Place<'_>, problems: &mut Problems| read_text(max)(json, at, problems),
        move || schema::text(max),
    )
}

fn domain<'j>() -> impl Field<'j, Value = &'j str> {
    text(MAX_DOMAIN).about("The caller's own when absent")
}

fn attributes<'j>() -> impl Field<'j, Value = Attributes<'j>> {
    field(Attributes::read, attributes_schema)
}

fn properties<'j>() -> impl Field<'j, Value = AttributeMap<'j>> {
    field(attribute_map, || {
        attribute_map_schema()
            .description(Some("What policies read as attributes of the candidate"))
    })
}

fn roles<'j>() -> impl Field<'j, Value = &'j [Json<'j>]> {
    field(read_roles, || schema::list(schema::text(MAX_SUBJECT)))
}

fn read_roles<'j>(
    json: &'j Json<'j>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'j [Json<'j>]> {
    // Each item is known to be a string from here on.
    read_list(read_string)(json, at, problems)?;
    json.as_array()
}

/// The candidates of a request, each with the members that `declare` names.
fn candidates<'j>(
    declare: fn(&mut Members<'j, '_>) -> Option<GivenCandidate<'j>>,
) -> impl Field<'j, Value = Vec<GivenCandidate<'j>>> {
    let read = at_most(MAX_CANDIDATES, "candidates", move |json, at, problems| {
        input::read(json, at, problems, declare)
    });
    field(read, move || {
        schema::list(input::describe(declare)).max_items(Some(MAX_CANDIDATES)).description(Some(
            "The entities to look at, in this order; without it, all of the directory",
        ))
    })
}

/// The body of a search for resources.
pub struct ResourceSearchRequest;

document!(ResourceSearchRequest => {
    input::describe(EntitySearchBody::declare_resources).example(json!({
        "subject": "ann",
        "resource": "chart:read",
        "action": "read",
        "candidates": [{"id": "c-17", "properties": {"patient_id": "ann"}}],
    }))
});

/// The body of a search for subjects.
pub struct SubjectSearchRequest;

document!(SubjectSearchRequest => {
    input::describe(EntitySearchBody::declare_subjects).example(json!({
        "resource": "chart:read",
        "action": "read",
        "attributes": {"resource": {"patient_id": "ann"}},
        "candidates": [{"id": "ann", "roles": ["patient"]}],
    }))
});

document!(ActionSearchBody<'_> as "ActionSearchRequest" => {
    input::describe(ActionSearchBody::declare).example(json!({
        "subject": "ann",
        "type": "chart",
        "attributes": {"resource": {"id": "c-17", "patient_id": "ann"}},
    }))
});
