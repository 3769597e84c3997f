//! ABAC policies (`docs/semantics.md`, section 4.1).

mod condition;
mod fields;
mod new;
mod record;
mod rule_data;
mod update;

pub use condition::{ConditionExpression, ConditionTree, Matcher, condition_name};
pub use new::{FilePolicy, NewPolicy};
pub use record::PolicyRecord;
pub use rule_data::{CompiledRuleData, MAX_RULE_DATA, RuleData};
pub use update::PolicyUpdate;
