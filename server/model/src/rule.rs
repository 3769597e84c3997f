//! RBAC rules (`docs/semantics.md`, sections 3.1 to 3.3).

use portcullis_engine::rbac::{MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT};
use portcullis_engine::{Effect, Invalid, Json, ResourcePattern, RuleTuple};
use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;
use utoipa::openapi::schema::Type;
use uuid::Uuid;

use crate::authorship::signed_record;
use crate::fields::{effect, id, named, parse_id, resource_pattern, rule_field};
use crate::input::{self, Field, Members, derived, field, object};
use crate::{Authorship, Timestamp, document, schema};

/// The origin of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[schema(as = Origin)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum RuleOrigin {
    /// A person or service wrote it.
    Explicit,
    /// A resource's `defaultRoles` made it, and may remove it again.
    DefaultRole,
}

/// An RBAC rule as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleRecord {
    pub id: Uuid,
    #[serde(flatten)]
    pub tuple: RuleTuple,
    pub effect: Effect,
    pub origin: RuleOrigin,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_by: Option<String>,
    pub updated_at: Option<Timestamp>,
    /// The owner, if it is managed.
    pub managed_by: Option<String>,
}

signed_record!(RuleRecord { updated_at, updated_by });

document!(RuleRecord, naming Timestamp, RuleOrigin => {
    schema::record()
        .field("id", schema::id())
        .field("sub", schema::string())
        .field("dom", schema::string())
        .field("obj", schema::resource_pattern())
        .field("act", schema::string())
        .field("effect", schema::effect())
        .field("origin", schema::named::<RuleOrigin>())
        .field("created_by", schema::string())
        .field("created_at", schema::named::<Timestamp>())
        .field("updated_by", schema::nullable(schema::string()))
        .field("updated_at", schema::nullable(schema::named::<Timestamp>()))
        .field("managed_by", schema::nullable(schema::string()))
        .about("An RBAC rule")
        .example(json!({
            "id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62",
            "sub": "midwife",
            "dom": "hospital",
            "obj": "chart:*",
            "act": "read",
            "effect": "allow",
            "origin": "explicit",
            "created_by": "ines-admin",
            "created_at": "2026-05-16T09:30:00.000Z",
            "updated_by": null,
            "updated_at": null,
            "managed_by": null,
        }))
});

/// The body that creates a rule.
#[derive(Clone, Debug, Serialize)]
pub struct NewRule {
    #[serde(flatten)]
    pub tuple: RuleTuple,
    pub effect: Effect,
}

impl NewRule {
    /// A rule; an absent `dom` is `domain`.
    pub fn field<'j>(domain: &str) -> impl Field<'j, Value = Self> {
        named::<Self, _>(object(|members| Self::declare(members, domain)))
    }

    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, domain: &str) -> Result<Self, Invalid> {
        input::parse(json, |members| Self::declare(members, domain))
    }

    fn declare(members: &mut Members<'_, '_>, domain: &str) -> Option<Self> {
        let effect = effect().about("A deny beats every allow, also one of a policy");
        let tuple = declare_tuple(members, domain, NullDomain::IsAbsent);
        let effect = members.required("effect", effect);
        Some(Self { tuple: tuple?, effect: effect? })
    }

    /// Returns the record of a new rule.
    pub fn into_record(self, id: Uuid, origin: RuleOrigin, by: &Authorship) -> RuleRecord {
        RuleRecord {
            id,
            tuple: self.tuple,
            effect: self.effect,
            origin,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
            managed_by: None,
        }
    }
}

document!(NewRule => {
    input::describe(|members| NewRule::declare(members, ""))
        .example(json!({"sub": "midwife", "obj": "chart:*", "act": "read", "effect": "allow"}))
});

/// The meaning of a `dom` that is `null`.
#[derive(Clone, Copy)]
enum NullDomain {
    /// It stands for the caller's own domain, as an absent one does.
    IsAbsent,
    /// It is refused: an update could mean the own domain or no change.
    IsFault,
}

/// The four members of a tuple; an absent `dom` is `domain`.
fn declare_tuple(
    members: &mut Members<'_, '_>,
    domain: &str,
    null_domain: NullDomain,
) -> Option<RuleTuple> {
    let sub = rule_field(MAX_SUBJECT).about(
        "A subject or one of its roles, or `*`; `<relation>@resource` and `<type>:<id>#<relation>` once types have relations",
    );
    let dom = rule_field(MAX_DOMAIN)
        .about("A domain, or `*`; when absent the caller's own, in files the tenant's");
    let act = rule_field(MAX_ACTION).about("An action, or `*`");
    let sub = members.required("sub", sub);
    let dom = match null_domain {
        NullDomain::IsAbsent => members.optional("dom", dom),
        NullDomain::IsFault => members.change("dom", not_null(dom)),
    };
    let obj = members.required("obj", resource_pattern());
    let act = members.required("act", act);
    Some(RuleTuple {
        sub: sub?,
        dom: dom.unwrap_or_else(|| domain.to_owned()),
        obj: obj?,
        act: act?,
    })
}

/// The body that updates a rule.
#[derive(Clone, Debug)]
pub enum RuleUpdate {
    /// With `id`: any field changes.
    ById {
        id: Uuid,
        sub: Option<String>,
        dom: Option<String>,
        obj: Option<ResourcePattern>,
        act: Option<String>,
        effect: Option<Effect>,
    },
    /// Without `id`: the tuple names the rule, and its effect changes.
    ByTuple(NewRule),
}

