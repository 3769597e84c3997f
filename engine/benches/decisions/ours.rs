//! The engine on a workload.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use portcullis_engine::{
    Check, CheckBody, CheckBuffer, Condition, Effect, Plan, Policy, ResourcePattern, Rule,
    RuleTuple, json,
};
use portcullis_workloads::{DOMAIN, Workload};

/// The plans of a workload, by resource.
pub(crate) struct Plans(hashbrown::HashMap<String, Plan>);

impl Plans {
    pub(crate) fn compile(workload: &Workload) -> Result<Self> {
        Ok(Self::new(&sources(workload)?))
    }

    pub(crate) fn new(sources: &HashMap<String, Source>) -> Self {
        let plan = |(resource, source): (&String, &Source)| {
            (resource.clone(), source.compile(resource, 1))
        };
        Self(sources.iter().map(plan).collect())
    }

    /// Returns the plan of a workload with one resource.
    pub(crate) fn only(&self) -> Result<&Plan> {
        self.0.values().next().ok_or_else(|| anyhow!("the workload has no resource"))
    }

    /// Decides a request from its strings.
    pub(crate) fn allows(&self, body: CheckBody<'_>) -> bool {
        self.0.get(body.resource).is_some_and(|plan| allows(plan, body))
    }

    /// Decides a request from its text.
    pub(crate) fn allows_text(&self, text: &str) -> Result<bool> {
        let mut buffer = CheckBuffer::default();
        Ok(self.allows(buffer.read(text.as_bytes())?))
    }
}

/// Decides a request from its strings, by the plan of its resource.
pub(crate) fn allows(plan: &Plan, body: CheckBody<'_>) -> bool {
    let domain = body.domain.unwrap_or(DOMAIN);
    let check = Check::new(body, domain, None, chrono::DateTime::UNIX_EPOCH);
    plan.evaluate(&check).effect() == Effect::Allow
}

/// Returns the bodies of a workload's requests, read as the service reads them: like the bodies of the limit, they
/// borrow from the texts. They live as long as the process.
pub(crate) fn bodies(workload: &Workload) -> Result<Vec<CheckBody<'static>>> {
    let body = |text: String| -> Result<_> {
        let buffer: &'static mut CheckBuffer<'static> = Box::leak(Box::default());
        Ok(buffer.read(text.leak().as_bytes())?)
    };
    workload.requests.iter().map(|request| body(request.text())).collect()
}

/// The rules and policies of one resource.
#[derive(Clone, Default)]
pub(crate) struct Source {
    pub(crate) rules: Vec<Rule>,
    pub(crate) policies: Vec<Policy>,
}

impl Source {
    pub(crate) fn compile(&self, resource: &str, revision: u64) -> Plan {
        Plan::compile(resource, revision, &self.rules, self.policies.iter().cloned())
    }
}

/// Returns the rules and policies of a workload by resource, in the order of a store.
pub(crate) fn sources(workload: &Workload) -> Result<HashMap<String, Source>> {
    let mut sources: HashMap<String, Source> = HashMap::new();
    for rule in &workload.rules {
        sources.entry(rule.obj.clone()).or_default().rules.push(Rule {
            id: uuid::Uuid::from_u128(rule.id),
            tuple: RuleTuple {
                sub: rule.sub.clone(),
                dom: rule.dom.clone(),
                obj: pattern(&rule.obj)?,
                act: rule.act.clone(),
            },
            effect: effect(rule.allow),
        });
    }
    for policy in &workload.policies {
        let tree = policy.conditions.tree();
        sources.entry(policy.resource.clone()).or_default().policies.push(Policy {
            id: uuid::Uuid::from_u128(policy.id),
            name: policy.name.clone(),
            resource: pattern(&policy.resource)?,
            effect: effect(policy.allow),
            priority: policy.priority,
            condition: Condition::parse(&json::parse(tree.as_bytes())?),
        });
    }
    Ok(sources)
}

pub(crate) fn pattern(resource: &str) -> Result<ResourcePattern> {
    ResourcePattern::parse(resource)
        .ok_or_else(|| anyhow!("`{resource}` is not a resource pattern"))
}

fn effect(allow: bool) -> Effect {
    if allow { Effect::Allow } else { Effect::Deny }
}
