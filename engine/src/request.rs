//! The check request: subject, resource, action, attributes and caller (`docs/semantics.md`, section 2.1).

use chrono::{DateTime, Utc};

pub use crate::action::Action;
pub use crate::attributes::{AttributeMap, Attributes, SentPlace};
use crate::fields::{self, Body, Fields, ReadBeside, string, text, typed};
use crate::invalid::{Invalid, Place, Problems};
use crate::json::Json;
use crate::rbac::{Effect, MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use crate::resolution::AttributeAnswers;
use crate::resource::resource;
pub use crate::roles::Roles;
use crate::value::parse_instant;

/// The member of a check with the decision of another system.
pub const EXPECTED: &str = "expected";

/// A member of a check body that is text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckText {
    /// 1 to this many characters.
    UpTo(usize),
    /// `<name>:<verb>`.
    Resource,
}

/// The members of a check body, while a declaration names them. [`Fields`] reads them, and a document describes them.
///
/// Whoever describes a body returns `None` for each member.
pub trait CheckMembers<'j> {
    /// A text that must exist; `null` counts as absent.
    fn required(&mut self, name: &'static str, text: CheckText) -> Option<&'j str>;

    /// A text that may be absent; `null` counts as absent.
    fn optional(&mut self, name: &'static str, text: CheckText) -> Option<&'j str>;

    /// The attributes that the caller vouches for; they may be absent.
    fn attributes(&mut self, name: &'static str) -> Option<Attributes<'j>>;

    /// An effect that may be absent; `null` counts as absent.
    fn effect(&mut self, name: &'static str) -> Option<Effect>;
}

impl<'j> CheckMembers<'j> for Fields<'j, '_> {
    fn required(&mut self, name: &'static str, text: CheckText) -> Option<&'j str> {
        Fields::required(self, name, |json, at, problems| text.read(json, at, problems))
    }

    fn optional(&mut self, name: &'static str, text: CheckText) -> Option<&'j str> {
        Fields::optional(self, name, |json, at, problems| text.read(json, at, problems))
    }

    fn attributes(&mut self, name: &'static str) -> Option<Attributes<'j>> {
        Fields::optional(self, name, Attributes::read)
    }

    fn effect(&mut self, name: &'static str) -> Option<Effect> {
        Fields::optional(self, name, Effect::read)
    }
}

impl CheckText {
    fn read<'j>(
        self,
        json: &'j Json<'j>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<&'j str> {
        match self {
            Self::UpTo(max) => text(max)(json, at, problems),
            Self::Resource => resource(json, at, problems),
        }
    }
}

/// The body of a check, valid by construction.
#[derive(Clone, Copy, Debug)]
pub struct CheckBody<'r> {
    /// The subject of the check: 1 to 256 characters.
    pub subject: &'r str,
    /// The type of the subject, if the request names it. Otherwise the subject has the relations of what its name
    /// reads as (`docs/semantics.md`, section 12.12).
    pub subject_type: Option<&'r str>,
    /// The resource, `<name>:<verb>`.
    pub resource: &'r str,
    /// The action: 1 to 128 characters if it was sent, else the verb of the resource.
    pub action: Action<'r>,
    /// The RBAC domain; `None` stands for the caller's own.
    pub domain: Option<&'r str>,
    /// The attributes, for which the caller vouches.
    pub attributes: Attributes<'r>,
    /// The decision of another system, for the record alone (`docs/semantics.md`, section 18.4).
    pub expected: Option<Effect>,
}

impl<'r> CheckBody<'r> {
    /// Reads the body of `POST /api/v1/check`.
    ///
    /// # Errors
    /// Every missing, unknown or ill-typed field, by JSON pointer.
    pub fn parse(json: &'r Json<'r>) -> Result<Self, Invalid> {
        Ok(Self::parse_beside(json, |_| None::<()>)?.0)
    }

    /// Reads the body of a check that may have more, which `beside` reads.
    ///
    /// # Errors
    /// Those of [`CheckBody::parse`].
    pub(crate) fn parse_beside<T>(
        json: &'r Json<'r>,
        beside: ReadBeside<T>,
    ) -> Result<(Self, Option<T>), Invalid> {
        fields::parse(json, |fields| {
            let more = beside(fields);
            Some((Self::whole(fields, Self::declare_compared)?, more))
        })
    }

    /// Reads a check at `at` of a larger input. Notes every fault in `problems`.
    pub fn read(json: &'r Json<'r>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        fields::object(json, at, problems, |fields| Self::whole(fields, Self::declare))
    }

    fn whole<'p>(
        fields: &mut Fields<'r, 'p>,
        declare: fn(&mut Fields<'r, 'p>) -> Option<Self>,
    ) -> Option<Self> {
        let body = declare(fields);
        note_misplaced(fields);
        body
    }

    /// Names the members of a check that another system may have decided, too.
    pub fn declare_compared(members: &mut impl CheckMembers<'r>) -> Option<Self> {
        let body = Self::declare(members);
        let expected = members.effect(EXPECTED);
        Some(Self { expected, ..body? })
    }

    /// Names the members of the body, to read or to describe them.
    pub fn declare(members: &mut impl CheckMembers<'r>) -> Option<Self> {
        let subject = members.required("subject", CheckText::UpTo(MAX_SUBJECT));
        let resource = members.required("resource", CheckText::Resource);
        let action = members.optional("action", CheckText::UpTo(MAX_ACTION));
        let domain = members.optional("domain", CheckText::UpTo(MAX_DOMAIN));
        let attributes = members.attributes("attributes");
        // All members are read before one is unwrapped, so that each fault is noted.
        Some(Self {
            subject: subject?,
            subject_type: None,
            resource: resource?,
            action: Action::of(action, resource?),
            domain,
            attributes: attributes.unwrap_or_default(),
            expected: None,
        })
    }
}

/// Notes members of a check that belong into its attributes.
pub fn note_misplaced(fields: &mut Fields<'_, '_>) {
    fields.misplaced("roles", "attributes.user.roles");
}

impl<'r> Attributes<'r> {
    /// Reads the attributes of a check.
    pub fn read(json: &'r Json<'r>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        fields::object(json, at, problems, |fields| {
            Some(Self {
                user: fields.optional("user", attribute_map).unwrap_or_default(),
                resource: fields.optional("resource", attribute_map).unwrap_or_default(),
                action: fields.optional("action", attribute_map).unwrap_or_default(),
                context: fields.optional("context", attribute_map).unwrap_or_default(),
            })
        })
    }
}

/// Reads attributes: an object of strings, numbers, booleans, lists of strings and numbers, and `null`.
pub fn attribute_map<'r>(
    json: &'r Json<'r>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<AttributeMap<'r>> {
    let members = typed(json.as_object(), "an object", json, at, problems)?;
    for (name, value) in members {
        if !is_attribute_value(value) {
            problems.expected(&at.key(name), ATTRIBUTE_VALUE);
        }
    }
    Some(AttributeMap::from_members(members))
}

/// Completes "expected …" for what is not the value of an attribute.
pub const ATTRIBUTE_VALUE: &str =
    "a string, a number, a boolean, a list of strings and numbers, or `null`";

/// Returns whether `json` is the value of an attribute, or `null`, which is an absent one.
pub fn is_attribute_value(json: &Json<'_>) -> bool {
    match json {
        Json::String(_) | Json::Number(_) | Json::Bool(_) | Json::Null => true,
        Json::Array(items) => {
            items.iter().all(|item| matches!(item, Json::String(_) | Json::Number(_)))
        }
        Json::Object(_) => false,
    }
}

/// The sender of a request: the part of the verified token that decisions read.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'r> {
    /// The token's `sub`.
    pub subject: &'r str,
    /// The strings of the token's roles claim.
    pub roles: &'r [String],
    /// All claims, for `token.*`.
    pub claims: &'r Json<'r>,
}

/// A complete check: everything besides rules and policies on which a decision depends.
#[derive(Clone, Copy, Debug)]
pub struct Check<'r> {
    /// The subject of the check.
    pub subject: &'r str,
    /// The type of the subject, if the request names it. Otherwise the subject has the relations of what its name
    /// reads as (`docs/semantics.md`, section 12.12).
    pub subject_type: Option<&'r str>,
    /// The resource, `<name>:<verb>`.
    pub resource: &'r str,
    /// The action.
    pub action: Action<'r>,
    /// The RBAC domain.
    pub domain: &'r str,
    /// The subject's roles.
    pub roles: Roles<'r>,
    /// The attributes that the request carried.
    pub attributes: Attributes<'r>,
    /// The caller's verified claims; `None` without a caller, as in tests of policies.
    pub claims: Option<&'r Json<'r>>,
    /// The instant of the check, for `request.time`.
    pub now: DateTime<Utc>,
    /// The relations that resolvers can have as inputs. A plan asks for those that it reads.
    pub relations: Option<&'r AttributeAnswers>,
    /// The decision of another system. No decision depends on it.
    pub expected: Option<Effect>,
}

