//! The Portcullis decision engine (PDP): rules, policies and a request in, a decision out.
//!
//! The engine has no HTTP, no SQL, no clock and no randomness. Evaluation is total: a [`Check`] against a [`Plan`]
//! always returns a [`Decision`]. `docs/semantics.md` defines the meaning of every type; `plan` makes evaluation fast.
//!
//! ```
//! use portcullis_engine::{Check, CheckBody, Condition, Effect, Plan, Policy, ResourcePattern, json};
//!
//! // A policy: only engineers may read the wiki.
//! let tree = json::parse(
//!     br#"{"type": "CONDITION", "attribute": "user.department", "operator": "ne", "value": "engineering"}"#,
//! )?;
//! let policy = Policy {
//!     id: uuid::Uuid::nil(),
//!     name: "engineers only".to_owned(),
//!     resource: ResourcePattern::Exact("wiki:read".to_owned()),
//!     effect: Effect::Deny,
//!     priority: 10,
//!     condition: Ok(Condition::parse(&tree)?),
//! };
//! let plan = Plan::compile("wiki:read", 1, &[], [policy]);
//!
//! // The check leaves the attribute out. That must not switch a deny off.
//! let body = json::parse(br#"{"subject": "ann", "resource": "wiki:read", "action": "read"}"#)?;
//! let body = CheckBody::parse(&body)?;
//! let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
//! let decision = plan.evaluate(&check);
//! assert_eq!(decision.effect(), Effect::Deny);
//! assert_eq!(
//!     decision.reason(),
//!     "ABAC policy `engineers only` denies: its condition is undetermined, because attribute \
//!      `user.department` is missing"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod action;
pub mod analysis;
mod attributes;
pub mod batch;
pub mod casbin;
mod check_buffer;
mod check_terms;
pub mod condition;
mod datetimes;
mod decision;
pub mod during;
pub mod entities;
pub mod excerpt;
pub mod expression;
pub mod fields;
pub mod flat_attributes;
mod growing;
pub mod invalid;
pub mod json;
mod judge;
mod layers;
mod listed_roles;
pub mod names;
mod namespaces;
pub mod nearest;
mod number;
mod numbered_texts;
pub mod operator;
mod packed;
pub mod pattern;
pub mod period;
mod plain_check;
mod plain_items;
pub mod plain_text;
mod plan;
mod policy;
mod property_sources;
pub mod rbac;
pub mod relation;
pub mod request;
mod resolution;
pub mod resolver_contract;
pub mod resource;
mod roles;
mod short_text;
pub mod source;
pub mod sql;
mod supply;
mod syntax;
mod tenant_facts;
mod touched;
mod tree;
mod truths;
pub mod types;
pub mod value;
pub mod witnesses;
mod word;

pub use check_buffer::CheckBuffer;
pub use check_terms::{ActionTerms, CheckTerms, UnknownSubjects};
pub use condition::Condition;
pub use datetimes::Datetimes;
pub use decision::{DEFAULT_DENY, Decision, JudgedPolicy, Matched, MatchedRuleId, Undetermined};
pub use invalid::Invalid;
pub use json::Json;
pub use judge::{CheckKind, Facts, Judged, OpenQuestion, Related};
pub use namespaces::{AttributeKind, Namespaces, ReadableAttributes};
pub use number::Number;
pub use plan::{
    AttributeChange, ChangeSet, Counterfactuals, ExplainedAttribute, ExplainedItems, ExplainedNode,
    ExplainedPolicy, ExplainedReference, ExplainedRule, ExplainedTest, Explanation, Plan,
    PlanChanges, TruthValue, Verdict, filter, matrix, search,
};
pub use policy::{Format, PlannedPolicy, Policy};
pub use property_sources::{KnownProperty, PropertySources};
pub use rbac::{Effect, MatchedRule, Rule, RuleTuple};
pub use request::{Caller, Check, CheckBody};
pub use resolution::{AttributeAnswer, AttributeAnswers, AttributeRequest, ResolverRef};
pub use resource::ResourcePattern;
pub use supply::{
    DirectoryNeeds, KnownEntities, Supply, find_subject, lacks_subject, type_of_resource,
    type_of_subject,
};
pub use syntax::leading_word;
pub use tenant_facts::{Precedence, RoleInclusions, TenantFacts};
pub use touched::Touched;
