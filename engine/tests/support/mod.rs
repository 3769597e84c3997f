//! Shared by the property tests and the fuzz target: scenarios as plain data, an oracle that decides them directly from
//! semantics.md, the pools of values, and the engine's public route.

pub(crate) mod conditions;
pub(crate) mod decision;
pub(crate) mod instant;
pub(crate) mod local_time;
pub(crate) mod pools;
pub(crate) mod route;

use std::fmt;
use std::rc::Rc;

use serde_json::Value;
use uuid::Uuid;

/// The path of the roles claim: `docs/semantics.md`, section 9.2, `ROLES_CLAIM`.
pub(crate) const ROLES_CLAIM: &str = "realm_access.roles";

/// An effect, under its name on the wire.
pub(crate) type EffectName = &'static str;
pub(crate) const ALLOW: EffectName = "allow";
pub(crate) const DENY: EffectName = "deny";

/// An RBAC rule.
#[derive(Clone)]
pub(crate) struct RbacRule {
    pub(crate) id: Uuid,
    pub(crate) sub: String,
    pub(crate) dom: String,
    pub(crate) obj: String,
    pub(crate) act: String,
    pub(crate) effect: EffectName,
}

/// An enabled ABAC policy.
#[derive(Clone)]
pub(crate) struct AbacPolicy {
    pub(crate) id: Uuid,
    pub(crate) resource: String,
    pub(crate) effect: EffectName,
    pub(crate) priority: i32,
    /// The tree; `None` for a stored tree that does not compile. Thousands of policies share one tree.
    pub(crate) tree: Option<Rc<Value>>,
}

/// A check, its caller and its instant.
#[derive(Clone)]
pub(crate) struct Request {
    /// The body of `POST /api/v1/check`.
    pub(crate) body: Value,
    /// The claims of the caller's token; `None` for a check without a caller.
    pub(crate) claims: Option<Value>,
    /// The default domain.
    pub(crate) caller_domain: String,
    /// `request.time`: RFC 3339 in UTC with milliseconds.
    pub(crate) now: String,
    /// Paths of attributes whose resolver has no answer.
    pub(crate) failed: Vec<String>,
}

/// Rules, policies, and the requests to decide by them.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) rules: Vec<RbacRule>,
    pub(crate) policies: Vec<AbacPolicy>,
    pub(crate) requests: Vec<Request>,
}

impl Request {
    /// Returns the resource of the check.
    pub(crate) fn resource(&self) -> &str {
        self.body["resource"].as_str().unwrap_or_default()
    }

    /// Returns whether the attribute's resolver has no answer.
    pub(crate) fn fails(&self, path: &str) -> bool {
        self.failed.iter().any(|failed| failed == path)
    }

    /// Returns the domain of the check.
    pub(crate) fn domain(&self) -> &str {
        self.body["domain"].as_str().unwrap_or(&self.caller_domain)
    }
}

// People read a failure: JSON text is easier to read than nested Rust structures.

impl fmt::Debug for RbacRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, sub, dom, obj, act, effect } = self;
        write!(f, "rule {id}: {sub}, {dom}, {obj}, {act}, {effect}")
    }
}

impl fmt::Debug for AbacPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, resource, effect, priority, tree } = self;
        write!(f, "policy {id}: {effect} {resource} at {priority} when ")?;
        match tree {
            Some(tree) => write!(f, "{tree}"),
            None => f.write_str("(unreadable)"),
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {} at {} by ", self.body, self.now)?;
        match &self.claims {
            Some(claims) => write!(f, "{claims}")?,
            None => f.write_str("(no caller)")?,
        }
        write!(f, " of {}", self.caller_domain)?;
        if !self.failed.is_empty() {
            write!(f, " without {:?}", self.failed)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            write!(f, "\n  {rule:?}")?;
        }
        for policy in &self.policies {
            write!(f, "\n  {policy:?}")?;
        }
        for request in &self.requests {
            write!(f, "\n  {request:?}")?;
        }
        Ok(())
    }
}