impl<'r> Check<'r> {
    /// Makes the check of `body` in `domain` at the instant `now`. The subject's roles follow the principals rule.
    #[inline]
    pub fn new(
        body: CheckBody<'r>,
        domain: &'r str,
        caller: Option<Caller<'r>>,
        now: DateTime<Utc>,
    ) -> Self {
        Self {
            subject: body.subject,
            subject_type: body.subject_type,
            resource: body.resource,
            action: body.action,
            domain,
            roles: roles_of(body.subject, body.attributes.user, caller),
            attributes: body.attributes,
            claims: caller.map(|caller| caller.claims),
            now,
            relations: None,
            expected: body.expected,
        }
    }
}

/// Applies the principals rule of `docs/semantics.md`, section 2.3: the caller's roles belong to the caller alone. Any other
/// subject has the roles in the request.
#[inline]
fn roles_of<'r>(subject: &str, user: AttributeMap<'r>, caller: Option<Caller<'r>>) -> Roles<'r> {
    match caller.filter(|caller| caller.subject == subject) {
        Some(caller) => Roles::Claimed(caller.roles),
        None => Roles::Supplied(user.roles().unwrap_or_default()),
    }
}

/// Reads the roles of a claim: the strings of a list, or one string. Ignores items that are not strings
/// (`docs/semantics.md`, section 6.5). An empty list has no roles. `None` if the claim is an empty string or of another
/// type.
pub fn claimed_roles(claim: &Json<'_>) -> Option<Vec<String>> {
    let items = match claim {
        Json::String(text) if !text.is_empty() => std::slice::from_ref(claim),
        Json::Array(items) => items,
        _ => return None,
    };
    Some(items.iter().filter_map(Json::as_str).map(str::to_owned).collect())
}

