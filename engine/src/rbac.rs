//! RBAC rules as data (`docs/semantics.md`, sections 2.4 and 3.1).

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use uuid::Uuid;

use crate::fields::{string, within};
use crate::invalid::{Place, Problems};
use crate::json::Json;
use crate::resource::{ResourcePattern, split_resource};

/// The whole-field wildcard.
pub const WILDCARD: &str = "*";
/// The maximum length of a subject, in characters.
pub const MAX_SUBJECT: usize = 256;
/// The maximum length of a domain, in characters.
pub const MAX_DOMAIN: usize = 256;
/// The maximum length of an action, in characters.
pub const MAX_ACTION: usize = 128;

/// The names of effects; completes "expected …".
pub const EFFECTS: &str = "`allow` or `deny`";

/// The effect of a rule or policy that matches, and of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Effect {
    /// Denies. Sorts first: at equal priority deny beats allow.
    Deny,
    /// Allows, unless a deny decides.
    Allow,
}

impl Effect {
    /// Reads an effect.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let effect = json.as_str().and_then(|name| name.parse().ok());
        if effect.is_none() {
            problems.expected(at, EFFECTS);
        }
        effect
    }
}

/// The match of an RBAC rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTuple {
    /// A principal (the subject or one of its roles), or `*`.
    pub sub: String,
    /// A domain, or `*`.
    pub dom: String,
    /// The resources.
    pub obj: ResourcePattern,
    /// An action, or `*`.
    pub act: String,
}

impl fmt::Display for RuleTuple {
    /// Writes `sub, dom, obj, act`, as in a Casbin policy line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}, {}", self.sub, self.dom, self.obj, self.act)
    }
}

/// An RBAC rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The id, which identifies the rule in a decision.
    pub id: Uuid,
    /// The checks that the rule matches.
    pub tuple: RuleTuple,
    /// The effect of a match.
    pub effect: Effect,
}

/// The form of a rule's resource pattern: one of three patterns match a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectKind {
    Any,
    Name,
    Exact,
}

/// A rule that matches a check, with the texts that a reason shows.
#[derive(Clone, Copy, Debug)]
pub struct MatchedRule<'p> {
    /// The rule's id.
    pub id: Uuid,
    /// The rule's effect.
    pub effect: Effect,
    pub(crate) key: KeyTexts<'p>,
    pub(crate) resource: &'p str,
    pub(crate) obj: ObjectKind,
}

/// The subject, domain and action of a rule, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyTexts<'p> {
    pub(crate) lengths: [u16; 3],
    pub(crate) together: &'p [u8],
}

impl<'p> KeyTexts<'p> {
    /// Returns the bytes of the three texts.
    pub(crate) fn bytes(self) -> [&'p [u8]; 3] {
        let mut rest = self.together;
        self.lengths.map(|length| {
            let (text, after) = rest.split_at(usize::from(length));
            rest = after;
            text
        })
    }

    /// Returns the three texts.
    pub(crate) fn all(self) -> [&'p str; 3] {
        // They were texts.
        self.bytes().map(|text| std::str::from_utf8(text).unwrap_or_default())
    }
}

impl<'p> MatchedRule<'p> {
    /// Returns the rule's principal, or `*`.
    pub fn sub(&self) -> &'p str {
        self.key.all()[0]
    }

    /// Returns the rule's domain, or `*`.
    pub fn dom(&self) -> &'p str {
        self.key.all()[1]
    }

    /// Returns the rule's action, or `*`.
    pub fn act(&self) -> &'p str {
        self.key.all()[2]
    }

    /// Returns the resource pattern of the rule, as written.
    pub fn obj(&self) -> Cow<'p, str> {
        match self.obj {
            ObjectKind::Any => WILDCARD.into(),
            ObjectKind::Exact => self.resource.into(),
            ObjectKind::Name => {
                let name = split_resource(self.resource).map_or(self.resource, |(name, _)| name);
                format!("{name}:*").into()
            }
        }
    }
}

/// Shows the tuple of the rule.
impl fmt::Display for MatchedRule<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [sub, dom, act] = self.key.all();
        write!(f, "{sub}, {dom}, {}, {act}", self.obj())
    }
}

/// Reads a `sub`, `dom` or `act` of at most `max` characters: a literal or the whole-field wildcard
/// (`docs/semantics.md`, section 3.1).
pub fn rule_field<'j>(
    max: usize,
) -> impl Fn(&'j Json<'j>, &Place<'_>, &mut Problems) -> Option<&'j str> + Copy {
    move |json, at, problems| {
        let text = string(json, at, problems)?;
        if !within(text, max) || (text.contains('*') && text != WILDCARD) {
            problems.expected(at, format!("1 to {max} characters without `*`, or `*` alone"));
            return None;
        }
        Some(text)
    }
}
