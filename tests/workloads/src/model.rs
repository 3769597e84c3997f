//! The parts of a workload.

use anyhow::{Result, bail};
use serde_json::json;

/// The one domain of every workload.
pub const DOMAIN: &str = "acme";

/// Rules, policies and requests.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// A short name, such as `W3 1000`.
    pub name: String,
    /// The RBAC rules.
    pub rules: Vec<SampleRule>,
    /// The ABAC policies.
    pub policies: Vec<SamplePolicy>,
    /// The requests, each with the right decision.
    pub requests: Vec<SampleRequest>,
}

impl Workload {
    /// Returns the right decision of each request.
    pub fn right(&self) -> impl Iterator<Item = bool> {
        self.requests.iter().map(|request| request.allow)
    }

    /// Returns a request and the only rule that matches it.
    ///
    /// # Errors
    /// No request has such a rule.
    pub fn request_of_one_rule(&self) -> Result<(&SampleRequest, &SampleRule)> {
        for request in self.requests.iter().filter(|request| request.allow) {
            let mut matching = self.rules.iter().filter(|rule| rule.matches(request));
            if let (Some(rule), None) = (matching.next(), matching.next()) {
                return Ok((request, rule));
            }
        }
        bail!("no request is allowed by one rule alone")
    }

    /// Returns the body of each request.
    pub fn texts(&self) -> Vec<String> {
        self.requests.iter().map(SampleRequest::text).collect()
    }
}

/// An RBAC rule without wildcards.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of the rule format")]
pub struct SampleRule {
    pub id: u128,
    pub sub: String,
    pub dom: String,
    pub obj: String,
    pub act: String,
    pub allow: bool,
}

impl SampleRule {
    /// Returns whether the rule matches `request`.
    pub fn matches(&self, request: &SampleRequest) -> bool {
        self.obj == request.resource
            && self.act == request.action
            && request.roles.iter().chain([&request.subject]).any(|own| *own == self.sub)
    }
}

/// An ABAC policy.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names are those of the policy format")]
pub struct SamplePolicy {
    pub id: u128,
    pub name: String,
    pub resource: String,
    pub allow: bool,
    pub priority: i32,
    pub conditions: Conditions,
}

/// The condition of a policy: an AND of three tests.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// `user.department eq`
    pub department: String,
    /// `user.clearance gte`
    pub clearance: i64,
    /// `resource.region in`
    pub regions: Vec<String>,
}

impl Conditions {
    /// Writes the condition tree as JSON text.
    pub fn tree(&self) -> String {
        let test = |attribute: &str, operator: &str, value| json!({"type": "CONDITION", "attribute": attribute, "operator": operator, "value": value});
        let children = [
            test("user.department", "eq", json!(self.department)),
            test("user.clearance", "gte", json!(self.clearance)),
            test("resource.region", "in", json!(self.regions)),
        ];
        json!({"type": "AND", "children": children}).to_string()
    }
}

/// A check, in the domain [`DOMAIN`].
#[derive(Clone, Debug)]
pub struct SampleRequest {
    /// The subject. It has the same roles in every request, so that an engine may know them in advance.
    pub subject: String,
    /// `<name>:<verb>`.
    pub resource: String,
    /// The action.
    pub action: String,
    /// The subject's roles.
    pub roles: Vec<String>,
    /// `user.*`, without the roles.
    pub user: Vec<(String, SampleAttribute)>,
    /// `resource.*`
    pub object: Vec<(String, SampleAttribute)>,
    /// The right decision.
    pub allow: bool,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SampleAttribute {
    Text(String),
    Number(i64),
}

impl SampleAttribute {
    /// Returns the string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }

    /// Returns the number, if it is one.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Text(_) => None,
            Self::Number(number) => Some(*number),
        }
    }
}

/// Returns the value of the attribute `name`.
pub(crate) fn attribute<'a>(
    pairs: &'a [(String, SampleAttribute)],
    name: &str,
) -> Option<&'a SampleAttribute> {
    pairs.iter().find(|(own, _)| own == name).map(|(_, value)| value)
}