/// The body of `POST /api/v1/resources/access/check`. The server fills in absent members.
#[derive(Clone, Copy, Debug)]
pub struct LegacyCheckBody<'r> {
    /// The resource, `<name>:<verb>`.
    pub resource: &'r str,
    /// The action; the default is the resource's verb.
    pub action: Option<&'r str>,
    /// The subject; the default is the caller.
    pub subject: Option<&'r str>,
    /// The domain; the default is the caller's.
    pub domain: Option<&'r str>,
    /// The decision of another system.
    pub expected: Option<Effect>,
}

impl<'r> Body<'r> for LegacyCheckBody<'r> {
    fn read(fields: &mut Fields<'r, '_>) -> Option<Self> {
        Self::declare(fields)
    }
}

impl<'r> LegacyCheckBody<'r> {
    /// Names the members of the body, to read or to describe them.
    pub fn declare(members: &mut impl CheckMembers<'r>) -> Option<Self> {
        let resource = members.required("resource", CheckText::Resource);
        let action = members.optional("action", CheckText::UpTo(MAX_ACTION));
        let subject = members.optional("subject", CheckText::UpTo(MAX_SUBJECT));
        let domain = members.optional("domain", CheckText::UpTo(MAX_DOMAIN));
        let expected = members.effect(EXPECTED);
        Some(Self { resource: resource?, action, subject, domain, expected })
    }
}

/// Reads an RFC 3339 date-time.
pub fn instant(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<DateTime<Utc>> {
    let text = string(json, at, problems)?;
    let instant = parse_instant(text);
    if instant.is_none() {
        problems.expected(at, "an RFC 3339 date-time such as `2026-11-20T09:00:00Z`");
    }
    instant
}
