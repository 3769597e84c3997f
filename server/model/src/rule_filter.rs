//! The criteria by which rules are listed (`docs/semantics.md`, section 3.8).

use portcullis_engine::Effect;

/// The values that a listed rule must have, character by character. A pattern such as `*` stands for itself.
#[derive(Clone, Debug, Default)]
pub struct RuleFilter {
    pub sub: Option<String>,
    pub dom: Option<String>,
    pub obj: Option<String>,
    pub act: Option<String>,
    pub effect: Option<Effect>,
}
