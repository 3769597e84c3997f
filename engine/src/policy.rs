//! ABAC policies as data (semantics.md sections 2 and 4).

use uuid::Uuid;

use crate::condition::Condition;
use crate::invalid::Invalid;
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
    /// other resource is touched (semantics.md section 4, "Three values").
    pub condition: Result<Condition, Invalid>,
}

impl Policy {
    /// The condition of a stored `rule_data` text.
    pub fn stored_condition(rule_data: &str) -> Result<Condition, Invalid> {
        let tree = serde_json::from_str::<Json<'_>>(rule_data)
            .map_err(|_| Invalid::expected("", "JSON"))?;
        Condition::parse(&tree)
    }
}