impl RuleUpdate {
    /// Reads a request body; in the form without `id`, an absent `dom` is `domain`.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, domain: &str) -> Result<Self, Invalid> {
        // Even `null` counts as an `id`: a body that sends the member means the form with one.
        if json.get("id").is_some() {
            return input::parse(json, Self::declare_by_id);
        }
        input::parse(json, |members| Self::declare_by_tuple(members, domain))
    }

    fn declare_by_id(members: &mut Members<'_, '_>) -> Option<Self> {
        // The presence of `id` has chosen this form, so a fault here is about its value.
        let id = members.given("id", id());
        let sub = members.change("sub", rule_field(MAX_SUBJECT));
        let dom = members.change("dom", rule_field(MAX_DOMAIN));
        let obj = members.change("obj", resource_pattern());
        let act = members.change("act", rule_field(MAX_ACTION));
        let effect = members.change("effect", effect());
        Some(Self::ById { id: id?, sub, dom, obj, act, effect })
    }

    fn declare_by_tuple(members: &mut Members<'_, '_>, domain: &str) -> Option<Self> {
        let tuple = declare_tuple(members, domain, NullDomain::IsFault);
        let effect = members.required("effect", effect());
        Some(Self::ByTuple(NewRule { tuple: tuple?, effect: effect? }))
    }

    /// Returns `old` with the update applied.
    pub fn applied_to(&self, old: &RuleRecord) -> RuleRecord {
        let mut new = old.clone();
        match self {
            Self::ById { id: _, sub, dom, obj, act, effect } => {
                replace(&mut new.tuple.sub, sub.clone());
                replace(&mut new.tuple.dom, dom.clone());
                replace(&mut new.tuple.obj, obj.clone());
                replace(&mut new.tuple.act, act.clone());
                replace(&mut new.effect, *effect);
            }
            Self::ByTuple(rule) => new.effect = rule.effect,
        }
        new
    }

    /// Returns the domain that the update names.
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::ById { dom, .. } => dom.as_deref(),
            Self::ByTuple(rule) => Some(&rule.tuple.dom),
        }
    }

    /// Whether the update changes any field: an `id` alone does not.
    pub fn says_something(&self) -> bool {
        match self {
            Self::ById { id: _, sub, dom, obj, act, effect } => {
                sub.is_some() || dom.is_some() || obj.is_some() || act.is_some() || effect.is_some()
            }
            Self::ByTuple(_) => true,
        }
    }
}

document!(RuleUpdate => {
    let by_id = input::describe(RuleUpdate::declare_by_id)
        .about("With an `id`, every other field changes that rule")
        .example(json!({"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62", "effect": "deny"}));
    let by_tuple = input::describe(|members| RuleUpdate::declare_by_tuple(members, ""))
        .about("Without, the tuple names the rule, and its `effect` changes");
    schema::one_of([by_id.into(), by_tuple.into()])
});

fn replace<T>(stored: &mut T, sent: Option<T>) {
    if let Some(sent) = sent {
        *stored = sent;
    }
}

/// The values of a field that may be absent. The message for `null` names no type.
fn not_null<'j, F: Field<'j>>(field: F) -> impl Field<'j, Value = F::Value> {
    derived(
        field,
        |field, json, at, problems| match json {
            Json::Null => {
                problems.expected(at, "a value, not null");
                None
            }
            _ => field.read(json, at, problems),
        },
        F::schema,
    )
}

/// Names the rule that a deletion removes.
#[derive(Clone, Debug)]
pub enum RuleName {
    Id(Uuid),
    /// By its tuple; an effect that was sent must be the rule's.
    Tuple(RuleTuple, Option<Effect>),
}

impl RuleName {
    /// Reads a request body: an `id` or a tuple, not both; an absent `dom` is `domain`.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>, domain: &str) -> Result<Self, Invalid> {
        // An `id` that is not valid is a fault of the other form, which has none.
        if json.get("id").and_then(parse_id).is_none() {
            return input::parse(json, |members| Self::declare_by_tuple(members, domain));
        }
        if ["sub", "dom", "obj", "act", "effect"].iter().any(|name| json.get(name).is_some()) {
            return Err(Invalid::expected("", "an `id` or a tuple, not both"));
        }
        input::parse(json, Self::declare_by_id)
    }

    fn declare_by_id(members: &mut Members<'_, '_>) -> Option<Self> {
        members.required("id", id()).map(Self::Id)
    }

    fn declare_by_tuple(members: &mut Members<'_, '_>, domain: &str) -> Option<Self> {
        // The member is read only to give a fault for an `id` that is no UUID, since `null` counts as absent.
        members.change("id", no_id());
        let tuple = declare_tuple(members, domain, NullDomain::IsAbsent);
        let effect = effect().about("If sent, it must be the rule's");
        let effect = members.optional("effect", effect);
        Some(Self::Tuple(tuple?, effect))
    }
}

document!(RuleName => {
    let by_id = input::describe(RuleName::declare_by_id)
        .example(json!({"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62"}));
    let by_tuple = input::describe(|members| RuleName::declare_by_tuple(members, ""))
        .example(json!({"sub": "midwife", "obj": "chart:*", "act": "read"}));
    schema::one_of([by_id.into(), by_tuple.into()])
});

/// The `id` of a body that names a rule by its tuple: `null`.
fn no_id<'j>() -> impl Field<'j, Value = ()> {
    field(
        |json: &Json<'_>, at, problems| match json {
            Json::Null => Some(()),
            _ => {
                problems.expected(at, "a UUID");
                None
            }
        },
        || schema::typed(Type::Null),
    )
}
