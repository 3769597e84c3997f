//! RBAC rules (`docs/semantics.md`, sections 3.1 to 3.3).

use portcullis_engine::fields::Fields;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::rbac::{MAX_ACTION, MAX_DOMAIN, MAX_SUBJECT, rule_field};
use portcullis_engine::{Effect, Invalid, Json, ResourcePattern, RuleTuple};
use serde::Serialize;
use serde_json::json;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::schema::{self, AnySchema, Input};
use super::{Authorship, Timestamp, id};

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person or service wrote it.
    Explicit,
    /// A resource's `defaultRoles` made it, and may remove it again.
    DefaultRole,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::DefaultRole => "default_role",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "explicit" => Some(Self::Explicit),
            "default_role" => Some(Self::DefaultRole),
            _ => None,
        }
    }
}

/// An RBAC rule as the store keeps it and the API shows it.
#[derive(Clone, Debug, Serialize)]
pub struct RuleRecord {
    pub id: Uuid,
    #[serde(flatten, serialize_with = "serialize_tuple")]
    pub tuple: RuleTuple,
    pub effect: Effect,
    pub origin: Origin,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_by: Option<String>,
    pub updated_at: Option<Timestamp>,
}

fn serialize_tuple<S: serde::Serializer>(
    tuple: &RuleTuple,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = serializer.serialize_map(Some(4))?;
    map.serialize_entry("sub", &tuple.sub)?;
    map.serialize_entry("dom", &tuple.dom)?;
    map.serialize_entry("obj", &tuple.obj.to_string())?;
    map.serialize_entry("act", &tuple.act)?;
    map.end()
}

impl ToSchema for RuleRecord {
    fn schemas(schemas: &mut Vec<(String, AnySchema)>) {
        schema::collect::<Timestamp>(schemas);
        schema::collect::<Origin>(schemas);
    }
}

impl PartialSchema for RuleRecord {
    fn schema() -> AnySchema {
        schema::record()
            .field("id", schema::id())
            .field("sub", schema::string())
            .field("dom", schema::string())
            .field("obj", schema::resource_pattern())
            .field("act", schema::string())
            .field("effect", schema::effect())
            .field("origin", schema::named::<Origin>())
            .field("created_by", schema::string())
            .field("created_at", schema::named::<Timestamp>())
            .field("updated_by", schema::nullable(schema::string()))
            .field("updated_at", schema::nullable(schema::named::<Timestamp>()))
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
            }))
            .into()
    }
}

/// The body that creates a rule.
#[derive(Clone, Debug)]
pub struct NewRule {
    pub tuple: RuleTuple,
    pub effect: Effect,
}

impl NewRule {
    /// Reads a rule that stands at `at`; an absent `dom` is `domain`.
    pub fn read(
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
        domain: &str,
    ) -> Option<Self> {
        let mut fields = Fields::open(json, at, problems)?;
        let tuple = read_tuple(&mut fields, domain);
        let effect = fields.required("effect", Effect::read);
        fields.close();
        Some(Self { tuple: tuple?, effect: effect? })
    }

    /// Reads a request body.
    pub fn parse(json: &Json<'_>, domain: &str) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let rule = Self::read(json, &Place::root(), &mut problems, domain);
        problems.finish(rule)
    }

    /// The record that it becomes.
    pub fn into_record(self, id: Uuid, origin: Origin, by: &Authorship) -> RuleRecord {
        RuleRecord {
            id,
            tuple: self.tuple,
            effect: self.effect,
            origin,
            created_by: by.actor.clone(),
            created_at: by.at,
            updated_by: None,
            updated_at: None,
        }
    }
}

impl ToSchema for NewRule {}

impl PartialSchema for NewRule {
    fn schema() -> AnySchema {
        tuple_schema()
            .optional("dom", dom_schema())
            .required("effect", schema::effect())
            .example(json!({"sub": "midwife", "obj": "chart:*", "act": "read", "effect": "allow"}))
            .into()
    }
}

/// The members of a tuple, but for `dom`.
fn tuple_schema() -> Input {
    let sub = "A subject or one of its roles, or `*`";
    let act = "An action, or `*`";
    schema::input()
        .required("sub", schema::rule_field(MAX_SUBJECT).description(Some(sub)))
        .required("obj", schema::resource_pattern())
        .required("act", schema::rule_field(MAX_ACTION).description(Some(act)))
}

fn dom_schema() -> ObjectBuilder {
    let about = "A domain, or `*`; the caller's own when absent";
    schema::rule_field(MAX_DOMAIN).description(Some(about))
}

