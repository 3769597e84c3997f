//! ABAC policies as data (`docs/semantics.md`, sections 2.5 and 4.1).

use serde::Serialize;
use uuid::Uuid;

use crate::casbin;
use crate::condition::Condition;
use crate::invalid::{Invalid, Place, Problems};
use crate::json::Json;
use crate::rbac::Effect;
use crate::resource::ResourcePattern;

/// An enabled ABAC policy, as a plan is compiled from it.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Names the policy in a decision.
    pub id: Uuid,
    /// The name that people gave it; reasons use it.
    pub name: String,
    /// The resources that it is about.
    pub resource: ResourcePattern,
    /// What it does when it applies.
    pub effect: Effect,
    /// The highest priority decides.
    pub priority: i32,
    /// When it applies. A stored condition that no longer compiles is kept as its error: it is
    /// undetermined, so that a broken deny still denies and a broken allow does not allow, and no
    /// other resource is touched (`docs/semantics.md`, section 4.4).
    pub condition: Result<Condition, Invalid>,
}

/// An ABAC policy inside a plan, as far as a decision reports it.
#[derive(Debug)]
pub struct PlannedPolicy {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: Box<str>,
    /// What it does when it applies.
    pub effect: Effect,
    /// The highest decides.
    pub priority: i32,
}

/// Whether a policy applies when its condition gives `truth`: an undetermined deny does, an undetermined allow
/// does not (`docs/semantics.md`, section 2.5).
pub(crate) fn applies(effect: Effect, truth: Option<bool>) -> bool {
    truth.unwrap_or(effect == Effect::Deny)
}

/// How `rule_data` writes the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A condition tree.
    Json,
    /// A Casbin matcher: `{"matcher": "<expression>"}`.
    Casbin,
}

impl Format {
    /// `json` or `casbin`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Casbin => "casbin",
        }
    }

    /// The format that `text` names.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "json" => Some(Self::Json),
            "casbin" => Some(Self::Casbin),
            _ => None,
        }
    }

    /// Reads a format.
    pub fn read(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let format = json.as_str().and_then(Self::parse);
        if format.is_none() {
            problems.expected(at, "`json` or `casbin`");
        }
        format
    }

    /// Reads and compiles a condition of this format.
    pub fn condition(
        self,
        json: &Json<'_>,
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Option<Condition> {
        match self {
            Self::Json => Condition::read(json, at, problems),
            Self::Casbin => casbin::read(json, at, problems),
        }
    }
}

impl Policy {
    /// The condition of a stored `rule_data` text.
    ///
    /// # Errors
    /// Every fault, by JSON pointer into the text.
    pub fn stored_condition(format: Format, rule_data: &str) -> Result<Condition, Invalid> {
        let json = serde_json::from_str::<Json<'_>>(rule_data)
            .map_err(|_| Invalid::expected("", "JSON"))?;
        let mut problems = Problems::default();
        let condition = format.condition(&json, &Place::root(), &mut problems);
        problems.finish(condition)
    }
}