/// The four fields of a tuple; an absent `dom` is `domain`.
fn read_tuple(fields: &mut Fields<'_, '_>, domain: &str) -> Option<RuleTuple> {
    let sub = fields.required("sub", rule_field(MAX_SUBJECT));
    let dom = fields.optional("dom", rule_field(MAX_DOMAIN));
    let obj = fields.required("obj", ResourcePattern::read);
    let act = fields.required("act", rule_field(MAX_ACTION));
    Some(RuleTuple {
        sub: sub?.to_owned(),
        dom: dom.unwrap_or(domain).to_owned(),
        obj: obj?,
        act: act?.to_owned(),
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
    /// Without: the tuple names the rule and the effect changes.
    ByTuple(NewRule),
}

impl RuleUpdate {
    /// Reads a request body; in the form without `id`, an absent `dom` is `domain`.
    pub fn parse(json: &Json<'_>, domain: &str) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let update = if json.get("id").is_some() {
            Self::read_by_id(json, &mut problems)
        } else {
            // Unlike in a creation, null does not stand for the own domain.
            refuse_null(json, "dom", &mut problems);
            NewRule::read(json, &Place::root(), &mut problems, domain).map(Self::ByTuple)
        };
        problems.finish(update)
    }

    fn read_by_id(json: &Json<'_>, problems: &mut Problems) -> Option<Self> {
        let at = Place::root();
        let mut fields = Fields::open(json, &at, problems)?;
        let id = fields.change("id", id);
        let sub = fields.change("sub", rule_field(MAX_SUBJECT)).map(str::to_owned);
        let dom = fields.change("dom", rule_field(MAX_DOMAIN)).map(str::to_owned);
        let obj = fields.change("obj", ResourcePattern::read);
        let act = fields.change("act", rule_field(MAX_ACTION)).map(str::to_owned);
        let effect = fields.change("effect", Effect::read);
        fields.close();
        Some(Self::ById { id: id?, sub, dom, obj, act, effect })
    }
}

impl RuleUpdate {
    /// The record that the update makes of `old`.
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

    /// The domain that the update names.
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::ById { dom, .. } => dom.as_deref(),
            Self::ByTuple(rule) => Some(&rule.tuple.dom),
        }
    }

    /// Whether the update says anything about the rule: an `id` alone does not.
    pub fn says_something(&self) -> bool {
        match self {
            Self::ById { id: _, sub, dom, obj, act, effect } => {
                sub.is_some() || dom.is_some() || obj.is_some() || act.is_some() || effect.is_some()
            }
            Self::ByTuple(_) => true,
        }
    }
}

impl ToSchema for RuleUpdate {}

impl PartialSchema for RuleUpdate {
    fn schema() -> AnySchema {
        let by_id = schema::input()
            .required("id", schema::id())
            .change("sub", schema::rule_field(MAX_SUBJECT))
            .change("dom", schema::rule_field(MAX_DOMAIN))
            .change("obj", schema::resource_pattern())
            .change("act", schema::rule_field(MAX_ACTION))
            .change("effect", schema::effect())
            .about("With an `id`, every other field changes that rule")
            .example(json!({"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62", "effect": "deny"}));
        let by_tuple = tuple_schema()
            .change("dom", dom_schema())
            .required("effect", schema::effect())
            .about("Without, the tuple names the rule, and its `effect` changes");
        schema::one_of([by_id.into(), by_tuple.into()])
    }
}

fn replace<T>(stored: &mut T, sent: Option<T>) {
    if let Some(sent) = sent {
        *stored = sent;
    }
}

fn refuse_null(json: &Json<'_>, name: &str, problems: &mut Problems) {
    if let Some(Json::Null) = json.get(name) {
        problems.expected(&Place::root().key(name), "a value, not null");
    }
}

/// Names the rule that a deletion removes.
#[derive(Clone, Debug)]
pub enum RuleName {
    Id(Uuid),
    /// By its tuple; an effect that was sent must be the rule's.
    Tuple(RuleTuple, Option<Effect>),
}

impl ToSchema for RuleName {}

impl PartialSchema for RuleName {
    fn schema() -> AnySchema {
        let by_id = schema::input()
            .required("id", schema::id())
            .example(json!({"id": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b62"}));
        let by_tuple = tuple_schema()
            .change("id", schema::typed(Type::Null))
            .optional("dom", dom_schema())
            .optional(
                "effect",
                schema::effect().description(Some("If sent, it must be the rule's")),
            )
            .example(json!({"sub": "midwife", "obj": "chart:*", "act": "read"}));
        schema::one_of([by_id.into(), by_tuple.into()])
    }
}

impl RuleName {
    /// Reads a request body: an `id` or a tuple, not both; an absent `dom` is `domain`.
    pub fn parse(json: &Json<'_>, domain: &str) -> Result<Self, Invalid> {
        let mut problems = Problems::default();
        let name = Self::read(json, &mut problems, domain);
        problems.finish(name)
    }

    fn read(json: &Json<'_>, problems: &mut Problems, domain: &str) -> Option<Self> {
        let at = Place::root();
        let mut fields = Fields::open(json, &at, problems)?;
        if let Some(id) = fields.optional("id", id) {
            let by_tuple = ["sub", "dom", "obj", "act", "effect"];
            if by_tuple.into_iter().any(|name| fields.has(name)) {
                fields.expected("an `id` or a tuple, not both");
                return None;
            }
            fields.close();
            return Some(Self::Id(id));
        }
        let tuple = read_tuple(&mut fields, domain);
        let effect = fields.optional("effect", Effect::read);
        fields.close();
        Some(Self::Tuple(tuple?, effect))
    }
}
